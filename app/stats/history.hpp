// Records the last minutes of a run: percentiles of round trips, and the rate of a growing
// count. Pure: reads no clock.
#pragma once

#include "app/stats/histogram.hpp"
#include "ev/time.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>

namespace yodel {

// Two percentiles of the round trips in each of the last periods.
class PercentileHistory {
public:
    static constexpr ev::Duration period = std::chrono::seconds(10);
    static constexpr std::size_t max_periods = 60;

    struct Percentiles {
        std::deque<ev::Duration> p50;
        std::deque<ev::Duration> p95;
    };

    // Times must not decrease from call to call.
    void record(ev::Time now, ev::Duration round_trip);

    // Returns the percentiles of the periods with round trips, oldest first. The last period
    // may be incomplete.
    Percentiles percentiles() const;

private:
    void append_current(Percentiles& to) const;

    Percentiles past_;
    Histogram current_;  // round trips of the current period
    ev::Time begin_{};   // start of the current period
};

// The rate of a growing count over the last second.
class RecentRate {
public:
    static constexpr ev::Duration span = std::chrono::seconds(1);

    // Records the count at this time. Times must not decrease from call to call.
    void add(ev::Time now, std::uint64_t count);
    // Returns the growth per second since the newest count that is at least `span` old, or else
    // since the first count; 0 before the second add().
    double per_second() const;

private:
    struct Sample {
        ev::Time time;
        std::uint64_t count;
    };
    std::deque<Sample> samples_;
};

}  // namespace yodel
