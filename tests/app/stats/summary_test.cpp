#include "app/stats/outcome.hpp"

#include "tests/app/stats/results.hpp"
#include "tests/support/catch.hpp"

using namespace std::chrono_literals;
using namespace yodel;
using test::counted;
using test::start;

TEST_CASE("prints four counts, and the others if there are any") {
    struct Row {
        const char* counts;
        SummaryParts words;
        const char* text;
    };
    const Row rows[] = {
        {"3 sent", {}, "3 sent, 0 echoed, 0 bad, 0 lost"},
        {"3 sent,2 echoed,1 bad,2 late,5 unsent,4 unsolicited,3 duplicates",
         {},
         "3 sent, 2 echoed, 1 bad, 0 lost, 2 late, 5 unsent, 4 unsolicited, 3 duplicate"},
        {"0 sent", {.load = true}, "0 sent, 0 echoed, 0 bad, 0 lost"},
        {"20 sent,20 echoed", {.expects_any = true}, "20 sent, 20 answered, 0 bad, 0 lost"},
        {"1 sent,1 echoed,9 warm-up sent,8 warm-up echoed,1 warm-up unsent",
         {},
         "1 sent, 1 echoed, 0 bad, 0 lost; warm-up: 9 sent, 8 echoed, 0 bad, 0 lost, 1 unsent"},
        {"0 sent,3 attempts,2 failed", {}, "0 sent, 0 echoed, 0 bad, 0 lost"},
        {"0 sent,3 attempts,2 failed",
         {.load = true},
         "0 sent, 0 echoed, 0 bad, 0 lost; 2 of 3 attempts to connect failed"},
        {"0 sent,3 attempts", {.load = true}, "0 sent, 0 echoed, 0 bad, 0 lost"},
    };
    for (const Row& row : rows) CHECK(summary(counted(row.counts), row.words) == row.text);
}

TEST_CASE("prints one time for one message, and percentiles from 20 on") {
    RunResults results = counted("2 sent");
    test::add_echo(results, 2ms);
    CHECK(summary(results) == "2 sent, 1 echoed, 0 bad, 0 lost; rtt 2.0 ms");
    CHECK(progress_text(results) == "2 sent, 1 echoed, 0 bad, 0 lost, p50 2.0 ms");
    test::add_echo(results, 1ms);
    CHECK(summary(results) == "2 sent, 2 echoed, 0 bad, 0 lost; rtt min/max 1.0/2.0 ms");
    for (int i = 0; i < 17; ++i) test::add_echo(results, 1ms);
    CHECK(summary(results).ends_with("; rtt min/max 1.0/2.0 ms"));
    test::add_echo(results, 1ms);
    CHECK(summary(results).ends_with("; rtt min/p50/p95/p99/max 1.0/1.0/1.0/2.0/2.0 ms"));
}

TEST_CASE("prints the percentiles that it names") {
    RunResults results = counted("100 sent");
    for (int i = 1; i <= 100; ++i) {
        test::add_echo(results, i * 1ms);
        results.count_opened(i * 1ms, i * 1ms, false, false);
    }
    CHECK(summary(results, {.load = true, .verbose = true}) ==
          "100 sent, 100 echoed, 0 bad, 0 lost; rtt min/p50/p95/p99/max 1.0/50/95/99/100 ms; "
          "connect p50/p99/max 50/99/100 ms, handshake 50/99/100 ms");
}

TEST_CASE("prints the rate of a load after its counts, and a missed start") {
    RunResults results = counted("443586 sent,443586 echoed");
    const std::string counts = "443586 sent, 443586 echoed, 0 bad, 0 lost";
    results.last_answered = start + 2s;
    CHECK(summary(results, {.load = true}) == counts + ", 222k/s");
    results.late_start = 0s;
    CHECK(summary(results) == counts);
    results.late_start = 350ms;
    CHECK(summary(results) == counts + "; began 350 ms after --start-at");
}

TEST_CASE("uses its own words for the counts of a replay") {
    RunResults results = counted("120 sent,118 echoed,1 bad,1 lost,6 unsolicited");
    results.is_replay = true;
    results.as_recorded = 2;
    results.unrecorded = 4;
    results.missing = 3;
    CHECK(summary(results) ==
          "120 replayed, 118 matched, 1 bad, 1 lost, 2 unsolicited matched, "
          "3 unsolicited missing, 4 unsolicited not recorded");
}

