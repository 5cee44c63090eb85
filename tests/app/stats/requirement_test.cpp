#include "app/stats/requirement.hpp"

#include "tests/app/refusal.hpp"
#include "tests/app/stats/results.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"

using namespace std::chrono_literals;
using namespace yodel;

namespace {

// 1000 messages: 996 echoed after 0.01 to 9.96 ms, 1 bad, 3 lost; 249 a second.
RunResults some_result() {
    RunResults result =
        test::counted("1000 sent,1 bad,3 lost,2 unsolicited,4 unsent,4 attempts,3 opened,"
                      "1 failed,connect 2ms,996 lateness 30us");
    for (int i = 1; i <= 996; ++i) test::add_echo(result, i * 10us, test::start + 4s);
    return result;
}

// Checks rows of a clause and its failure: "p50<4ms => was 4.98ms". Without a failure, the
// clause holds.
void check(const RunResults& results, const std::vector<std::string>& rows) {
    for (const std::string& row : rows) {
        INFO(row);
        const auto [clause, failure] = test::halves(row);
        CHECK(Requirement(clause).judge(results).failure ==
              (failure.empty() ? "" : "required " + clause + ", " + failure));
    }
}

}  // namespace

TEST_CASE("prints nothing for a requirement that holds") {
    for (const char* const clause : {"min<1ms",         "mean<5ms",         "p50<5.1ms",
                                     "p90<10ms",        "p97>9.6ms",        "p99.95<=10ms",
                                     "p99.9<1s",        "p99.99<10ms",      "max<9.961ms",
                                     "max=9.96ms",      "lateness<1ms",     "sent=1000",
                                     "sent=1k",         "echoed>99.5%",     "bad<2",
                                     "bad<=0.1%",       "lost<0.4%",        "late=0",
                                     "late<1%",         "unsolicited=2",    "duplicates=0",
                                     "connect_p99<3ms", "lateness_max<1ms", "unsent=4",
                                     "unsent<1%",       "failed<=1",        "failed<=25%",
                                     "failed>=25%",     "rate>=249",        "rate>0.24k",
                                     "rate<250/s",      "p99 < 1s",         " lost <= 3 ",
                                     "rate  > 0.24k",   "p99 < 11 ms",      "lost < 0.4 %",
                                     "rate > 0.24 k /s"})
        check(some_result(), {clause + std::string(" => ")});
}

TEST_CASE("prints the value that fails a requirement, with enough digits to see it") {
    check(some_result(),
          {"p50<4ms => was 4.98ms", "p50<=4.98ms => was 4.981ms", "max<9.96ms => was 9.96ms",
           "max>9.96ms => was 9.96ms", "max>=9.97ms => was 9.96ms", "min>1s => was 10us",
           "lateness<10us => was 30us", "lost<0.1% => was 0.3%", "lost=0 => was 3",
           "sent<1000 => was 1000", "failed=0 => was 1", "failed<10% => was 25%",
           "rate>10k => was 249/s"});
    RunResults fast = test::counted("3000000 sent,3000000 echoed,answered 1s,rtt 1s");
    check(fast, {"rate<1 => was 3M/s", "max<1s => was 1s", "max<=999ms => was 1000ms"});
    fast.last_answered_at = test::start + 1000s;
    check(fast, {"rate<1 => was 3k/s"});
    fast.last_answered_at = test::start + 3000s;
    check(fast, {"rate<1 => was 1k/s"});
}

TEST_CASE("measures with three digits, or enough to show whether the requirement holds") {
    const RunResults results =
        test::counted("3000 sent,1234567 echoed,answered 1s,rtt 0.001234567s");
    const std::vector<std::pair<const char*, const char*>> rows = {
        {"rate>1k", "1.23M/s"},  {"rate>1234k", "1.235M/s"},     {"rate<1235k", "1.23M/s"},
        {"rate<1k", "1.23M/s"},  {"max<2ms", "1.23ms"},          {"max>1.234ms", "1.235ms"},
        {"max<0.1ms", "1.23ms"}, {"max<0.00002m", "0.0000206m"}, {"max<1000us", "1235us"},
        {"max>0.1s", "1.23ms"},  {"max<1m", "1.23ms"},           {"max>=0s", "1.23ms"}};
    for (const auto& [clause, measured] : rows)
        CHECK(Requirement(clause).judge(results).measured == measured);
}

TEST_CASE("names the client's own lateness if it is most of a time that fails") {
    for (const ev::Duration late : {5ms, 7ms, 11ms}) {
        RunResults results = test::counted("100 sent,100 echo 10ms");
        results.lateness.record(late, 100);
        const std::string remark = late == 7ms ? ", most of it yodel's own lateness (70%)" : "";
        check(results, {"p99<5ms => was 10ms" + remark, "p99<10ms => was 10ms" + remark,
                        "p99<1s => ", "p99>1s => was 10ms", "lost>1 => was 0"});
    }
}

TEST_CASE("fails a requirement if nothing was measured") {
    check(RunResults(),
          {"p99<5ms => but no reply was timed", "lost<1% => but nothing was sent",
           "lost=0 => but nothing was sent", "sent>0 => was 0",
           "sent>50% => but nothing was sent", "duplicates=0 => but nothing was sent",
           "unsent=0 => but no message was due",
           "reordered=0 => but messages were not datagrams",
           "jitter<1ms => but no datagrams were timed",
           "connect_p50<1ms => but no connection was opened",
           "handshake_p50<1ms => but there was no handshake",
           "handshakes_full=0 => but there was no TLS handshake",
           "failed<1% => but no connection was attempted",
           "lateness<1ms => but no message had a planned time",
           "rate<1 => but no reply was right, or no connection opened"});
    check(test::counted("1 unsent"), {"unsent>99% => ", "lost=0 => but nothing was sent"});
    check(test::counted("2 handshakes_resumed"),
          {"handshakes_full=0 => ", "handshakes_resumed>99% => "});
}

TEST_CASE("refuses an invalid clause in one sentence") {
    const std::string form = " is not a requirement such as p99<5ms, lost<0.1% or rate>10k";
    const std::string names =
        "; the figures are min, mean, pN (0 < N < 100), max, rate, jitter, "
        "sent, echoed, bad, lost, late, unsent, unsolicited, duplicates, reordered, attempts, "
        "opened, failed, handshakes_full, handshakes_resumed; "
        "lateness; and min to max with the prefix lateness_, connect_ or handshake_";
    const std::pair<std::string, std::vector<std::string>> rows[] = {
        {form, {"", "p99", "p99!5ms"}},
        {": unknown figure \"p100\"" + names, {"p100<5ms"}},
        {": unknown figure \"\"" + names, {"<5ms"}},
        {": p99 needs a duration with its unit (us, ms, s, m or h), such as 5ms",
         {"p99<5", "p99<0.5", "p99<", "p99==5ms", "p99<5%", "p99<+5ms", "p99 < = 5ms",
          "p99 < 5 5 ms"}},
        {": lost needs a number, or a percentage such as 0.1%",
         {"lost<5ms", "lost<-5", "lost<+5%"}},
        {": rate needs a number per second, such as 10k", {"rate>5%", "rate>1e999"}}};
    for (const auto& [trouble, clauses] : rows)
        for (const std::string& clause : clauses)
            CHECK(test::refusal([&clause] { parse_requirements("lost=0, " + clause + " "); }) ==
                  '"' + clause + '"' + trouble);
}
