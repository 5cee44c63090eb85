// Durations counted in buckets whose width grows with the value, after HdrHistogram: bounded
// memory, and a percentile that is wrong by at most 1 part in 32, however many are recorded.
#pragma once

#include "ev/loop.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace yodel {

class Histogram {
public:
    void record(ev::Duration duration, std::uint64_t times = 1);
    std::uint64_t count() const { return count_; }
    ev::Duration min() const { return min_; }
    ev::Duration max() const { return max_; }
    // The duration that `percent` of all recorded do not exceed; 0 if there are none.
    ev::Duration percentile(double percent) const;
    // How many are below the duration, which is counted as the beginning of its bucket.
    std::uint64_t count_below(ev::Duration duration) const;

private:
    // Each power of two of nanoseconds is cut into this many buckets of equal width.
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
