#include "app/stats/summary.hpp"

#include "tests/app/stats/results.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"

using namespace std::chrono_literals;
using namespace yodel;

namespace {

using test::counted;
constexpr ev::Time start = test::start;

}  // namespace

TEST_CASE("prints counts, and times if there are any") {
    Results results = counted(3, 0);
    CHECK(summary(results) == "3 sent, 0 echoed, 0 bad, 0 lost");
    results.echoed = 2;
    results.bad = 1;
    results.late = 2;
    results.unsent = 5;
    results.unsolicited = 4;
    results.duplicates = 3;
    CHECK(summary(results) == "3 sent, 2 echoed, 1 bad, 0 lost, 2 late, 5 unsent, "
                              "4 unsolicited, 3 duplicate");
    CHECK(summary(counted(0, 0), {.load = true}) == "0 sent, 0 echoed, 0 bad, 0 lost");
}

TEST_CASE("prints one time for one message, and percentiles for more") {
    Results results = counted(1, 0);
    results.count_answered({.round_trip = 2ms}, start);
    CHECK(summary(results) == "1 sent, 1 echoed, 0 bad, 0 lost; rtt 2.0 ms");
    results.count_sent(1, start);
    results.count_answered({.round_trip = 2ms}, start);
    CHECK(summary(results) ==
          "2 sent, 2 echoed, 0 bad, 0 lost; rtt min/p50/p95/p99/max 2.0/2.0/2.0/2.0/2.0 ms");
}

TEST_CASE("a missed start is printed") {
    Results results = counted(1, 1);
    results.late_start = 0s;
    CHECK(summary(results) == "1 sent, 1 echoed, 0 bad, 0 lost");
    results.late_start = 350ms;
    CHECK(summary(results) == "1 sent, 1 echoed, 0 bad, 0 lost; began 350 ms after --start-at");
}

