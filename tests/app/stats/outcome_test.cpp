#include "app/stats/outcome.hpp"

#include "app/stats/tally.hpp"
#include "tests/app/stats/results.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"

using namespace std::chrono_literals;
using namespace yodel;

namespace {

using test::counted;

Verdict verdict_on(const Results& results, const std::string& requirements) {
    return Verdict::on(results, parse_requirements(requirements));
}

int status_of(const Results& results, const Verdict& verdict = {}) {
    return Outcome{.results = results, .verdict = verdict}.status();
}

std::vector<std::string> words_about(const Results& results, const SummaryParts& words = {}) {
    return Outcome{.results = results, .words = words}.lines();
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("a warm-up is printed, and its faults fail the run unless they are tolerated") {
    Results results = counted(1, 1);
    results.warm_up = {.sent = 9, .echoed = 9};
    CHECK(summary(results) == "1 sent, 1 echoed, 0 bad, 0 lost; warm-up: 9 sent, 9 echoed, "
                              "0 bad, 0 lost");
    CHECK(status_of(results) == 0);
    const auto [count, tolerance] = GENERATE(table<std::uint64_t Counts::*, const char*>(
        {{&Counts::bad, "bad<1"}, {&Counts::lost, "lost<1"}, {&Counts::unsent, "unsent<1"}}));
    results.warm_up.*count = 1;
    results.lost_sentence = "no reply";
    results.unsent_sentence = "not sent";
    CHECK(status_of(results) == 1);
    CHECK(status_of(results, verdict_on(results, tolerance)) == 0);
    const Lines words = words_about(results);
    CHECK(words.front() == (count == &Counts::lost     ? "no reply"
                            : count == &Counts::unsent ? "not sent"
                                                       : summary(results)));
}

TEST_CASE("returns status 1 for any wrong or lost reply and any unsent message") {
    CHECK(status_of(counted(5, 5)) == success);
    CHECK(status_of(counted(5, 4, 1)) == reply_wrong_or_lost);
    CHECK(status_of(counted(5, 4, 0, 1)) == reply_wrong_or_lost);
    Results results = counted(5, 5);
    results.unsolicited = 1;
    CHECK(status_of(results) == success);
    results.count_unsent();
    CHECK(status_of(results) == reply_wrong_or_lost);
}

TEST_CASE("counts a duplicate of a reply as a fault, except with datagrams") {
    Results results = counted(5, 5);
    ++results.duplicates;
    CHECK(status_of(results) == reply_wrong_or_lost);
    results.datagrams = true;
    CHECK(status_of(results) == success);
}

TEST_CASE("counts an unsolicited message as a fault if it is stale, unless that is tolerated") {
    Results results = counted(5, 5);
    results.unsolicited = 1;
    CHECK(status_of(results) == success);
    results.stale = 1;
    CHECK(status_of(results) == reply_wrong_or_lost);
    CHECK(status_of(results, verdict_on(results, "unsolicited<2")) == success);
    Results sum = counted(5, 5);
    sum.add(results);
    CHECK(status_of(sum) == reply_wrong_or_lost);
}

TEST_CASE("counts missing and additional messages of a replay as faults") {
    Results results = counted(5, 5);
    results.replay = Results::Replay{};
    CHECK(status_of(results) == success);
    Tally tally(results);
    tally.add(Fate::recurred, {}, {});
    CHECK(status_of(results) == success);
    const bool missing = GENERATE(true, false);
    if (missing) tally.add(Fate::missing, {}, {});
    if (!missing) tally.add(Fate::unrecorded, {}, {});
    CHECK(status_of(results) == reply_wrong_or_lost);
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
    CHECK(status_of(results, verdict_on(results, requirements)) == status);
}

TEST_CASE("prefers the most specific status, and its reason") {
    Results results = counted(5, 4, 1);
    Outcome outcome{.results = results};
    const auto decides = [&](int status, const std::string& reason) {
        const JsonObject end = outcome.json();
        CAPTURE(end.str());
        CHECK(outcome.status() == status);
        CHECK(test::contains(end.str(), "\"reason\":\"" + reason +
                                            "\",\"status\":" + std::to_string(status) + ","));
    };
    decides(1, "closed");
    outcome.verdict = verdict_on(results, "sent>10");
    decides(1, "required sent>10, was 5");
    outcome.troubles.push_back({23, "cannot write"});
    decides(23, "cannot write");
    results.count_failure("refused", 7, false);
    results.count_end(7, false);
    decides(7, "refused");
    results.count_failure("reset", 56, true);
    results.count_end(56, true);
    decides(56, "reset");
    results.count_end(28, true);  // the first status stays
    decides(56, "reset");
    outcome.signo = 15;
    decides(143, "ended by SIGTERM");
}

TEST_CASE("names a server that did not close as the reason, with status 0") {
    Results results = counted(1, 1);
    CHECK(Outcome{.results = results, .reason = "2 runs merged"}.decided().text ==
          "2 runs merged");
    results.count_failure("the server did not close", 0, true);
    CHECK(Outcome{.results = results}.decided().text == "the server did not close");
}

TEST_CASE("prints the last words in one order") {
    Results results = counted(5, 2, 1, 2);
    results.bad_sentence = "reply 2 differs";
    results.lost_sentence = "no reply to message 3 within 5s";
    results.count_failure("connection refused", 7, false, 2);
    results.count_end(7, false);
    const Verdict verdict = verdict_on(results, "sent>10");
    const Outcome outcome{
        .results = results, .verdict = verdict, .troubles = {{23, "cannot write"}}};
    CHECK(outcome.lines() ==
          Lines{"reply 2 differs", "no reply to message 3 within 5s (2 times)",
                "connection refused (2 times)", "cannot write",
                "5 sent, 2 echoed, 1 bad, 2 lost", "required sent>10, was 5"});
}

TEST_CASE("prints a sentence for a failed run, even without a summary") {
    const SummaryParts quiet{.summary = false};
    CHECK(words_about(counted(2, 2), quiet).empty());
    CHECK(words_about(counted(2, 1, 0, 1), quiet) == Lines{"2 sent, 1 echoed, 0 bad, 1 lost"});
    Results results = counted(2, 1, 0, 1);
    results.lost_sentence = "no reply to message 2 within 5s";
    CHECK(words_about(results, quiet) == Lines{"no reply to message 2 within 5s"});
}

TEST_CASE("reports failures that a retry has overcome for loads") {
    Results results = counted(1, 1);
    results.count_failure("connection refused", 7, false);
    CHECK(words_about(results) == Lines{"1 sent, 1 echoed, 0 bad, 0 lost"});
    CHECK(words_about(results, {.load = true}).front() == "connection refused");
}

TEST_CASE("limits the kinds of failures that are printed") {
    Results results;
    for (int i = 0; i < 13; ++i) results.count_failure("failure " + std::to_string(i), 7, true);
    const Lines lines = failure_lines(results);
    CHECK(lines.size() == 11);
    CHECK(lines.back() == "3 other kinds of failures (--json lists them all)");
}
