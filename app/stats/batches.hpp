// How much the round trips of one part of a run differ from those of another.
//
// Round trips that follow each other resemble each other: a service that is slow now is often
// still slow a moment later. The percentiles of such a run vary more from run to run than those
// of as many independent round trips. How much more is estimated by the method of batch means
// (Conway 1963; for quantiles Schmeiser 1982): the run is cut into 16 to 32 successive batches,
// and the variance between batches is compared with that of independent round trips.
//
// Memory is bounded (105 KiB): when 32 batches are full, each two neighbours become one.
// Recording allocates nothing.
#pragma once

#include "app/stats/buckets.hpp"
#include "ev/loop.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace yodel {

class Batches {
public:
    void record(ev::Duration round_trip, std::uint64_t times = 1);
    // Adds the batches of another thread of the same run, the two runs taken as simultaneous.
    void add(const Batches& other);

    // Returns how many times greater the variance of the fraction of round trips above this
    // percentile is than that of independent round trips; at least 1.
    double variance_factor(double percent) const;
    // Returns the same for the mean.
    double variance_factor_of_mean() const;
    bool empty() const { return used_ == 0; }

private:
    static constexpr std::size_t most = 32;
    // Round trips from 2^10 ns (1 us) to 2^36 ns (69 s); those outside count as the nearest.
    using Layout = Buckets<5>;
    static constexpr std::size_t lowest = Layout::index(std::uint64_t{1} << 10);
    static constexpr std::size_t buckets = Layout::index(std::uint64_t{1} << 36) - lowest;

    struct Batch {
        std::array<std::uint32_t, buckets> counts{};
        std::uint64_t count = 0;
        double sum = 0;  // ns

        void add(const Batch& other);
        std::uint64_t count_above(std::size_t bucket) const;
        double variance() const;
    };

    static std::size_t bucket(ev::Duration round_trip);
    void begin_batch();
    void halve();
    Batch whole() const;
    template <class Deviation>
    double factor(Deviation deviation, double variance) const;
    std::size_t nearest_boundary(const Batch& all, double percent) const;

    std::array<Batch, most> batches_{};
    std::size_t used_ = 0;
    std::uint64_t size_ = 1;  // of a full batch, in round trips
};

}  // namespace yodel
