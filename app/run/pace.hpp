// An even spread of messages, or of other happenings, over time, computed to the nanosecond for
// each of them by itself, so that it does not drift however long a run lasts.
#pragma once

#include "ev/time.hpp"

#include <cstdint>

namespace yodel {

class Pace {
public:
    // The number of messages, at least 1, in each span of time, which is longer than zero.
    Pace(std::uint64_t messages, ev::Duration span) : messages_(messages), span_(span) {}
    // A number a second, in thousandths, at least 1.
    static Pace per_second(std::uint64_t thousandths);

    // Returns how long after the first message the one with this number, from 0, is planned.
    ev::Duration offset(std::uint64_t number) const;
    double rate() const;  // messages a second

private:
    std::uint64_t messages_;
    ev::Duration span_;
};

}  // namespace yodel
