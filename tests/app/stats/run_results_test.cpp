#include "app/stats/requirement.hpp"
#include "tests/app/stats/results.hpp"
#include "tests/support/table.hpp"

using namespace std::chrono_literals;
using namespace yodel;

namespace {

RunResults climbing(double from, double to, ev::Duration length) {
    RunResults results;
    results.warm_up_ends_at = test::start;
    results.climb = RunResults::Climb{from, to, length};
    return results;
}

// Adds 100 messages of this step, answered after this time; the first `lost` are lost.
void add_step(RunResults& results, ev::Duration planned, ev::Duration round_trip,
              int lost = 0) {
    Event event;
    event.message.planned_at = test::start + planned;
    event.reply.is_right = true;
    event.reply.round_trip = round_trip;
    for (int i = 0; i < 100; ++i) {
        event.fate = Fate::sent;
        event.at = event.message.planned_at;
        results.add(event);
        event.fate = i < lost ? Fate::lost : Fate::echoed;
        event.at += 1s;
        results.add(event);
    }
}

// The rate climbs from 100 to 500 per second in 4 s. The round trips of each second take 1, 2,
// 9 and 3 ms. In the third second, 10 of 100 replies are lost.
RunResults some_climb() {
    RunResults results = climbing(100, 500, 4s);
    add_step(results, 0s, 1ms);
    add_step(results, 1999ms, 2ms);
    add_step(results, 2s, 9ms, 10);
    add_step(results, 3s, 3ms);
    results.climb->end = 4s;
    results.attempts = results.opened = 4;
    results.connect_times.record(7ms);
    return results;
}

// Returns the sentence about a requirement, or an empty text if it holds for all results.
std::string judged(const RunResults& results, const std::string& clause) {
    const Requirement::Verdict judged = Requirement(clause).judge(results);
    return judged.failure.empty() && judged.held_rate ? judged.held_text() : judged.failure;
}

}  // namespace

TEST_CASE("a message belongs to the warm-up or to the step of its planned time") {
    // The length of the climb, the planned time, and the number of steps.
    const std::tuple<ev::Duration, ev::Duration, std::size_t> rows[] = {
        {3s, -1ns, 0},
        {3s, 0ns, 1},
        {3s, 1s - 1ns, 1},
        {3s, 1s, 2},
        {3s, 3s, 3},
        {3400ms, 3399ms, 3},
        {3500ms, 3s - 1ns, 3},
        {3500ms, 3s, 4},
        {100ms, 99ms, 1},
        {1400ms, 1399ms, 1},
        {10min, 10min - 1ns, 600},
        {10min + 1s, 10min, 301},
        {24h, 24h - 1ns, 600}};
    for (const auto& [length, planned, steps] : rows) {
        CAPTURE(length.count(), planned.count());
        RunResults results = climbing(1, 2, length);
        Event event{.fate = Fate::sent};
        event.message.planned_at = test::start + planned;
        results.add(event);
        CHECK(results.steps.size() == steps);
        CHECK(results.sent == (steps > 0 ? 1 : 0));
        CHECK(results.warm_up.sent == (steps > 0 ? 0 : 1));
        if (steps > 0) CHECK(results.steps.back().sent == 1);
    }
}

TEST_CASE("a warm-up counts messages only, and corrects its losses") {
    RunResults results;
    Event event{.fate = Fate::sent, .at = test::start, .count = 3};
    results.add(event);
    event = {.fate = Fate::lost, .at = test::start};
    results.add(event);
    event.fate = Fate::late;
    event.message.is_late = event.reply.is_right = true;
    results.add(event);
    results.add(Event{.fate = Fate::unsolicited, .at = test::start});
    results.change_at(test::start, [](Results& to) { to.unsent += 4; });
    results.add(RunResults(results));
    CHECK(test::listed(results, results.warm_up) ==
          "2 unsolicited, 6 warm-up sent, 2 warm-up echoed, "
          "2 warm-up late, 8 warm-up unsent");
    CHECK_FALSE(results.first_sent_at);
    CHECK((results.last_answered_at == ev::Time{}));
}

TEST_CASE("a requirement holds up to the rate at the end of the second before it fails") {
    test::check_table(R"(p99<5ms => p99<5ms held up to 300/s, then was 9ms
p99<2ms => p99<2ms held up to 200/s, then was 2ms
lost<5% => lost<5% held up to 300/s, then was 10%
lost=0 => lost=0 held up to 300/s, then was 10
max>1ms => required max>1ms, was 1ms in the first step of the climb
connect_p99<5ms => required connect_p99<5ms, was 7ms
p50<10ms => p50<10ms held up to 500/s
lost<=10% => lost<=10% held up to 500/s
connect_p99<8ms =>
lateness<1ms => required lateness<1ms, but no message had a planned time
)",
                      [](const std::string& clause) { return judged(some_climb(), clause); });
}

TEST_CASE("a climb is judged by the seconds with messages, up to its end") {
    struct Row {
        std::vector<std::pair<ev::Duration, int>> steps;  // each round trip, and lost replies
        ev::Duration ended;
        const char* sentence;
    };
    const Row rows[] = {
        {{{1ms, 0}, {}, {9ms, 0}}, 4s, "p99<5ms held up to 200/s, then was 9ms"},
        {{{1ms, 0}, {1ms, 100}}, 4s, "p99<5ms held up to 200/s, then no reply was timed"},
        {{{1ms, 0}, {1ms, 0}}, 1500ms, "p99<5ms held up to 250/s"},
        {{}, 4s, "required p99<5ms, but no reply was timed"}};
    for (const Row& row : rows) {
        RunResults climb = climbing(100, 500, 4s);
        climb.add(Event{.fate = Fate::unsolicited, .at = test::start});
        for (std::size_t i = 0; i < row.steps.size(); ++i)
            if (const auto& [round_trip, lost] = row.steps[i]; round_trip > 0ms)
                add_step(climb, i * 1s, round_trip, lost);
        climb.climb->end = row.ended;
        CHECK(climb.steps.front().unsolicited == 1);
        CHECK(judged(climb, "p99<5ms") == row.sentence);
    }
}

TEST_CASE("the climb of a run is the sum over its threads, step for step") {
    RunResults sum;
    sum.add(some_climb());
    sum.add(some_climb());
    CHECK(sum.steps.size() == 4);
    CHECK(sum.steps[2].lost == 20);
    CHECK(sum.rate_after(3) == 500);
    CHECK(judged(sum, "lost<0.1") == "lost<0.1 held up to 300/s, then was 20");
}

TEST_CASE("the recent times are those since they were taken last") {
    RunResults results;
    Histogram seen;
    for (const std::uint64_t count : {2U, 0U, 3U}) {
        results.round_trips.record(1ms, count);
        CHECK(recent_times(results, seen).count() == count);
    }
}
