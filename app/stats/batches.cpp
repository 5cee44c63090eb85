#include "app/stats/batches.hpp"

#include <algorithm>
#include <cmath>

namespace yodel {

namespace {

// Fewer batches than this say nothing about how much they vary.
constexpr std::size_t fewest = 8;

}  // namespace

void Batches::record(ev::Duration round_trip, std::uint64_t times) {
    if (used_ == 0 || batches_[used_ - 1].count >= size_) begin_batch();
    Batch& current = batches_[used_ - 1];
    current.counts[bucket(round_trip)] += static_cast<std::uint32_t>(times);
    current.count += times;
    current.sum += static_cast<double>(round_trip.count()) * static_cast<double>(times);
}

void Batches::add(const Batches& other) {
    if (used_ == 0) {
        *this = other;
        return;
    }
    for (std::size_t i = 0; i < other.used_; ++i)
        batches_[i * used_ / other.used_].add(other.batches_[i]);
    size_ += other.size_;
}

// `deviation` is that of a batch from the whole, `variance` that of a single round trip. Each
// batch counts by its size, because the last one is smaller, and so are those of some threads.
template <class Deviation>
double Batches::factor(Deviation deviation, double variance) const {
    if (variance <= 0) return 1;
    double squares = 0;
    for (std::size_t i = 0; i < used_; ++i) {
        const double off = deviation(batches_[i]);
        squares += static_cast<double>(batches_[i].count) * off * off;
    }
    return std::max(1.0, squares / static_cast<double>(used_ - 1) / variance);
}

double Batches::variance_factor(double percent) const {
    if (used_ < fewest) return 1;
    const Batch all = whole();
    const std::size_t boundary = nearest_boundary(all, percent);
    const double part =
        static_cast<double>(all.count_above(boundary)) / static_cast<double>(all.count);
    return factor(
        [&](const Batch& batch) {
            const auto above = static_cast<double>(batch.count_above(boundary));
            return above / static_cast<double>(batch.count) - part;
        },
        part * (1 - part));
}

double Batches::variance_factor_of_mean() const {
    if (used_ < fewest) return 1;
    const Batch all = whole();
    const double mean = all.sum / static_cast<double>(all.count);
    const double variance = all.variance();
    return factor(
        [&](const Batch& batch) { return batch.sum / static_cast<double>(batch.count) - mean; },
        variance);
}

void Batches::Batch::add(const Batch& other) {
    for (std::size_t i = 0; i < buckets; ++i) counts[i] += other.counts[i];
    count += other.count;
    sum += other.sum;
}

std::uint64_t Batches::Batch::count_above(std::size_t bucket) const {
    std::uint64_t above = 0;
    for (std::size_t i = bucket + 1; i < buckets; ++i) above += counts[i];
    return above;
}

// From the upper ends of the buckets.
double Batches::Batch::variance() const {
    double squares = 0;
    for (std::size_t i = 0; i < buckets; ++i) {
        const double off = static_cast<double>(Layout::upper_end(lowest + i)) -
                           sum / static_cast<double>(count);
        squares += counts[i] * off * off;
    }
    return squares / static_cast<double>(count);
}

std::size_t Batches::bucket(ev::Duration round_trip) {
    const auto time = static_cast<std::uint64_t>(std::max<std::int64_t>(round_trip.count(), 0));
    const std::size_t found = Layout::index(time);
    return std::clamp(found, lowest, lowest + buckets - 1) - lowest;
}

void Batches::begin_batch() {
    if (used_ == most) halve();
    batches_[used_] = {};
    ++used_;
}

void Batches::halve() {
    for (std::size_t i = 0; i < most / 2; ++i) {
        batches_[i] = batches_[2 * i];
        batches_[i].add(batches_[2 * i + 1]);
    }
    used_ = most / 2;
    size_ *= 2;
}

Batches::Batch Batches::whole() const {
    Batch all;
    for (std::size_t i = 0; i < used_; ++i) all.add(batches_[i]);
    return all;
}

// Returns the bucket above which the fraction of round trips is nearest to that which the
// percentile leaves.
std::size_t Batches::nearest_boundary(const Batch& all, double percent) const {
    const double wanted = percent / 100 * static_cast<double>(all.count);
    double seen = 0;
    for (std::size_t i = 0; i < buckets; ++i) {
        const double before = seen;
        seen += all.counts[i];
        if (seen < wanted) continue;
        return i > 0 && wanted - before < seen - wanted ? i - 1 : i;
    }
    return buckets - 1;
}

}  // namespace yodel
