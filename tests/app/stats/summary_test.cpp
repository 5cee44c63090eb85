#include "app/stats/outcome.hpp"

#include "tests/app/stats/results.hpp"
#include "tests/support/table.hpp"

using namespace yodel;
using test::check_table;

namespace {

// Returns the summary of a list of counts and facts; the words before a colon select its parts.
std::string text(const std::string& line) {
    const std::size_t colon = line.find(": ");
    const std::string words = colon == line.npos ? "" : line.substr(0, colon);
    const auto has = [&words](const char* word) { return words.find(word) != words.npos; };
    const RunResults results = test::counted(line.substr(colon == line.npos ? 0 : colon + 2));
    const SummaryParts parts{.expects_any = has("any"),
                             .listens = has("listens"),
                             .is_load = has("load"),
                             .is_verbose = has("-v")};
    return has("progress") ? progress_text(results, parts) : summary(results, parts);
}

// Returns the remarks after the counts and the times.
std::string remarks(const std::string& line) {
    const std::string all = text(line);
    const std::size_t times = all.find("; rtt");
    const std::size_t begin = all.find(';', times == all.npos ? 0 : times + 1);
    return all.substr(std::min(begin, all.size()));
}

}  // namespace

TEST_CASE("prints four counts, and the others if there are any") {
    check_table(R"(3 sent => 3 sent, 0 echoed, 0 bad, 0 lost
3 sent,2 echoed,1 bad,2 late,5 unsent,4 unsolicited,3 duplicates
=> 3 sent, 2 echoed, 1 bad, 0 lost, 2 late, 5 unsent, 4 unsolicited, 3 duplicate
any: 20 sent,20 echoed => 20 sent, 20 answered, 0 bad, 0 lost
listens: 3 sent,2 unsolicited,1 duplicates => 3 sent, 2 received
1 sent,1 echoed,9 warm-up sent,8 warm-up echoed,1 warm-up unsent
=> 1 sent, 1 echoed, 0 bad, 0 lost; warm-up: 9 sent, 8 echoed, 0 bad, 0 lost, 1 unsent
0 sent,3 attempts,2 failed => 0 sent, 0 echoed, 0 bad, 0 lost
load: 0 sent,3 attempts,2 failed
=> 0 sent, 0 echoed, 0 bad, 0 lost; 2 of 3 attempts to connect failed
load: 0 sent,3 attempts => 0 sent, 0 echoed, 0 bad, 0 lost
load: 443586 sent,443586 echoed,answered 2s => 443586 sent, 443586 echoed, 0 bad, 0 lost, 222k/s
4 sent,4 echoed,answered 2s,late start 0s => 4 sent, 4 echoed, 0 bad, 0 lost
4 sent,late start 350ms => 4 sent, 0 echoed, 0 bad, 0 lost; began 350 ms after --start-at
120 sent,118 echoed,1 bad,1 lost,6 unsolicited,replay,2 recurred,4 unrecorded,3 missing
=> 120 replayed, 118 matched, 1 bad, 1 lost, 2 unsolicited matched, 3 unsolicited missing, 4 unsolicited not recorded
)",
                text);
}

