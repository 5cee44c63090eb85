// The buckets of a histogram of durations, after HdrHistogram: the range from each power of two
// nanoseconds to the next is divided into 2^steps_log buckets of equal width, so that a bucket
// is never wider than 1 part in 2^steps_log of the durations in it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace yodel {

template <unsigned steps_log>
struct Buckets {
    // Enough for every duration, the longest of which is 2^63 - 1 ns.
    static constexpr std::size_t count = (64 - steps_log) << steps_log;

    // The lowest 2^(steps_log + 1) buckets hold one nanosecond each. Above, the highest
    // steps_log + 1 bits of the value select the bucket.
    static constexpr std::size_t index(std::uint64_t nanoseconds) {
        const auto width = static_cast<unsigned>(std::bit_width(nanoseconds));
        const unsigned shift = std::max(width, steps_log + 1) - steps_log - 1;
        return (std::size_t{shift} << steps_log) +
               static_cast<std::size_t>(nanoseconds >> shift);
    }

    // Returns the longest duration that the bucket holds, in nanoseconds.
    static constexpr std::uint64_t upper_end(std::size_t bucket) {
        if (bucket < (std::size_t{2} << steps_log)) return bucket;
        const std::size_t shift = (bucket >> steps_log) - 1;
        const std::uint64_t mantissa = bucket - (shift << steps_log);
        return ((mantissa + 1) << shift) - 1;
    }
};

}  // namespace yodel
