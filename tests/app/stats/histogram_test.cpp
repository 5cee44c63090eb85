#include "app/stats/histogram.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/random.hpp"

#include <array>

using namespace std::chrono_literals;
using namespace yodel;

namespace {

// Returns durations of all magnitudes.
ev::Duration any_duration(test::Random& random) {
    return ev::Duration(
        static_cast<std::int64_t>((random.next() >> 1) >> (random.next() % 63)));
}

}  // namespace

TEST_CASE("an empty histogram has no percentile") {
    const Histogram histogram;
    CHECK(histogram.count() == 0);
    CHECK(histogram.percentile(50) == 0ns);
}

TEST_CASE("returns percentiles that are wrong by at most one part in 128") {
    Histogram histogram;
    for (int i = 1; i <= 10'000; ++i) histogram.record(i * 1us);
    for (const double percent : {1.0, 50.0, 95.0, 99.0, 99.9}) {
        const double exact = percent * 100'000;  // ns
        const auto found = static_cast<double>(histogram.percentile(percent).count());
        CAPTURE(percent);
        CHECK(found >= exact);
        CHECK(found <= exact * (1 + 1.0 / 128));
    }
    CHECK(histogram.min() == 1us);
    CHECK(histogram.max() == 10ms);
    CHECK(histogram.percentile(100) == 10ms);
}

TEST_CASE("counts durations from below zero to the longest") {
    Histogram histogram;
    for (const ev::Duration time : {ev::Duration(-5ns), ev::Duration(0ns), ev::Duration(1h),
                                    ev::Duration(1000h), ev::Duration::max()})
        histogram.record(time);
    CHECK(histogram.count() == 5);
    CHECK(histogram.min() == 0ns);
    CHECK(histogram.max() == ev::Duration::max());
    CHECK(histogram.percentile(40) == 0ns);
}

TEST_CASE("sums histograms to the histogram of all durations, bucket for bucket") {
    test::Random random(1);
    Histogram all;
    std::array<Histogram, 8> parts;
    for (int i = 0; i < 20'000; ++i) {
        const ev::Duration time = any_duration(random);
        const std::uint64_t times = 1 + random.next() % 3;
        all.record(time, times);
        parts[random.index(parts.size())].record(time, times);
    }
    Histogram sum;
    for (const Histogram& part : parts) sum.add(part);
    CHECK(sum == all);
    sum.add({});
    CHECK(sum == all);
    CHECK(sum.buckets() == all.buckets());
}

TEST_CASE("returns the durations since an earlier state, bucket for bucket") {
    test::Random random(2);
    Histogram all;
    Histogram sum;
    for (int round = 0; round < 5; ++round) {
        const Histogram earlier = all;
        for (int i = 0; i < 1000; ++i) all.record(any_duration(random));
        const Histogram since = all.since(earlier);
        CHECK(since.count() == 1000);
        CHECK(since.max() <= all.max());
        sum.add(since);
    }
    CHECK(sum.buckets() == all.buckets());
    CHECK(all.since(all).count() == 0);
    CHECK(Histogram().since({}) == Histogram());
}

TEST_CASE("restores a histogram from its buckets") {
    test::Random random(2);
    Histogram histogram;
    for (int i = 0; i < 1000; ++i) histogram.record(any_duration(random) / 4096);
    const auto restored = Histogram::restored(histogram.buckets(), histogram.min(),
                                              histogram.max(), histogram.sum());
    REQUIRE(restored);
    CHECK(*restored == histogram);
    CHECK(Histogram::restored({}, 0ns, 0ns, 0) == Histogram());
}

TEST_CASE("refuses buckets that no histogram can have") {
    using List = std::vector<Histogram::Bucket>;
    struct Case {
        const char* name;
        List buckets;
        ev::Duration min;
        ev::Duration max;
        std::uint64_t sum;
    };
    const Case each = GENERATE(
        Case{"no upper end of ours", {{1000ns, 1}}, 1000ns, 1000ns, 1000},
        Case{"a descending order", {{200ns, 1}, {100ns, 1}}, 100ns, 200ns, 300},
        Case{"a bucket twice", {{100ns, 1}, {100ns, 1}}, 100ns, 100ns, 200},
        Case{"an empty bucket", {{100ns, 0}}, 100ns, 100ns, 0},
        Case{"a minimum outside", {{100ns, 2}}, 99ns, 100ns, 199},
        Case{"a maximum outside", {{100ns, 2}}, 100ns, 101ns, 200},
        Case{"a sum above the upper ends", {{100ns, 2}}, 100ns, 100ns, 201},
        Case{"a sum below the minimum", {{100ns, 2}}, 100ns, 100ns, 99},
        Case{"a minimum of nothing", {}, 1ns, 1ns, 0},
        Case{"counts beyond all bounds", {{100ns, ~0ull}, {101ns, 1}}, 100ns, 101ns, 1});
    CAPTURE(each.name);
    CHECK_FALSE(Histogram::restored(each.buckets, each.min, each.max, each.sum));
}

TEST_CASE("computes the mean and the sum exactly, without an overflow of the sum") {
    Histogram histogram;
    CHECK(histogram.mean() == 0ns);
    histogram.record(1ns);
    histogram.record(2ns);
    CHECK(histogram.mean() == 2ns);
    histogram.record(3us, 2);
    CHECK(histogram.sum() == 6003);
    CHECK(histogram.mean() == 1501ns);
    for (int i = 0; i < 3; ++i) histogram.record(ev::Duration::max(), 5);
    CHECK(histogram.sum() == ~std::uint64_t{0});
}

TEST_CASE("computes the rank of a percentile exactly even if its fraction is not") {
    Histogram histogram;
    histogram.record(1ms, 4995);
    histogram.record(2ms, 5);
    CHECK(histogram.percentile(99.9) < 2ms);
    histogram.record(2ms);
    CHECK(histogram.percentile(99.9) == 2ms);
    Histogram large;
    large.record(1ms, 999'900'000'000'000'000);
    large.record(2ms, 100'000'000'000'000);
    CHECK(large.percentile(99.99) < 2ms);
    CHECK(large.percentile(100) == 2ms);
}
