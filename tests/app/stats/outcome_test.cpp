#include "app/stats/outcome.hpp"

#include "tests/app/stats/results.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"

using namespace yodel;
using test::counted;
using Lines = std::vector<std::string>;

namespace {

std::vector<Requirement::Verdict> judged(const RunResults& results,
                                         const std::string& requirements) {
    return judge(results, parse_requirements(requirements));
}

int status_of(const RunResults& results, const std::string& requirements = "") {
    if (requirements.empty()) return Outcome{.results = results}.status();
    return Outcome{.results = results, .verdicts = judged(results, requirements)}.status();
}

Lines lines(const RunResults& results, const SummaryParts& parts = {}) {
    return Outcome{.results = results, .summary_parts = parts}.lines();
}

}  // namespace

TEST_CASE("counts that are faults fail a run, unless a requirement tolerates them") {
    struct Row {
        const char* counts;
        const char* tolerance;  // a requirement; empty if the counts are no fault
    };
    const Row rows[] = {{"5 sent,5 echoed,1 late,1 handshakes_full", ""},
                        {"5 sent,5 echoed,1 failed,1 reordered,1 handshakes_resumed", ""},
                        {"5 sent,5 echoed,9 warm-up sent,9 warm-up echoed", ""},
                        {"5 sent,5 echoed,1 unsolicited", ""},
                        {"5 sent,5 echoed,1 duplicates,datagrams", ""},
                        {"5 sent,5 echoed,1 recurred,replay", ""},
                        {"5 sent,4 echoed,1 bad,1 duplicates,datagrams", "bad<2"},
                        {"5 sent,5 echoed,1 unsolicited,1 stale", "unsolicited<2"},
                        {"5 sent,4 echoed,1 bad", "bad<2"},
                        {"5 sent,4 echoed,1 lost", "lost<2"},
                        {"5 sent,5 echoed,1 unsent", "unsent<2"},
                        {"5 sent,5 echoed,1 duplicates", "duplicates<2"},
                        {"1 sent,9 warm-up sent,1 warm-up bad", "bad<1"},
                        {"1 sent,9 warm-up sent,1 warm-up lost", "lost<1"},
                        {"1 sent,9 warm-up sent,1 warm-up unsent", "unsent<1"}};
    for (const auto& [counts, tolerance] : rows) {
        INFO(counts);
        const RunResults results = counted(counts);
        CHECK(status_of(results) == (*tolerance == '\0' ? success : reply_bad_or_lost));
        CHECK(status_of(results, tolerance) == success);
        RunResults sum;
        sum.add(results);
        CHECK(status_of(sum, tolerance) == success);
        CHECK(status_of(sum) == status_of(results));
    }
    for (const char* const differing : {"5 sent,5 echoed,1 unrecorded", "5 sent,1 missing"})
        CHECK(status_of(counted(differing)) == 1);
}

TEST_CASE("a requirement on a figure replaces the rule that it must be 0") {
    RunResults results = counted("10000 sent,9990 echoed,2 bad,6 lost,1 unsent,10 attempts");
    results.count_failure("refused", 7, false);
    results.record_end(7, false);
    const std::pair<const char*, int> rows[] = {
        {"lost<1%", 7},
        {"lost<1%,failed<20%", 1},
        {"lost<1%,failed<20%,bad<1%,unsent<1%", 0},
        {"lost<1%,failed<20%,bad<1%,unsent<=1", 0},
        {"lost<1%,failed<20%,bad<1%,unsent<1%,lost<5", 1},
        {"lost<1%,failed<20%,bad<1%,unsent<1%,rate>10", 1},
        {"lost<1%,failed<5%,bad<1%,unsent<1%", 7},
        {"echoed>99%", 7}};
    for (const auto& [requirements, status] : rows) {
        INFO(requirements);
        CHECK(status_of(results, requirements) == status);
    }
}

