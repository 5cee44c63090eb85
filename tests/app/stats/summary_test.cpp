#include "app/stats/summary.hpp"

#include "app/stats/tally.hpp"
#include "app/text/exit_status.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"

using namespace std::chrono_literals;
using namespace yodel;

namespace {

constexpr ev::Time start{1h};

Results counted(std::uint64_t sent, std::uint64_t echoed, std::uint64_t bad = 0,
                std::uint64_t lost = 0) {
    Results results;
    results.count_sent(sent, start);
    results.echoed = echoed;
    results.bad = bad;
    results.lost = lost;
    return results;
}

Verdict verdict_on(const Results& results, const std::string& requirements) {
    return Verdict::on(results, parse_requirements(requirements));
}

std::vector<std::string> words_about(const Results& results, const Ending& ending = {},
                                     const Words& words = {}) {
    return last_words(results, {}, ending, words);
}

using Lines = std::vector<std::string>;

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
                              "4 unsolicited, 3 twice");
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

TEST_CASE("a warm-up is printed, and its faults fail the run unless they are tolerated") {
    Results results = counted(1, 1);
    results.warm_up = {.sent = 9, .echoed = 9};
    CHECK(summary(results) == "1 sent, 1 echoed, 0 bad, 0 lost; warm-up: 9 sent, 9 echoed, "
                              "0 bad, 0 lost");
    CHECK(exit_status(results, {}) == 0);
    const auto [count, tolerance] = GENERATE(table<std::uint64_t Counts::*, const char*>(
        {{&Counts::bad, "bad<1"}, {&Counts::lost, "lost<1"}, {&Counts::unsent, "unsent<1"}}));
    results.warm_up.*count = 1;
    results.lost_sentence = "no reply";
    results.unsent_sentence = "not sent";
    CHECK(exit_status(results, {}) == 1);
    CHECK(exit_status(results, verdict_on(results, tolerance)) == 0);
    const Lines words = words_about(results);
    CHECK(words.front() == (count == &Counts::lost     ? "no reply"
                            : count == &Counts::unsent ? "not sent"
                                                       : summary(results)));
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
          "120 said again, 118 as before, 1 different, 1 lost, 2 unsolicited as before, "
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
    CHECK(progress_text(results) == "3 sent, 2 echoed, 0 bad, 0 lost, 1 twice, 0 out of order, "
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

TEST_CASE("returns status 1 for any wrong or lost reply and any unsent message") {
    CHECK(exit_status(counted(5, 5), {}) == success);
    CHECK(exit_status(counted(5, 4, 1), {}) == reply_wrong_or_lost);
    CHECK(exit_status(counted(5, 4, 0, 1), {}) == reply_wrong_or_lost);
    Results results = counted(5, 5);
    results.unsolicited = 1;
    CHECK(exit_status(results, {}) == success);
    results.count_unsent();
    CHECK(exit_status(results, {}) == reply_wrong_or_lost);
}

TEST_CASE("counts a duplicate of a reply as a fault, except with datagrams") {
    Results results = counted(5, 5);
    ++results.duplicates;
    CHECK(exit_status(results, {}) == reply_wrong_or_lost);
    results.datagrams = true;
    CHECK(exit_status(results, {}) == success);
}

TEST_CASE("counts an unsolicited message as a fault if it is stale, unless that is tolerated") {
    Results results = counted(5, 5);
    results.unsolicited = 1;
    CHECK(exit_status(results, {}) == success);
    results.stale = 1;
    CHECK(exit_status(results, {}) == reply_wrong_or_lost);
    CHECK(exit_status(results, verdict_on(results, "unsolicited<2")) == success);
    Results sum = counted(5, 5);
    sum.add(results);
    CHECK(exit_status(sum, {}) == reply_wrong_or_lost);
}

TEST_CASE("counts missing and additional messages of a replay as faults") {
    Results results = counted(5, 5);
    results.replay = Results::Replay{};
    CHECK(exit_status(results, {}) == success);
    Tally tally(results);
    tally.add(Fate::recurred, {}, {});
    CHECK(exit_status(results, {}) == success);
    const bool missing = GENERATE(true, false);
    if (missing) tally.add(Fate::missing, {}, {});
    if (!missing) tally.add(Fate::unrecorded, {}, {});
    CHECK(exit_status(results, {}) == reply_wrong_or_lost);
}

TEST_CASE("lets a requirement on a figure replace the rule that it must be 0") {
    Results results = counted(10'000, 9990, 2, 6);
    results.unsent = 1;
    results.attempts = 10;
    results.count_failure("refused", 7, false);
    results.count_end(7, false);
    const auto [requirements, status] =
        GENERATE(table<std::string, int>({{"lost<1%", 7},
                                          {"lost<1%,failed<20%", 1},
                                          {"lost<1%,failed<20%,bad<1%,unsent<1%", 0},
                                          {"lost<1%,failed<20%,bad<1%,unsent<=1", 0},
                                          {"lost<1%,failed<20%,bad<1%,unsent<1%,lost<5", 1},
                                          {"lost<1%,failed<20%,bad<1%,unsent<1%,rate>10", 1},
                                          {"lost<1%,failed<5%,bad<1%,unsent<1%", 7},
                                          {"echoed>99%", 7}}));
    CAPTURE(requirements);
    CHECK(exit_status(results, verdict_on(results, requirements)) == status);
}

TEST_CASE("prefers the most specific status: signal, connection, trouble, replies") {
    Results results = counted(5, 4, 1);
    Ending ending;
    CHECK(exit_status(results, {}, ending) == 1);
    ending.troubles.push_back({23, "cannot write"});
    CHECK(exit_status(results, {}, ending) == 23);
    results.count_end(7, false);
    CHECK(exit_status(results, {}, ending) == 7);
    results.count_end(56, true);
    CHECK(exit_status(results, {}, ending) == 56);
    results.count_end(28, true);  // the first status stays
    CHECK(exit_status(results, {}, ending) == 56);
    ending.signo = 15;
    CHECK(exit_status(results, {}, ending) == 143);
}

TEST_CASE("prints the last words in one order") {
    Results results = counted(5, 2, 1, 2);
    results.wrong_sentence = "reply 2 differs";
    results.lost_sentence = "no reply to message 3 within 5s";
    results.count_failure("connection refused", 7, false, 2);
    results.count_end(7, false);
    const Verdict verdict = verdict_on(results, "sent>10");
    CHECK(last_words(results, verdict, {.troubles = {{23, "cannot write"}}}, {}) ==
          Lines{"reply 2 differs", "no reply to message 3 within 5s (2 times)",
                "connection refused (2 times)", "cannot write",
                "5 sent, 2 echoed, 1 bad, 2 lost", "required sent>10, was 5"});
}

TEST_CASE("prints a sentence for a failed run, even without a summary") {
    const Words quiet{.summary = false};
    CHECK(words_about(counted(2, 2), {}, quiet).empty());
    CHECK(words_about(counted(2, 1, 0, 1), {}, quiet) ==
          Lines{"2 sent, 1 echoed, 0 bad, 1 lost"});
    Results results = counted(2, 1, 0, 1);
    results.lost_sentence = "no reply to message 2 within 5s";
    CHECK(words_about(results, {}, quiet) == Lines{"no reply to message 2 within 5s"});
}

TEST_CASE("reports failures that a retry has overcome for loads") {
    Results results = counted(1, 1);
    results.count_failure("connection refused", 7, false);
    CHECK(words_about(results) == Lines{"1 sent, 1 echoed, 0 bad, 0 lost"});
    CHECK(words_about(results, {}, {.load = true}).front() == "connection refused");
}

TEST_CASE("limits the kinds of failures that are printed") {
    Results results;
    for (int i = 0; i < 13; ++i) results.count_failure("failure " + std::to_string(i), 7, true);
    const Lines lines = failure_lines(results);
    CHECK(lines.size() == 11);
    CHECK(lines.back() == "3 other kinds of failures (--json lists them all)");
}
