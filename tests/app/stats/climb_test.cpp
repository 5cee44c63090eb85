#include "app/stats/climb.hpp"

#include "app/stats/requirement.hpp"
#include "tests/app/stats/results.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"

using namespace std::chrono_literals;
using namespace yodel;

namespace {

// Adds 100 messages of this second, answered after this time; the first `lost` are lost.
void add_second(Climb& climb, ev::Duration planned, ev::Duration round_trip, int lost = 0) {
    Results& second = climb.second_of(planned);
    for (int i = 0; i < 100; ++i) {
        test::add_sent(second, 1, test::start + planned);
        if (i < lost) {
            ++second.lost;
        } else {
            test::add_echo(second, round_trip, test::start + planned + 1s);
        }
    }
}

// The rate climbs from 100 to 500 per second in 4 s. The round trips of each second take 1, 2,
// 9 and 3 ms. In the third second, 10 of 100 replies are lost.
Climb some_climb() {
    Climb climb(100, 500, 4s);
    add_second(climb, 0s, 1ms);
    add_second(climb, 1999ms, 2ms);
    add_second(climb, 2s, 9ms, 10);
    add_second(climb, 3s, 3ms);
    climb.end(4s);
    return climb;
}

Verdict verdict(const Climb& climb, const std::string& clauses) {
    Results whole = test::counted("400 sent,390 echoed,10 lost,4 attempts,4 opened");
    whole.connect_times.record(7ms);
    return Verdict::on(whole, parse_requirements(clauses), &climb);
}

}  // namespace

TEST_CASE("a message belongs to the second of its planned time") {
    struct Row {
        ev::Duration length;
        ev::Duration planned;
        std::size_t second;
    };
    for (const auto& [length, planned, second] : {Row{3s, 0ns, 0},
                                                  {3s, 1s - 1ns, 0},
                                                  {3s, 1s, 1},
                                                  {3s, 3s, 2},
                                                  {3400ms, 3399ms, 2},
                                                  {3500ms, 3s - 1ns, 2},
                                                  {3500ms, 3s, 3},
                                                  {100ms, 99ms, 0},
                                                  {1400ms, 1399ms, 0}}) {
        CAPTURE(length.count(), planned.count());
        Climb climb(1, 2, length);
        climb.second_of(planned);
        CHECK(climb.seconds().size() == second + 1);
    }
}

TEST_CASE("a requirement holds up to the rate at the end of the second before it fails") {
    for (const char* const row : {"p99<5ms => p99<5ms held up to 300/s, then was 9ms",
                                  "p99<2ms => p99<2ms held up to 200/s, then was 2ms",
                                  "lost<5% => lost<5% held up to 300/s, then was 10%",
                                  "lost=0 => lost=0 held up to 300/s, then was 10",
                                  "max>1ms => required max>1ms, was 1ms in the first second",
                                  "connect_p99<5ms => required connect_p99<5ms, was 7ms",
                                  "lateness<1ms => required lateness<1ms, but no message had "
                                  "a planned time"}) {
        INFO(row);
        const auto [clause, failure] = test::halves(row);
        CHECK(join(verdict(some_climb(), clause).lines(), "|") == failure);
    }
    const Verdict all = verdict(some_climb(), "p50<10ms,lost<=10%,connect_p99<8ms,max<1ms");
    CHECK(join(all.held_lines(), "|") ==
          "p50<10ms held up to 500/s|lost<=10% held up to 500/s");
    CHECK(all.held_json()->str() ==
          R"({"p50<10ms":500.000,"lost<=10%":500.000,"max<1ms":0.000})");
}

TEST_CASE("a second without a message neither holds nor fails") {
    Climb climb(1, 2, 3s);
    add_second(climb, 0s, 1ms);
    add_second(climb, 2s, 9ms);
    climb.end(3s);
    CHECK(verdict(climb, "max<5ms").lines().front() ==
          "max<5ms held up to 1.33/s, then was 9ms");
}

TEST_CASE("a climb without any message is judged as a whole") {
    Climb climb(100, 200, 2s);
    ++climb.second_of(0s).unsolicited;
    CHECK(Verdict::on({}, parse_requirements("lost=0"), &climb).lines().front() ==
          "required lost=0, but nothing was sent");
}

TEST_CASE("a second whose replies were all lost fails a requirement about times") {
    Climb climb(100, 200, 2s);
    add_second(climb, 0s, 1ms);
    add_second(climb, 1s, 1ms, 100);
    climb.end(2s);
    CHECK(verdict(climb, "p99<5ms").lines().front() ==
          "p99<5ms held up to 150/s, then no reply was timed");
}

TEST_CASE("a climb that ends early holds up to the rate that it reached") {
    Climb climb(100, 500, 4s);
    add_second(climb, 0s, 1ms);
    add_second(climb, 1s, 1ms);
    climb.end(1500ms);
    CHECK(verdict(climb, "p99<5ms").held_lines().front() == "p99<5ms held up to 250/s");
}

TEST_CASE("the climb of a run is the sum over its threads, second for second") {
    Climb sum(100, 500, 4s);
    sum.end(1s);
    sum.add(some_climb());
    sum.add(some_climb());
    CHECK(sum.seconds().size() == 4);
    CHECK(sum.seconds()[2].lost == 20);
    CHECK(sum.rate_after(3) == 500);
    CHECK(verdict(some_climb(), "lost<0.1").held_json()->str() ==
          verdict(sum, "lost<0.1").held_json()->str());
}