TEST_CASE("prints the order and the jitter of datagrams, even during the run") {
    RunResults results = counted("3 sent,1 duplicates");
    for (int i = 0; i < 2; ++i) test::add_echo(results, 2ms);
    results.over_datagrams = true;
    CHECK(progress_text(results) ==
          "3 sent, 2 echoed, 0 bad, 0 lost, 1 duplicate, 0 reordered, "
          "p50 2.0 ms, jitter 0.00 ms");
    CHECK(summary(results).ends_with("; jitter 0.00 ms"));
}

TEST_CASE("remarks the client's lateness if it exceeds a tenth of the round trips") {
    struct Row {
        ev::Duration late;
        ev::Duration round_trip;
        const char* remark;
    };
    const Row rows[] = {{40us, 400us, ""},
                        {41us, 400us, "; late p50/p99 0.04/0.04 ms"},
                        {0us, 0us, ""},
                        {2ms, 5ms, "; late p50/p99 2.0/2.0 ms"}};
    for (const Row& row : rows) {
        RunResults results = counted("1 sent");
        results.lateness.record(row.late);
        const bool remarked = summary(results).find("; late") != std::string::npos;
        CHECK(remarked == (row.late > 0us));  // even without a reply
        results.round_trips.record(row.round_trip);
        CHECK(summary(results).ends_with(" ms" + std::string(row.remark)));
    }
}

TEST_CASE("remarks a rate that the client has missed, with the reached rate") {
    struct Row {
        double planned;
        double reached;
        const char* counts;
        const char* remark;
    };
    const Row rows[] = {
        {1000, 1000, "10000 sent", ""},
        {1000, 1001, "10000 sent", ""},
        {1000, 960, "10000 sent", ""},
        {1000, 940, "10000 sent", "; planned 1k/s, reached 940/s"},
        {1000, 100 / 0.149, "100 sent", ""},  // 49 ms late
        {1000, 100 / 0.151, "100 sent", "; planned 1k/s, reached 662/s"},
        {10e6, 287e3, "573655 sent,19426345 unsent", "; planned 10M/s, reached 287k/s"},
        {1000, 1000, "10000 sent,1 unsent", "; planned 1k/s, reached 1k/s"},
        {1000, 0, "10 unsent", "; planned 1k/s, reached 0/s"}};
    for (const Row& row : rows) {
        RunResults results = counted(row.counts);
        results.planned_rate = row.planned;
        results.reached_rate = row.reached;
        const std::string text = summary(results);
        CHECK(text.substr(std::min(text.find(';'), text.size())) == row.remark);
    }
}

TEST_CASE("prints the network's share of the median with -v if it is a tenth or more") {
    RunResults results = counted("1 sent");
    results.add_tcp({.min_rtt = 520us});
    CHECK(summary(results) == "1 sent, 0 echoed, 0 bad, 0 lost");
    test::add_echo(results, 5200us);
    const std::string text = "1 sent, 1 echoed, 0 bad, 0 lost; rtt 5.2 ms";
    CHECK(summary(results) == text);
    CHECK(summary(results, {.verbose = true}) ==
          text + "; p50 5.20ms = network >=0.52 + service <=4.68");
    for (const std::optional<ev::Duration> min_rtt : {std::optional<ev::Duration>(519us), {}}) {
        results.tcp->min_rtt = min_rtt;
        CHECK(summary(results, {.verbose = true}) == text);
    }
}

TEST_CASE("prints the times of connections with -v, and always for a probe") {
    RunResults results = counted("0 sent");
    const std::string counts = "0 sent, 0 echoed, 0 bad, 0 lost";
    CHECK(summary(results, {.load = true, .verbose = true}) == counts);
    results.count_opened(1ms, std::nullopt);
    const std::string connects = "; connect p50/p99/max 1.0/1.0/1.0 ms";
    CHECK(summary(results, {.load = true, .verbose = true}) == counts + connects);
    CHECK(summary(results) == counts);
    results.count_opened(1ms, 2ms, false, false);
    const std::string handshakes = ", handshake 2.0/2.0/2.0 ms";
    CHECK(summary(results, {.load = true, .verbose = true}) == counts + connects + handshakes);
    results.probe = true;
    results.last_answered = start + 1s;
    CHECK(summary(results, {.load = true}) ==
          "2 connections opened, 0 failed, 2/s" + connects + handshakes);
    results.count_opened(1ms, 2ms);
    results.count_opened(1ms, 2ms, true);
    results.failed = 2;
    CHECK(summary(results, {.load = true}) == "4 connections opened, 2 failed, 4/s" + connects +
                                                  handshakes + ", 1 full, 1 resumed");
    CHECK(progress_text(results) == "4 connections opened, 2 failed, handshake p50 2.0 ms");
    results.handshake_times = {};
    CHECK(progress_text(results) == "4 connections opened, 2 failed, connect p50 1.0 ms");
}
