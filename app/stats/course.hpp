// How the round trips went over time: two percentiles of each period, the last ones kept.
#pragma once

#include "app/stats/histogram.hpp"
#include "ev/loop.hpp"

#include <chrono>
#include <cstddef>
#include <deque>

namespace yodel {

class Course {
public:
    static constexpr ev::Duration period = std::chrono::seconds(10);
    static constexpr std::size_t most = 60;  // periods kept

    struct Percentiles {
        std::deque<ev::Duration> p50;
        std::deque<ev::Duration> p95;
    };

    // In the order of time.
    void record(ev::Time now, ev::Duration round_trip);

    // Of the periods in which there was any round trip, the one under way included.
    Percentiles percentiles() const;

private:
    void put(Percentiles& to) const;

    Percentiles past_;
    Histogram times_;  // of the period under way
    ev::Time begin_{};
};

}  // namespace yodel
