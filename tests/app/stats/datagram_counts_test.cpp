#include "app/stats/datagram_counts.hpp"

#include "app/stats/end_object.hpp"
#include "tests/support/catch.hpp"

#include <cmath>

using namespace std::chrono_literals;
using namespace yodel;

TEST_CASE("jitter is the smoothed difference of transits that follow each other") {
    DatagramCounts counts;
    CHECK((counts.jitter_time() == 0ns));
    counts.answered(false, 10ms);
    CHECK((counts.jitter_time() == 0ns));  // one alone differs from nothing
    counts.answered(false, 26ms);
    CHECK((counts.jitter_time() == 1ms));
    counts.answered(false, 26ms);
    CHECK((counts.jitter_time() == 937500ns));
    counts.answered(true, std::nullopt);  // of which no time is known
    CHECK((counts.jitter_time() == 937500ns));
    counts.answered(false, 10ms);
    CHECK((counts.jitter_time() == 1878906ns));
    CHECK(counts.timed == 4);
    CHECK(counts.out_of_order == 1);
}

TEST_CASE("parts of a run are added up, their jitter weighted by their replies") {
    DatagramCounts one;
    DatagramCounts other;
    one.twice = 1;
    other.twice = 2;
    other.out_of_order = 5;
    one.add(other);  // no replies: no division by zero
    for (int i = 0; i < 30; ++i) other.answered(false, i % 2 == 0 ? 1ms : 2ms);
    for (int i = 0; i < 10; ++i) one.answered(false, 3ms);
    const double jitter = other.jitter;
    one.add(other);
    CHECK(one.counts() == "5 twice, 10 out of order");
    CHECK(std::abs(one.jitter - jitter * 0.75) < 1);
}

TEST_CASE("the summary and the end object tell of datagrams only where there are any") {
    RunResult result;
    result.tally.sent = result.tally.echoed = 1;
    CHECK(result.tally.summary() == "1 sent, 1 echoed, 0 bad, 0 lost");
    CHECK(end_object(result, "").str().find("jitter") == std::string::npos);
    result.tally.datagrams.emplace().twice = 2;
    result.tally.datagrams->jitter = 40'000;
    CHECK(result.tally.summary() == "1 sent, 1 echoed, 0 bad, 0 lost, 2 twice, 0 out of order");
    const std::string text = end_object(result, "").str();
    CHECK(text.find(R"("twice":2,"out_of_order":0,"jitter_us":40.000)") != std::string::npos);
    const RestoredResult restored = restored_result(*read_json(text).value);
    REQUIRE(restored.result);
    REQUIRE(restored.result->tally.datagrams);
    CHECK(restored.result->tally.datagrams->twice == 2);
    CHECK((restored.result->tally.datagrams->jitter_time() == 40us));
}
