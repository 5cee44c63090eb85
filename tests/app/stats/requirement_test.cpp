#include "app/stats/requirement.hpp"

#include "tests/app/refusal.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"

using namespace std::chrono_literals;
using namespace yodel;
using test::contains;

namespace {

// 1000 messages: 996 echoed after 1 to 9.96 ms, 1 bad, 3 lost; 249 a second.
Results some_result() {
    Results result;
    for (int i = 1; i <= 996; ++i) {
        result.count_answered({.round_trip = i * 10us}, ev::Time{4s});
        result.record_lateness(30us);
    }
    result.count_answered({.right = false}, ev::Time{4s});
    result.count_sent(1000, ev::Time{});
    result.lost = 3;
    result.unsolicited = 2;
    result.unsent = 4;
    result.add_planned_rate({.planned = 251, .reached = 250});
    result.attempts = 4;
    result.opened = 3;
    result.failed = 1;
    result.connect_times.record(2ms);
    return result;
}

std::string judged(const std::string& clause, const Results& result) {
    CAPTURE(clause);
    return Requirement(clause).judge(result).failure;
}

}  // namespace

TEST_CASE("prints nothing for a requirement that holds") {
    const std::string clause = GENERATE(
        "min<1ms", "mean<5ms", "p50<5.1ms", "p90<10ms", "p95>9ms", "p99<=10ms", "p99.9<1s",
        "p99.99<10ms", "max<9.961ms", "max=9.96ms", "lateness<1ms", "sent=1000", "sent=1k",
        "echoed>99.5%", "bad<2", "bad<=0.1%", "lost<0.4%", "late=0", "late<1%", "unsolicited=2",
        "duplicates=0", "connect_p99<3ms", "lateness_max<1ms", "unsent=4", "unsent<1%",
        "failed<=1", "failed<=25%", "rate>=249", "rate>0.24k", "rate<250/s", "p99 < 1s",
        " lost <= 3 ", "rate  > 0.24k", "p99 < 11 ms", "lost < 0.4 %", "rate > 0.24 k /s");
    CHECK(judged(clause, some_result()) == "");
}

TEST_CASE("prints the value that fails a requirement, with enough digits to see it") {
    const auto [clause, sentence] = GENERATE(table<std::string, std::string>({
        {"p50<4ms", "required p50<4ms, was 4.98ms"},
        {"p50<=4.98ms", "required p50<=4.98ms, was 4.981ms"},
        {"max<9.96ms", "required max<9.96ms, was 9.96ms"},
        {"min>1s", "required min>1s, was 0.01ms"},
        {"lateness<10us", "required lateness<10us, was 0.03ms"},
        {"lost<0.1%", "required lost<0.1%, was 0.3%"},
        {"lost=0", "required lost=0, was 3"},
        {"sent<1000", "required sent<1000, was 1000"},
        {"failed=0", "required failed=0, was 1"},
        {"failed<10%", "required failed<10%, was 25%"},
        {"rate>10k", "required rate>10k, was 249/s"},
    }));
    CHECK(judged(clause, some_result()) == sentence);
}

TEST_CASE("names the client's own lateness if it is most of a time that fails") {
    const auto [late, remark] = GENERATE(table<ev::Duration, std::string>(
        {{2us, ""}, {7ms, ", most of it yodel's own lateness (7ms)"}}));
    Results results;
    for (int i = 1; i <= 100; ++i) {
        results.count_answered({.round_trip = 10ms}, ev::Time{4s});
        results.record_lateness(late);
    }
    CHECK(judged("p99<5ms", results) == "required p99<5ms, was 10ms" + remark);
    CHECK(judged("p99<1s", results) == "");
    CHECK_FALSE(contains(judged("lateness<1us", results), "most of it"));
}