TEST_CASE("prints one time for one message, and percentiles from 20 on") {
    check_table(R"(2 sent,echo 2ms => 2 sent, 1 echoed, 0 bad, 0 lost; rtt 2.0 ms
progress: 2 sent,echo 2ms => 2 sent, 1 echoed, 0 bad, 0 lost, p50 2.0 ms
progress any: 2 sent,echo 2ms => 2 sent, 1 answered, 0 bad, 0 lost, p50 2.0 ms
2 sent,echo 2ms,echo 1ms => 2 sent, 2 echoed, 0 bad, 0 lost; rtt min/max 1.0/2.0 ms
20 sent,echo 2ms,18 echo 1ms => 20 sent, 19 echoed, 0 bad, 0 lost; rtt min/max 1.0/2.0 ms
20 sent,echo 2ms,19 echo 1ms
=> 20 sent, 20 echoed, 0 bad, 0 lost; rtt min/p50/p95/p99/max 1.0/1.0/1.0/2.0/2.0 ms
3 sent,1 duplicates,2 echo 2ms,datagrams,jitter 40000
=> 3 sent, 2 echoed, 0 bad, 0 lost, 1 duplicate, 0 reordered; rtt min/max 2.0/2.0 ms; jitter 0.04 ms
progress: 3 sent,1 duplicates,2 echo 2ms,datagrams,jitter 40000
=> 3 sent, 2 echoed, 0 bad, 0 lost, 1 duplicate, 0 reordered, p50 2.0 ms, jitter 0.04 ms
)",
                text);
    RunResults results = test::counted("100 sent");
    for (int i = 1; i <= 100; ++i) {
        const std::chrono::milliseconds time(i);
        test::add_echo(results, time);
        results.count_opened(time, time, false, false);
    }
    CHECK(summary(results, {.is_load = true, .is_verbose = true}) ==
          "100 sent, 100 echoed, 0 bad, 0 lost; rtt min/p50/p95/p99/max 1.0/50/95/99/100 ms; "
          "connect p50/p99/max 50/99/100 ms, handshake 50/99/100 ms");
}

TEST_CASE(
    "mentions the client's lateness above a tenth of the round trips, and a missed rate") {
    check_table(R"(1 sent,lateness 40us,rtt 400us =>
1 sent,lateness 41us,rtt 400us => ; lateness p50/p99 0.04/0.04 ms
1 sent,lateness 40us => ; lateness p50/p99 0.04/0.04 ms
1 sent,lateness 0s,rtt 0s =>
1 sent,lateness 2ms,rtt 5ms => ; lateness p50/p99 2.0/2.0 ms
10000 sent,planned 1000,reached 1000 =>
10000 sent,planned 1000,reached 1001 =>
10000 sent,planned 1000,reached 960 =>
10000 sent,planned 1000,reached 940 => ; planned 1k/s, reached 940/s
100 sent,planned 1000,reached 671.1 =>
100 sent,planned 1000,reached 662.3 => ; planned 1k/s, reached 662/s
573655 sent,19426345 unsent,planned 10000000,reached 287000 => ; planned 10M/s, reached 287k/s
10000 sent,1 unsent,planned 1000,reached 1000 =>
10 unsent,planned 1000,reached 0 => ; planned 1k/s, reached 0/s
)",
                remarks);
}

TEST_CASE("prints the network's share of the median with -v if it is a tenth or more") {
    check_table(R"(-v: 1 sent,network 520us =>
1 sent,network 520us,rtt 5200us =>
-v: 1 sent,network 520us,rtt 5200us => ; p50 5.20ms = network >=0.52 + service <=4.68
-v: 1 sent,network 519us,rtt 5200us =>
-v: 1 sent,rtt 5200us =>
)",
                remarks);
}

TEST_CASE("prints the times of connections with -v, and always for a probe") {
    check_table(R"(load -v: 0 sent =>
load -v: 0 sent,connect 1ms => ; connect p50/p99/max 1.0/1.0/1.0 ms
load: 0 sent,connect 1ms =>
-v: 0 sent,connect 1ms =>
load -v: 0 sent,2 connect 1ms,handshake 2ms
=> ; connect p50/p99/max 1.0/1.0/1.0 ms, handshake 2.0/2.0/2.0 ms
)",
                remarks);
    check_table(R"(load: 2 opened,2 connect 1ms,handshake 2ms,probe,answered 1s
=> 2 connections opened, 0 failed, 2/s; connect p50/p99/max 1.0/1.0/1.0 ms, handshake 2.0/2.0/2.0 ms
load: 4 opened,2 failed,4 connect 1ms,3 handshake 2ms,1 handshakes_full,1 handshakes_resumed,probe
=> 4 connections opened, 2 failed; connect p50/p99/max 1.0/1.0/1.0 ms, handshake 2.0/2.0/2.0 ms, 1 full, 1 resumed
progress: 4 opened,2 failed,connect 1ms,handshake 2ms,probe
=> 4 connections opened, 2 failed, handshake p50 2.0 ms
progress: 4 opened,2 failed,connect 1ms,probe
=> 4 connections opened, 2 failed, connect p50 1.0 ms
)",
                text);
}
