// What datagrams can meet beside being lost: they come twice, they overtake each other, and the
// times that they take vary.
#pragma once

#include "ev/loop.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace yodel {

struct DatagramCounts {
    std::uint64_t twice = 0;         // replies that had come before
    std::uint64_t out_of_order = 0;  // replies that came after those to later messages
    // The interarrival jitter of RFC 3550, 6.4.1, of round trips: a mean, in nanoseconds, of
    // the difference between two that follow each other, each with a sixteenth of the weight.
    double jitter = 0;
    std::uint64_t timed = 0;  // round trips

    // To be called in the order in which replies come.
    void record(ev::Duration round_trip);
    // Adds those of another part of the same run; the jitter becomes the mean.
    void add(const DatagramCounts& other);
    ev::Duration jitter_time() const;
    std::string counts() const;  // "1 twice, 3 out of order"

private:
    ev::Duration last_{};  // round trip
};

}  // namespace yodel
