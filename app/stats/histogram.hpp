// A histogram of durations, modeled on HdrHistogram. The width of its buckets grows with the
// duration. So memory is bounded (57 KiB), and the relative error of a percentile is at most
// 1/128. Only the first duration in an octave allocates memory.
//
// The sum of two histograms equals the histogram of all their durations, bucket for bucket.
//
// This file also contains recent percentiles and a recent rate. Nothing in it reads a clock.
#pragma once

#include "ev/time.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace yodel {

class Histogram {
public:
    // Each octave of nanoseconds is divided into this number of buckets of equal width. Each
    // bucket of the lowest two octaves holds one nanosecond.
    static constexpr std::size_t buckets_per_octave = 128;

    // Returns the number of the bucket that holds the duration.
    static std::size_t bucket_index(ev::Duration duration);
    // Returns the longest duration that the bucket holds.
    static ev::Duration upper_end(std::size_t bucket);

    struct Bucket {
        ev::Duration upper_end;  // longest duration in the bucket
        std::uint64_t count;

        bool operator==(const Bucket&) const = default;
    };

    // A negative duration counts as zero.
    void record(ev::Duration duration, std::uint64_t times = 1);
    void add(const Histogram& other);
    // Returns the durations recorded since this histogram equalled `earlier`. Each counts as
    // the longest duration of its bucket, but at most as max().
    Histogram since(const Histogram& earlier) const;

    std::uint64_t count() const { return count_; }
    // Return exact values, or 0 for an empty histogram. The sum saturates at 292 years.
    ev::Duration min() const { return min_; }
    ev::Duration max() const { return max_; }
    ev::Duration sum() const { return sum_; }
    // Rounds to a nanosecond. Returns 0 for an empty histogram.
    ev::Duration mean() const;
    // Returns a duration that at least `percent` (0 to 100) of all durations do not exceed, or
    // 0 for an empty histogram.
    ev::Duration percentile(double percent) const;
    // Returns the buckets that are not empty, shortest durations first.
    std::vector<Bucket> buckets() const;

    bool operator==(const Histogram&) const = default;

private:
    // Returns 0 outside the allocated octaves.
    std::uint64_t count_in(std::size_t bucket) const {
        const std::vector<std::uint64_t>& counts = octaves_[bucket / buckets_per_octave];
        return counts.empty() ? 0 : counts[bucket % buckets_per_octave];
    }
    void add_count(std::size_t bucket, std::uint64_t count);

    // For each octave, the counts of its buckets; empty if all are 0.
    std::array<std::vector<std::uint64_t>, 57> octaves_;
    std::uint64_t count_ = 0;
    ev::Duration sum_{};
    ev::Duration min_{};
    ev::Duration max_{};
};

// The round trips in each of the last periods.
class PercentileHistory {
public:
    static constexpr ev::Duration period = std::chrono::seconds(10);
    static constexpr std::size_t max_periods = 60;

    // Times must not decrease from call to call.
    void record(ev::Time now, ev::Duration round_trip);

    // Returns the percentile of each period with round trips, oldest first. The last period may
    // be incomplete.
    std::deque<ev::Duration> percentiles(double percent) const;

private:
    std::deque<Histogram> periods_;
    ev::Time began_at_{};  // start of the last period
};

// The rate of a growing count, usually over the last second.
class RecentRate {
public:
    static constexpr ev::Duration span = std::chrono::seconds(1);

    // Records the count at this time. Times must not decrease from call to call.
    void add(ev::Time now, std::uint64_t count);
    // Returns the growth per second since the newest count that is at least `span` old, or else
    // since the first count. Returns 0 before the second add().
    double per_second() const;

private:
    struct Sample {
        ev::Time at;
        std::uint64_t count;
    };
    std::deque<Sample> samples_;
};

}  // namespace yodel
