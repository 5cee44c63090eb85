#include "app/stats/histogram.hpp"

#include "tests/support/allocations.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random.hpp"

#include <array>

using namespace std::chrono_literals;
using namespace yodel;

namespace {

// Returns a duration of any magnitude.
ev::Duration any_duration(test::Random& random) {
    return ev::Duration(
        static_cast<std::int64_t>((random.next() >> 1) >> (random.next() % 63)));
}

}  // namespace

TEST_CASE("puts each duration into one bucket, which is narrower than a hundredth of it") {
    test::Random random(1);
    for (int i = 0; i < 100'000; ++i) {
        const ev::Duration time = any_duration(random);
        const std::size_t bucket = Histogram::bucket_index(time);
        REQUIRE(Histogram::upper_end(bucket) >= time);
        REQUIRE((bucket == 0 || Histogram::upper_end(bucket - 1) < time));
        REQUIRE(Histogram::upper_end(bucket) - time <= time / 100);
    }
    const std::size_t last = Histogram::bucket_index(ev::Duration::max());
    CHECK(last == 57 * Histogram::buckets_per_octave - 1);
    CHECK(Histogram::upper_end(last) == ev::Duration::max());
}

TEST_CASE("returns percentiles that are wrong by at most one part in 128") {
    Histogram histogram;
    CHECK(histogram.percentile(50) == 0ns);
    for (int i = 1; i <= 10'000; ++i) histogram.record(i * 1us);
    for (const double percent : {1.0, 50.0, 95.0, 99.0, 99.9}) {
        const double exact = percent * 100'000;  // ns
        const auto found = static_cast<double>(histogram.percentile(percent).count());
        CAPTURE(percent);
        CHECK(found >= exact);
        CHECK(found <= exact * (1 + 1.0 / 128));
    }
    CHECK(histogram.percentile(0) <= 1us * (1 + 1.0 / 128));
    CHECK(histogram.percentile(100) == 10ms);
    CHECK(histogram.min() == 1us);
}

TEST_CASE("allocates the octaves from the shortest to the longest duration") {
    test::allocations.largest = 0;
    Histogram histogram;
    const std::size_t before = test::allocations.count;
    for (int i = 0; i < 1000; ++i) histogram.record(1049us + i * 1us);
    CHECK(test::allocations.count - before == 1);
    CHECK(test::allocations.largest == 128 * sizeof(std::uint64_t));
    histogram.record(1us);
    histogram.record(5ms);
    CHECK(test::allocations.largest <= 32 * 128 * sizeof(std::uint64_t));
    CHECK(histogram.percentile(99.9) <= 2065us);
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

TEST_CASE("sums, and subtracts an earlier state, bucket for bucket") {
    test::Random random(1);
    Histogram all;
    Histogram later;
    std::array<Histogram, 8> parts;
    for (int round = 0; round < 5; ++round) {
        const Histogram earlier = all;
        for (int i = 0; i < 1000; ++i) {
            const ev::Duration time = any_duration(random);
            const std::uint64_t times = random.next() % 3;
            all.record(time, times);
            parts[random.index(parts.size())].record(time, times);
        }
        const Histogram since = all.since(earlier);
        CHECK(since.count() == all.count() - earlier.count());
        CHECK(since.max() <= all.max());
        later.add(since);
    }
    Histogram sum;
    for (const Histogram& part : parts) sum.add(part);
    sum.add({});
    CHECK(sum == all);
    CHECK(later.buckets() == all.buckets());
    CHECK(all.since(all).count() == 0);
    CHECK(Histogram().since({}) == Histogram());
}

TEST_CASE("computes the mean and the sum exactly, without an overflow of the sum") {
    Histogram histogram;
    CHECK(histogram.mean() == 0ns);
    const std::pair<ev::Duration, ev::Duration> rows[] = {
        {1ns, 1ns}, {2ns, 2ns}, {1ns, 1ns}, {6000ns, 1501ns}};
    for (const auto& [time, mean] : rows) {
        histogram.record(time);
        CHECK(histogram.mean() == mean);
    }
    CHECK(histogram.sum() == 6004ns);
    histogram.record(ev::Duration::max());
    CHECK(histogram.sum() == ev::Duration::max());
    Histogram large;
    large.record(1h, 9'000'000'000'000);
    CHECK(large.sum() == ev::Duration::max());
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

TEST_CASE("returns the percentiles of each of the last periods that has round trips") {
    PercentileHistory history;
    CHECK(history.percentiles(50).empty());
    const ev::Time start = ev::Time{} + 1h;
    for (int i = 0; i < 100; ++i) history.record(start + i * 99ms, i < 90 ? 1ms : 9ms);
    history.record(start + PercentileHistory::period, 2ms);
    history.record(start + 5 * PercentileHistory::period, 3ms);
    CHECK(history.percentiles(95) == std::deque<ev::Duration>{9ms, 2ms, 3ms});
    CHECK(history.percentiles(50).front() < 1.1ms);
    for (std::size_t i = 1; i <= PercentileHistory::max_periods; ++i) {
        CHECK(history.percentiles(50).size() ==
              std::min(i + 2, PercentileHistory::max_periods));
        history.record(start + (i + 5) * PercentileHistory::period, 4ms + i * 1ms);
    }
    CHECK(history.percentiles(50).front() == 5ms);
    CHECK(history.percentiles(50).back() == 64ms);
    PercentileHistory from_zero;
    from_zero.record(ev::Time{} + 1s, 1ms);
    from_zero.record(ev::Time{} + PercentileHistory::period, 2ms);
    CHECK(from_zero.percentiles(50).size() == 2);
}

TEST_CASE(
    "returns the growth over the last second, or since the count before it, as the rate") {
    const std::tuple<ev::Duration, std::uint64_t, double> rows[] = {
        {0ms, 100, 0},     {0ms, 110, 0},     {100ms, 110, 100}, {600ms, 140, 40 / 0.6},
        {1000ms, 150, 40}, {1100ms, 170, 60}, {1600ms, 190, 50}, {11600ms, 1190, 100}};
    RecentRate rate;
    CHECK(rate.per_second() == 0);
    for (const auto& [time, count, per_second] : rows) {
        rate.add(ev::Time{1h} + time, count);
        CHECK(rate.per_second() == Approx(per_second));
    }
}
