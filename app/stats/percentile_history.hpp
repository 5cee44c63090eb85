// The round trips over time: two percentiles for each of the last periods.
#pragma once

#include "app/stats/histogram.hpp"
#include "ev/loop.hpp"

#include <chrono>
#include <cstddef>
#include <deque>

namespace yodel {

class PercentileHistory {
public:
    static constexpr ev::Duration period = std::chrono::seconds(10);
    static constexpr std::size_t max_periods = 60;  // kept

    struct Percentiles {
        std::deque<ev::Duration> p50;
        std::deque<ev::Duration> p95;
    };

    // Must be called in the order of time.
    void record(ev::Time now, ev::Duration round_trip);

    // Returns the percentiles of the periods that had round trips, the oldest period first. The
    // last one may be still running.
    Percentiles percentiles() const;

private:
    void append_current(Percentiles& to) const;

    Percentiles past_;
    Histogram current_;  // round trips of the running period
    ev::Time begin_{};   // of the running period
};

}  // namespace yodel
