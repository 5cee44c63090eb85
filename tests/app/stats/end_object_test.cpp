#include "app/stats/outcome.hpp"

#include "tests/app/stats/results.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"

using namespace std::chrono_literals;
using namespace yodel;
using test::contains;
using test::start;

namespace {

std::string end_of(const RunResults& results) {
    return Outcome{.results = results}.json().str();
}

// Returns the end object of a small result.
std::string small_end() {
    RunResults result = test::counted("2 sent");
    result.clock_offset = 1795431845s + 250us - start.time_since_epoch();
    test::add_echo(result, 5us, start + 1s);
    test::add_echo(result, 7us, start + 1s);
    return end_of(result);
}

}  // namespace

TEST_CASE("writes every figure of the run") {
    CHECK(small_end() ==
          R"({"type":"end","reason":"closed","status":0,"sent":2,"echoed":2,"bad":0,"lost":0,)"
          R"("late":0,"unsent":0,"unsolicited":0,"duplicates":0,"rate":2.000,)"
          R"("began":"2026-11-23T11:04:05.000250Z","ended":"2026-11-23T11:04:06.000250Z",)"
          R"("duration_us":1000000.000,"rtt_us":{"min":5.000,)"
          R"("mean":6.000,"p50":5.023,"p90":7.000,"p95":7.000,"p99":7.000,"p99.9":7.000,)"
          R"("p99.99":7.000,"max":7.000,"sum":12.000},"histogram":[[5.023,1],[7.007,1]],)"
          R"("connections":{"attempts":0,"opened":0,"failed":0},"errors":[]})");
    const RunResults none;
    const Outcome judged{.results = none,
                         .verdicts = judge(none, parse_requirements("sent=0,sent>0,p50<1s"))};
    CHECK(judged.json().str().ends_with(
        R"(,"required":[{"clause":"sent=0","was":"0","holds":true},)"
        R"({"clause":"sent>0","was":"0","holds":false},{"clause":"p50<1s","holds":false}]})"));
    const Outcome climbed{
        .results = none,
        .verdicts = {
            {.clause = "a", .figure = {}, .measured = "1", .failure = {}, .held_rate = 5},
            {.clause = "b",
             .figure = {},
             .measured = "2",
             .failure = "was 2",
             .held_rate = 0}}};
    CHECK(climbed.json().str().ends_with(R"(}],"held":{"a":5.000,"b":0.000}})"));
    CHECK(climbed.lines().at(1) == "a held up to 5/s");
    CHECK(climbed.lines().at(2) == "was 2");
    RunResults open;
    open.open = 2;
    Histogram recent;
    const std::string interval =
        R"({"type":"interval","t":7,"open":2,"sent":0,"echoed":0,)"
        R"("bad":0,"lost":0,"late":0,"unsent":0,"unsolicited":0,"duplicates":0)";
    CHECK(interval_object(open, 7, recent).str() == interval + "}");
    recent.record(5us, 199);
    recent.record(9us);
    CHECK(interval_object(open, 7, recent).str() ==
          interval +
              R"(,"rtt_us":{"p50":5.023,"p99":5.023},"histogram":[[5.023,199],[9.023,1]]})");
}

TEST_CASE("writes each kind of result") {
    struct Row {
        const char* results;
        const char* part;     // in the end object
        const char* missing;  // not in the end object
    };
    const Row rows[] = {
        {"1 sent,1 lost", "\"began\"", "\"ended\""},
        {"1 sent,1 echoed,answered 0s", "\"ended\"", "jitter"},
        {"1 attempts,refused", R"([{"text":"refused","status":7,"count":1,"failed":1}])",
         "probe"},
        {"network 1us", R"("tcp":{"min_rtt_us":1.000,"retransmits":0,"mss":5,"cwnd":0}})",
         "probe"},
        {"1 sent,1 echoed,2 duplicates,datagrams,jitter 40000",
         R"("duplicates":2,"reordered":0,"jitter_us":40.000)", "handshakes"},
        {"1 attempts,1 handshakes_resumed,handshake 2ms,probe",
         R"("status":0,"probe":true,"sent":0,)", "\"rtt_us\""},
        {"1 attempts,1 handshakes_resumed,probe", R"("handshakes_resumed":1)", "min_rtt"},
        {"5 sent,4 echoed,1 bad,replay,3 recurred,2 unrecorded,1 missing",
         R"("replay":{"replayed":5,"matched":4,"bad":1,"lost":0,"unsolicited_matched":3,)"
         R"("missing":1,"unrecorded":2})",
         "probe"},
        {"500 sent,5 unsent,planned 250,reached 240",
         R"("planned":505,"planned_rate":250.000,"reached_rate":240.000,)", "probe"},
        {"late start 4us", R"("late_start_us":4.000)", "planned"},
        {"9 warm-up sent,4 warm-up echoed,1 warm-up lost",
         R"("warm_up":{"sent":9,"echoed":4,"bad":0,"lost":1,"unsent":0})", "replay"},
    };
    for (const auto& [results, part, missing] : rows) {
        const std::string text = end_of(test::counted(results));
        CAPTURE(text);
        CHECK(contains(text, part));
        CHECK_FALSE(contains(text, missing));
    }
    CHECK_FALSE(contains(end_of({}), "\"began\""));
}