TEST_CASE("prints the rate of a load after its counts") {
    Results results = counted(443'586, 0);
    results.count_echoed(443'586, std::nullopt, start + 2s);
    CHECK(summary(results, {.load = true}) ==
          "443586 sent, 443586 echoed, 0 bad, 0 lost, 222k/s");
    CHECK(summary(results) == "443586 sent, 443586 echoed, 0 bad, 0 lost");
}

TEST_CASE("prints a reply that need not be an echo as answered") {
    CHECK(summary(counted(20, 20), {.answered = true}) ==
          "20 sent, 20 answered, 0 bad, 0 lost");
    CHECK(progress_text(counted(20, 19), {.answered = true}) ==
          "20 sent, 19 answered, 0 bad, 0 lost");
}

TEST_CASE("uses its own words for the counts of a replay") {
    Results results = counted(120, 118, 1, 1);
    results.replay = {.recurred = 2, .unrecorded = 4, .missing = 3};
    CHECK(summary(results) ==
          "120 replayed, 118 matched, 1 different, 1 lost, 2 unsolicited matched, "
          "3 unsolicited missing, 4 unsolicited not recorded");
}

TEST_CASE("prints the order and the jitter of datagrams, even during the run") {
    Results results = counted(3, 0);
    CHECK(progress_text(results) == "3 sent, 0 echoed, 0 bad, 0 lost");
    results.count_answered({.round_trip = 2ms}, start);
    CHECK(progress_text(results) == "3 sent, 1 echoed, 0 bad, 0 lost, p50 2.0 ms");
    results.count_answered({.round_trip = 2ms}, start);
    results.datagrams = true;
    ++results.duplicates;
    CHECK(progress_text(results) ==
          "3 sent, 2 echoed, 0 bad, 0 lost, 1 duplicate, 0 reordered, "
          "p50 2.0 ms, jitter 0.00 ms");
    CHECK(summary(results).ends_with("; jitter 0.00 ms"));
}

TEST_CASE("remarks the client's lateness if it exceeds a tenth of the round trips") {
    const auto [late, round_trip, remark] =
        GENERATE(table<ev::Duration, ev::Duration, std::string>(
            {{40us, 400us, ""},
             {41us, 400us, "; late p50/p99 0.04/0.04 ms"},
             {0us, 0us, ""},
             {2ms, 5ms, "; late p50/p99 2.0/2.0 ms"}}));
    Results results;
    results.record_lateness(late);
    CHECK(own_fault_remarks(results).empty() == (late == 0us));  // even without a reply
    results.round_trips.record(round_trip);
    CHECK(own_fault_remarks(results) == remark);
    CHECK(own_fault_remarks({}).empty());
}

TEST_CASE("remarks a rate that the client has missed, with the reached rate") {
    struct Row {
        PlannedRate rate;
        std::uint64_t sent;
        std::uint64_t unsent;
        const char* remark;
    };
    const Row row =
        GENERATE(Row{{1000, 1000}, 10'000, 0, ""}, Row{{1000, 1001}, 10'000, 0, ""},
                 Row{{1000, 960}, 10'000, 0, ""},
                 Row{{1000, 940}, 10'000, 0, "; planned 1k/s, reached 940/s"},
                 // 49 ms and 51 ms late.
                 Row{{1000, 100.0 / 0.149}, 100, 0, ""},
                 Row{{1000, 100.0 / 0.151}, 100, 0, "; planned 1k/s, reached 662/s"},
                 Row{{10e6, 287e3}, 573'655, 19'426'345, "; planned 10M/s, reached 287k/s"},
                 Row{{1000, 1000}, 10'000, 1, "; planned 1k/s, reached 1k/s"},
                 Row{{1000, 0}, 0, 10, "; planned 1k/s, reached 0/s"});
    Results results = counted(row.sent, 0);
    results.count_unsent(row.unsent);
    results.add_planned_rate(row.rate);
    CHECK(own_fault_remarks(results) == row.remark);
}

TEST_CASE("prints the network's share of the median if it is a tenth or more") {
    const auto [network, remark] = GENERATE(table<ev::Duration, std::string>(
        {{519us, ""}, {520us, "; p50 5.2ms = network >=0.52 + service <=4.7"}}));
    Results results = counted(1, 0);
    results.add_tcp({.min_rtt = network});
    CHECK(summary(results) == "1 sent, 0 echoed, 0 bad, 0 lost");
    results.count_answered({.round_trip = 5200us}, start);
    CHECK(summary(results) == "1 sent, 1 echoed, 0 bad, 0 lost; rtt 5.2 ms" + remark);
}

TEST_CASE("reports failed attempts to connect, and with -v the times of the others") {
    Results results = counted(0, 0);
    for (int i = 0; i < 3; ++i) results.count_try();
    results.count_opened(1ms, 2ms);
    results.count_failure("refused", 7, false, 2);
    CHECK(summary(results, {.load = true, .verbose = true}) ==
          "0 sent, 0 echoed, 0 bad, 0 lost; 2 of 3 attempts to connect failed; "
          "connect p50/p99/max 1.0/1.0/1.0 ms, handshake 2.0/2.0/2.0 ms, 1 full, 0 resumed");
    CHECK(summary(results) == "0 sent, 0 echoed, 0 bad, 0 lost");
}

TEST_CASE("summarises a probe by its connections") {
    Results results;
    results.probe = true;
    CHECK(summary(results) == "0 connections opened, 0 failed");
    results.first_sent = start;
    results.last_answered = start + 1s;
    results.count_opened(1ms, std::nullopt);
    CHECK(summary(results, {.load = true}) ==
          "1 connection opened, 0 failed, 1/s; connect p50/p99/max 1.0/1.0/1.0 ms");
    CHECK(progress_text(results) == "1 connection opened, 0 failed, connect p50 1.0 ms");
    results.count_opened(1ms, 2ms);
    results.count_opened(1ms, 2ms, true);
    results.count_failure("refused", 7, false, 2);
    CHECK(summary(results, {.load = true}) ==
          "3 connections opened, 2 failed, 3/s; connect p50/p99/max 1.0/1.0/1.0 ms, handshake "
          "2.0/2.0/2.0 ms, 1 full, 1 resumed");
    CHECK(progress_text(results) == "3 connections opened, 2 failed, handshake p50 2.0 ms");
}
