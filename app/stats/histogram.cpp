#include "app/stats/histogram.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace yodel {

void Histogram::record(ev::Duration duration, std::uint64_t times) {
    duration = std::max(duration, ev::Duration::zero());
    min_ = count_ == 0 ? duration : std::min(min_, duration);
    max_ = std::max(max_, duration);
    counts_[bucket(static_cast<std::uint64_t>(duration.count()))] += times;
    count_ += times;
}

ev::Duration Histogram::percentile(double percent) const {
    const double rank = std::max(percent / 100 * static_cast<double>(count_), 1.0);
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < buckets; ++i) {
        seen += counts_[i];
        if (static_cast<double>(seen) >= rank)
            return std::clamp(ev::Duration(upper_end(i)), min_, max_);
    }
    return {};
}

std::uint64_t Histogram::count_below(ev::Duration duration) const {
    const auto end =
        bucket(static_cast<std::uint64_t>(std::max<std::int64_t>(duration.count(), 0)));
    return std::accumulate(counts_.begin(), counts_.begin() + static_cast<std::ptrdiff_t>(end),
                           std::uint64_t{0});
}

// The lowest 2^(steps_log + 1) buckets hold one nanosecond each. Above, the highest
// steps_log + 1 bits of the value select the bucket.
std::size_t Histogram::bucket(std::uint64_t nanoseconds) {
    const auto width = static_cast<unsigned>(std::bit_width(nanoseconds));
    const unsigned shift = std::max(width, steps_log + 1) - steps_log - 1;
    return (std::size_t{shift} << steps_log) + static_cast<std::size_t>(nanoseconds >> shift);
}

std::uint64_t Histogram::upper_end(std::size_t bucket) {
    if (bucket < (std::size_t{2} << steps_log)) return bucket;
    const std::size_t shift = (bucket >> steps_log) - 1;
    const std::size_t mantissa = bucket - (shift << steps_log);
    return ((mantissa + 1) << shift) - 1;
}

}  // namespace yodel
