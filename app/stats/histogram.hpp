// A histogram of durations, after HdrHistogram: the width of its buckets grows with the value,
// so that its memory is bounded (58 KiB) and a percentile is wrong by at most 1 part in 128,
// however many durations are recorded. Recording allocates nothing.
//
// Histograms can be added up: the sum equals the histogram of all durations, bucket for bucket.
#pragma once

#include "app/stats/buckets.hpp"
#include "ev/time.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace yodel {

class Histogram {
public:
    struct Bucket {
        ev::Duration upper_end;  // the longest duration that the bucket holds
        std::uint64_t count;

        bool operator==(const Bucket&) const = default;
    };
    // The powers of two nanoseconds that are told apart, and the buckets from one to the next.
    static constexpr std::size_t octaves = 57;
    static constexpr int steps = 128;

    // Returns the histogram with these buckets, which a histogram of before had; none if they
    // are not such buckets in ascending order, or do not agree with the other three.
    static std::optional<Histogram> restored(const std::vector<Bucket>& buckets,
                                             ev::Duration min, ev::Duration max,
                                             std::uint64_t sum);

    // A negative duration counts as zero.
    void record(ev::Duration duration, std::uint64_t times = 1);
    void add(const Histogram& other);

    std::uint64_t count() const { return count_; }
    // These three are exact; 0 while nothing is recorded. The sum is in nanoseconds, and stops
    // at 2^64 - 1 of them, which are 584 years.
    ev::Duration min() const { return min_; }
    ev::Duration max() const { return max_; }
    std::uint64_t sum() const { return sum_; }
    // Returns the mean, rounded to a nanosecond; 0 while nothing is recorded.
    ev::Duration mean() const;
    // Returns the duration that `percent` (0 to 100) of all recorded durations do not exceed; 0
    // while nothing is recorded.
    ev::Duration percentile(double percent) const;
    // Returns the number of durations in the buckets below that of this duration.
    std::uint64_t count_below(ev::Duration duration) const;
    // Returns the buckets that are not empty, that of the shortest durations first.
    std::vector<Bucket> buckets() const;

    bool operator==(const Histogram&) const = default;

private:
    using Layout = Buckets<7>;

    static std::size_t index(ev::Duration duration);
    static ev::Duration upper_end(std::size_t bucket);
    bool agrees_with(ev::Duration min, ev::Duration max, std::uint64_t sum) const;

    std::array<std::uint64_t, Layout::count> counts_{};
    std::uint64_t count_ = 0;
    std::uint64_t sum_ = 0;
    ev::Duration min_{};
    ev::Duration max_{};
};

}  // namespace yodel