TEST_CASE("fails a requirement if nothing was measured") {
    const auto [clause, sentence] = GENERATE(table<std::string, std::string>({
        {"p99<5ms", "required p99<5ms, but no reply was timed"},
        {"max<5ms", "required max<5ms, but no reply was timed"},
        {"lost<1%", "required lost<1%, but nothing was sent"},
        {"lost=0", "required lost=0, but nothing was sent"},
        {"bad<5", "required bad<5, but nothing was sent"},
        {"sent>0", "required sent>0, was 0"},
        {"sent>50%", "required sent>50%, but nothing was sent"},
        {"failed=0", "required failed=0, but no connection was attempted"},
        {"duplicates=0", "required duplicates=0, but nothing was sent"},
        {"unsent=0", "required unsent=0, but no message was due"},
        {"reordered=0", "required reordered=0, but messages were not datagrams"},
        {"jitter<1ms", "required jitter<1ms, but no datagrams were timed"},
        {"connect_p50<1ms", "required connect_p50<1ms, but no connection was opened"},
        {"handshake_p50<1ms", "required handshake_p50<1ms, but there was no handshake"},
        {"failed<1%", "required failed<1%, but no connection was attempted"},
        {"lateness<1ms", "required lateness<1ms, but no message had a planned time"},
        {"rate<1", "required rate<1, but no reply was right"},
    }));
    CHECK(judged(clause, Results()) == sentence);
}

TEST_CASE("refuses an invalid clause in one sentence") {
    const std::string names =
        "min, mean, p50, p90, p95, p99, p99.9, p99.99, max, rate, jitter, "
        "sent, echoed, bad, lost, late, unsent, unsolicited, duplicates, reordered, attempts, "
        "opened, failed, starved, handshakes_full, handshakes_resumed; "
        "lateness; and min to max with the prefix lateness_, connect_ or handshake_";
    const std::string duration = "a duration with its unit (us, ms, s, m or h), such as 5ms";
    const auto [text, sentence] = GENERATE_COPY(table<std::string, std::string>({
        {"", "\"\" is not a requirement such as p99<5ms, lost<0.1% or rate>10k"},
        {"p99", "\"p99\" is not a requirement such as p99<5ms, lost<0.1% or rate>10k"},
        {"p99!5ms", "\"p99!5ms\" is not a requirement such as p99<5ms, lost<0.1% or rate>10k"},
        {"p99<5ms,", "\"\" is not a requirement such as p99<5ms, lost<0.1% or rate>10k"},
        {"p98<5ms", "\"p98<5ms\": unknown figure \"p98\"; the figures are " + names},
        {"<5ms", "\"<5ms\": unknown figure \"\"; the figures are " + names},
        {"p99<5", "\"p99<5\": p99 needs " + duration},
        {"p99<0.5", "\"p99<0.5\": p99 needs " + duration},
        {"p99<", "\"p99<\": p99 needs " + duration},
        {"p99==5ms", "\"p99==5ms\": p99 needs " + duration},
        {"p99<5%", "\"p99<5%\": p99 needs " + duration},
        {"p99<+5ms", "\"p99<+5ms\": p99 needs " + duration},
        {"lost<5ms", "\"lost<5ms\": lost needs a number, or a percentage such as 0.1%"},
        {"lost<-5", "\"lost<-5\": lost needs a number, or a percentage such as 0.1%"},
        {"lost<+5%", "\"lost<+5%\": lost needs a number, or a percentage such as 0.1%"},
        {"rate>5%", "\"rate>5%\": rate needs a number a second such as 10k"},
        {"rate>1e999", "\"rate>1e999\": rate needs a number a second such as 10k"},
        {"lost=0, p98<5ms", "\"p98<5ms\": unknown figure \"p98\"; the figures are " + names},
        {"p99 < = 5ms", "\"p99 < = 5ms\": p99 needs " + duration},
        {"p99 < 5 5 ms", "\"p99 < 5 5 ms\": p99 needs " + duration},
        {" ", "\"\" is not a requirement such as p99<5ms, lost<0.1% or rate>10k"},
    }));
    CHECK(test::refusal([&, &text = text] { parse_requirements(text); }) == sentence);
}
