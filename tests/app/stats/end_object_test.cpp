#include "app/stats/outcome.hpp"

#include "tests/app/stats/results.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"

using namespace std::chrono_literals;
using namespace yodel;
using test::contains;
using test::start;

namespace {

// Returns results with all members that an end object contains.
RunResults full_result(std::uint64_t seed) {
    RunResults result = test::spread(seed, 500);
    result.late = 3;
    result.unsolicited = 2;
    result.duplicates = 1;
    result.unsent += 5;
    result.planned_rate = 250;
    result.reached_rate = 240;
    result.count_failure("connect to db.example: \"refused\"", 7, false, 2);
    result.count_end(7, false);
    result.lateness.record(3us, 5);
    const ev::Duration connect_time = 40us * static_cast<int>(seed);
    result.count_opened(connect_time, 3 * connect_time);
    result.is_replay = true;
    result.as_recorded = 1;
    result.missing = seed;
    result.late_start = 4us * static_cast<int>(seed);
    result.warm_up = test::counted("9 sent,4 echoed,2 bad,1 lost,1 unsent");
    result.add_tcp({.min_rtt = connect_time / 2, .retransmits = seed, .mss = 1448, .cwnd = 10});
    return result;
}

std::string end_of(const RunResults& results) {
    return Outcome{.results = results}.json().str();
}

// Returns the end object of a small result.
std::string small_end() {
    RunResults result = test::counted("2 sent");
    result.utc_offset = 1795431845s + 250us - start.time_since_epoch();
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
                         .required = judge(none, parse_requirements("sent=0,sent>0,p50<1s"))};
    CHECK(judged.json().str().ends_with(
        R"(,"required":[{"clause":"sent=0","was":"0","holds":true},)"
        R"({"clause":"sent>0","was":"0","holds":false},{"clause":"p50<1s","holds":false}]})"));
    const Outcome climbed{
        .results = none,
        .required = {
            {.clause = "a", .figure = {}, .measured = "1", .failure = {}, .held = 5},
            {.clause = "b", .figure = {}, .measured = "2", .failure = "was 2", .held = 0}}};
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
        const char* counts;
        void (*set)(RunResults& results);
        const char* part;     // in the end object
        const char* missing;  // not in the end object
    };
    const Row rows[] = {
        {"", [](RunResults& results) { results = RunResults(); }, "\"errors\":[]", "\"began\""},
        {"1 sent,1 lost", [](RunResults&) {}, "\"began\"", "\"ended\""},
        {"1 sent,1 echoed", [](RunResults& results) { results.last_answered = start; },
         "\"ended\"", "jitter"},
        {"1 attempts", [](RunResults& results) { results.count_failure("refused", 7, false); },
         R"("errors":[{"text":"refused","status":7,"count":1,"failed":1}])", "probe"},
        {"1 attempts", [](RunResults& results) { results.add_tcp({.min_rtt = {}, .mss = 5}); },
         R"("tcp":{"retransmits":0,"mss":5,"cwnd":0}})", "min_rtt"},
        {"1 sent,1 echoed,2 duplicates",
         [](RunResults& results) {
             results.over_datagrams = true;
             results.jitters = {{.mean = 40'000, .transits = 1}};
         },
         R"("duplicates":2,"reordered":0,"jitter_us":40.000)", "handshakes"},
        {"0 sent,1 attempts",
         [](RunResults& results) {
             results.probe = true;
             results.count_opened(1ms, 2ms, true);
         },
         R"("status":0,"probe":true,"sent":0,)", "\"rtt_us\""},
        {"5 sent,4 echoed,1 bad",
         [](RunResults& results) {
             results.is_replay = true;
             results.as_recorded = 3;
             results.unrecorded = 2;
             results.missing = 1;
         },
         R"("replay":{"replayed":5,"matched":4,"bad":1,"lost":0,"unsolicited_matched":3,)"
         R"("missing":1,"unrecorded":2})",
         "probe"},
        {"", [](RunResults& results) { results = full_result(1); },
         R"("planned":505,"planned_rate":250.000,"reached_rate":240.000,)", "probe"},
    };
    for (const auto& [counts, set, part, missing] : rows) {
        RunResults results = *counts == '\0' ? RunResults() : test::counted(counts);
        set(results);
        const std::string text = end_of(results);
        CAPTURE(text);
        CHECK(contains(text, part));
        CHECK_FALSE(contains(text, missing));
    }
}