TEST_CASE("prefers the most specific status, and its reason") {
    RunResults results = counted("1 sent,1 echoed");
    Outcome outcome{.results = results, .reason = "quit"};
    const auto decides = [&](int status, const std::string& reason) {
        const std::string end = outcome.json().str();
        CAPTURE(end);
        CHECK(test::contains(end, "\"reason\":\"" + reason +
                                      "\",\"status\":" + std::to_string(status) + ","));
    };
    decides(0, "quit");
    results.count_failure("the server did not close", 0, true);
    decides(0, "the server did not close");
    results.bad = 2;
    decides(1, "2 bad");
    outcome.verdicts = judged(results, "sent>10");
    decides(1, "required sent>10, was 1");
    outcome.troubles.push_back({23, "cannot write"});
    decides(23, "cannot write");
    results.count_failure("refused", 7, false);
    results.record_end(7, false);
    for (const int less : {reply_bad_or_lost, success}) {
        results.opened_failure_status = less;
        decides(7, "refused");
    }
    results.count_failure("reset", 56, true);
    results.record_end(56, true);
    decides(56, "reset");
    results.record_end(28, true);  // the first status stays
    decides(56, "reset");
    outcome.signo = 15;
    decides(143, "ended by SIGTERM");
}

TEST_CASE("prints the last sentences in a fixed order") {
    RunResults results = counted("5 sent,2 echoed,1 bad,2 lost,3 unsent");
    results.reply_problem_sentence = "reply 2 differs";
    results.lost_sentence = "no reply to message 3 within 5s";
    results.unsent_sentence = "message 4 was not sent";
    results.count_failure("connection refused", 7, false, 2);
    results.record_end(7, false);
    Outcome outcome{.results = results,
                    .verdicts = judged(results, "sent>10"),
                    .troubles = {{23, "cannot write"}}};
    Lines all{"reply 2 differs",
              "no reply to message 3 within 5s (2 times)",
              "connection refused (2 times)",
              "message 4 was not sent (3 times)",
              "cannot write",
              "5 sent, 2 echoed, 1 bad, 2 lost, 3 unsent",
              "required sent>10, was 5"};
    CHECK(outcome.lines() == all);
    outcome.summary_parts = {.is_problem_printed = true, .has_summary = false};
    all.erase(all.begin() + 5);
    all.erase(all.begin());
    CHECK(outcome.lines() == all);
}

TEST_CASE("prints a sentence for a failed run, even without a summary") {
    const SummaryParts quiet{.has_summary = false};
    const auto quiet_lines = [&](const char* counts, const std::string& required) {
        RunResults results = counted(counts);
        results.lost_sentence = "no reply";
        results.unsent_sentence = "not sent";
        if (results.echoed > 0) results.count_failure("the server did not close", 0, true);
        return Outcome{
            .results = results, .verdicts = judged(results, required), .summary_parts = quiet}
            .lines();
    };
    CHECK(quiet_lines("2 sent,2 echoed", "sent=2").empty());
    CHECK(quiet_lines("2 sent,1 warm-up sent,1 warm-up lost", "sent=2") == Lines{"no reply"});
    CHECK(quiet_lines("2 sent,1 warm-up sent,1 warm-up unsent", "sent=2") == Lines{"not sent"});
    CHECK(quiet_lines("2 sent,1 warm-up sent,1 warm-up unsent", "unsent<1").empty());
    CHECK(lines(counted("2 sent,1 lost"), quiet) == Lines{"2 sent, 0 echoed, 0 bad, 1 lost"});
    CHECK(Outcome{.results = {}, .signo = 2, .summary_parts = quiet}.lines().empty());
}

TEST_CASE("reports failures that a retry has overcome for loads") {
    RunResults results = counted("1 sent,1 echoed,refused");
    CHECK(lines(results) == Lines{"1 sent, 1 echoed, 0 bad, 0 lost"});
    CHECK(lines(results, {.is_load = true}).front() == "refused");
    results.count_failure("the server did not close", 0, true);
    CHECK(lines(results) ==
          Lines{"the server did not close", "1 sent, 1 echoed, 0 bad, 0 lost"});
}

TEST_CASE("limits the kinds of failures that are printed") {
    RunResults results;
    const auto line_before_last = [&] {
        return *(lines(results, {.is_load = true}).end() - 2);
    };
    for (int i = 0; i < 10; ++i) results.count_failure("failure " + std::to_string(i), 7, true);
    CHECK(line_before_last() == "failure 9");
    for (int i = 0; i < 3; ++i) results.count_failure("more " + std::to_string(i), 7, true);
    CHECK(lines(results, {.is_load = true}).size() == 12);
    CHECK(line_before_last() == "3 other kinds of failures (--json lists up to 100)");
}
