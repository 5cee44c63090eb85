#include "app/stats/histogram.hpp"

#include "tests/support/catch.hpp"

using namespace std::chrono_literals;
using namespace yodel;

TEST_CASE("an empty histogram has no percentile") {
    const Histogram histogram;
    CHECK(histogram.count() == 0);
    CHECK(histogram.percentile(50) == 0ns);
}

TEST_CASE("a percentile is wrong by at most one part in 32") {
    Histogram histogram;
    for (int i = 1; i <= 10'000; ++i) histogram.record(i * 1us);
    for (const double percent : {1.0, 50.0, 95.0, 99.0, 99.9}) {
        const double exact = percent * 100'000;  // ns
        const auto found = static_cast<double>(histogram.percentile(percent).count());
        CAPTURE(percent);
        CHECK(found >= exact);
        CHECK(found <= exact * (1 + 1.0 / 32));
    }
    CHECK(histogram.min() == 1us);
    CHECK(histogram.max() == 10ms);
    CHECK(histogram.percentile(100) == 10ms);
}

TEST_CASE("durations from below zero to the longest are counted") {
    Histogram histogram;
    for (const ev::Duration time : {ev::Duration(-5ns), ev::Duration(0ns), ev::Duration(1h),
                                    ev::Duration(1000h), ev::Duration::max()})
        histogram.record(time);
    CHECK(histogram.count() == 5);
    CHECK(histogram.min() == 0ns);
    CHECK(histogram.max() == ev::Duration::max());
    CHECK(histogram.percentile(40) == 0ns);
}
