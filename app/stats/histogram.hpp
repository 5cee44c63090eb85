// A histogram of durations, after HdrHistogram: the width of its buckets grows with the value,
// so that its memory is bounded and a percentile is wrong by at most 1 part in 32, however many
// durations are recorded.
#pragma once

#include "ev/loop.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace yodel {

class Histogram {
public:
    // A negative duration counts as zero.
    void record(ev::Duration duration, std::uint64_t times = 1);
    std::uint64_t count() const { return count_; }
    // These two are exact; 0 while nothing is recorded.
    ev::Duration min() const { return min_; }
    ev::Duration max() const { return max_; }
    // Returns the duration that `percent` (0 to 100) of all recorded durations do not exceed; 0
    // while nothing is recorded.
    ev::Duration percentile(double percent) const;
    // Returns the number of durations in the buckets below that of this duration.
    std::uint64_t count_below(ev::Duration duration) const;

private:
    // The range from each power of two nanoseconds to the next has 2^steps_log buckets.
    static constexpr unsigned steps_log = 5;
    static constexpr std::size_t buckets = (64 - steps_log) << steps_log;

    static std::size_t bucket(std::uint64_t nanoseconds);
    static std::uint64_t upper_end(std::size_t bucket);

    std::array<std::uint64_t, buckets> counts_{};
    std::uint64_t count_ = 0;
    ev::Duration min_{};
    ev::Duration max_{};
};

}  // namespace yodel
