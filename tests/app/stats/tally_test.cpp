#include "app/stats/tally.hpp"

#include "tests/support/catch.hpp"

using namespace std::chrono_literals;
using namespace yodel;

TEST_CASE("the summary has counts, and times if there are any") {
    Tally tally;
    tally.sent = 3;
    CHECK(tally.summary() == "3 sent, 0 echoed, 0 bad, 0 lost");
    tally.echoed = 2;
    tally.bad = 1;
    tally.unsent = 5;
    tally.unsolicited = 4;
    tally.round_trips.record(2ms);
    CHECK(tally.summary() == "3 sent, 2 echoed, 1 bad, 0 lost, 5 unsent, 4 unasked; rtt "
                             "min/p50/p95/p99/max 2.0/2.0/2.0/2.0/2.0 ms");
}

TEST_CASE("while it goes on there are the counts, a median, and what datagrams meet") {
    Tally tally;
    tally.sent = 3;
    CHECK(tally.progress() == "3 sent, 0 echoed, 0 bad, 0 lost");
    tally.answered(true, false, 2ms);
    CHECK(tally.progress() == "3 sent, 1 echoed, 0 bad, 0 lost, p50 2.0 ms");
    tally.datagrams.emplace().twice = 4;
    CHECK(tally.progress() == "3 sent, 1 echoed, 0 bad, 0 lost, 4 twice, 0 out of order, "
                              "p50 2.0 ms, jitter 0.00 ms");
}

TEST_CASE("a late reply corrects the number of lost messages") {
    Tally tally;
    tally.sent = 2;
    tally.lost = 2;
    tally.answered(true, true, std::nullopt);
    tally.answered(false, true, 3ms);
    CHECK(tally.counts() == "2 sent, 1 echoed, 1 bad, 0 lost");
    CHECK(tally.late == 2);
    CHECK(tally.round_trips.count() == 1);
}
