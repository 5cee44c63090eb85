// The rate of a growing count over the last second. Pure: it reads no clock.
#pragma once

#include "ev/loop.hpp"

#include <chrono>
#include <cstdint>
#include <deque>

namespace yodel {

class RecentRate {
public:
    static constexpr ev::Duration span = std::chrono::seconds(1);

    // Notes the count at this time. Must be called in the order of time.
    void add(ev::Time now, std::uint64_t count);
    // Returns the growth a second, from the last count that is at least `span` old, or the
    // first one; 0 before the second call.
    double per_second() const;

private:
    struct Sample {
        ev::Time time;
        std::uint64_t count;
    };
    std::deque<Sample> samples_;
};

}  // namespace yodel
