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
    // The interarrival jitter of RFC 3550, 6.4.1: a mean, in nanoseconds, of the difference
    // between the transit times of two replies that follow each other, each with a sixteenth of
    // the weight. A transit is the way there and back.
    double jitter = 0;
    std::uint64_t timed = 0;  // transits

    // Counts a reply, in the order in which they come. The transit is the time from when its
    // message was written, whenever it was planned for; none where that is not known.
    void answered(bool came_out_of_order, std::optional<ev::Duration> transit);
    // Adds those of another part of the same run; the jitter becomes the mean.
    void add(const DatagramCounts& other);
    ev::Duration jitter_time() const;
    std::string counts() const;  // "1 twice, 3 out of order"

private:
    void record(ev::Duration transit);

    ev::Duration last_{};  // transit
};

}  // namespace yodel
