#include "app/stats/histogram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace yodel {

namespace {

// Adds a duration several times. The sum saturates.
void add_to(ev::Duration& sum, ev::Duration duration, std::uint64_t times) {
    ev::Duration::rep product = 0;
    ev::Duration::rep total = 0;
    const bool is_too_large = __builtin_mul_overflow(duration.count(), times, &product) ||
                              __builtin_add_overflow(sum.count(), product, &total);
    sum = is_too_large ? ev::Duration::max() : ev::Duration(total);
}

// Returns the rank of a percentile, rounded up. Computes in integers, because in floating point
// 99.9 % of 5000 is not exactly 4995.
std::uint64_t rank_of(double percent, std::uint64_t count) {
    constexpr std::uint64_t whole = 1'000'000'000;
    const auto parts = static_cast<std::uint64_t>(std::llrint(percent / 100 * whole));
    const std::uint64_t rank =
        count / whole * parts + (count % whole * parts + whole - 1) / whole;
    return std::max<std::uint64_t>(rank, 1);
}

}  // namespace

std::size_t Histogram::bucket_index(ev::Duration duration) {
    const auto nanoseconds =
        static_cast<std::uint64_t>(std::max<std::int64_t>(duration.count(), 0));
    const auto shift =
        static_cast<std::size_t>(std::bit_width(nanoseconds / (2 * buckets_per_octave)));
    return shift * buckets_per_octave + static_cast<std::size_t>(nanoseconds >> shift);
}

ev::Duration Histogram::upper_end(std::size_t bucket) {
    const std::size_t shift = std::max<std::size_t>(bucket / buckets_per_octave, 1) - 1;
    const std::uint64_t next = (bucket - shift * buckets_per_octave + 1) << shift;
    return ev::Duration(static_cast<std::int64_t>(next - 1));
}

void Histogram::record(ev::Duration duration, std::uint64_t times) {
    if (times == 0) return;
    duration = std::max(duration, ev::Duration::zero());
    min_ = count_ == 0 ? duration : std::min(min_, duration);
    max_ = std::max(max_, duration);
    add_count(bucket_index(duration), times);
    count_ += times;
    add_to(sum_, duration, times);
}

void Histogram::add(const Histogram& other) {
    if (other.count_ == 0) return;
    min_ = count_ == 0 ? other.min_ : std::min(min_, other.min_);
    max_ = std::max(max_, other.max_);
    count_ += other.count_;
    add_to(sum_, other.sum_, 1);
    for (std::size_t i = bucket_index(other.min_); i <= bucket_index(other.max_); ++i)
        if (other.count_in(i) > 0) add_count(i, other.count_in(i));
}

Histogram Histogram::since(const Histogram& earlier) const {
    Histogram made;
    for (std::size_t i = bucket_index(min_); i <= bucket_index(max_); ++i)
        made.record(std::min(upper_end(i), max_), count_in(i) - earlier.count_in(i));
    return made;
}

ev::Duration Histogram::mean() const {
    if (count_ == 0) return {};
    const auto sum = static_cast<std::uint64_t>(sum_.count());
    const std::uint64_t rest = sum % count_;
    return ev::Duration(sum / count_ + (rest >= count_ - rest ? 1 : 0));
}

ev::Duration Histogram::percentile(double percent) const {
    if (count_ == 0) return {};
    const std::uint64_t rank = rank_of(percent, count_);
    std::uint64_t seen = 0;
    for (std::size_t i = bucket_index(min_); i <= bucket_index(max_); ++i) {
        seen += count_in(i);
        if (seen >= rank) return std::clamp(upper_end(i), min_, max_);
    }
    return max_;
}

std::vector<Histogram::Bucket> Histogram::buckets() const {
    std::vector<Bucket> filled;
    for (std::size_t i = bucket_index(min_); count_ > 0 && i <= bucket_index(max_); ++i)
        if (count_in(i) > 0) filled.push_back({upper_end(i), count_in(i)});
    return filled;
}

void Histogram::add_count(std::size_t bucket, std::uint64_t count) {
    std::vector<std::uint64_t>& counts = octaves_[bucket / buckets_per_octave];
    if (counts.empty()) counts.resize(buckets_per_octave);
    counts[bucket % buckets_per_octave] += count;
}

// --- The last minutes.

void PercentileHistory::record(ev::Time now, ev::Duration round_trip) {
    const bool is_over = now - began_at_ >= period;
    if (is_over) began_at_ = now;
    if (is_over || periods_.empty()) periods_.emplace_back();
    periods_.back().record(round_trip);
    if (periods_.size() > max_periods) periods_.pop_front();
}

std::deque<ev::Duration> PercentileHistory::percentiles(double percent) const {
    std::deque<ev::Duration> all;
    for (const Histogram& each : periods_) all.push_back(each.percentile(percent));
    return all;
}

void RecentRate::add(ev::Time now, std::uint64_t count) {
    samples_.push_back({now, count});
    while (samples_.size() > 2 && now - samples_[1].at >= span) samples_.pop_front();
}

double RecentRate::per_second() const {
    if (samples_.size() < 2) return 0;
    const Sample& first = samples_.front();
    const Sample& last = samples_.back();
    const double seconds = std::chrono::duration<double>(last.at - first.at).count();
    return seconds > 0 ? static_cast<double>(last.count - first.count) / seconds : 0;
}

}  // namespace yodel
