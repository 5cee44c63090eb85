// The numbers of messages by outcome, and their round trips.
#pragma once

#include "app/stats/batches.hpp"
#include "app/stats/datagram_counts.hpp"
#include "app/stats/histogram.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace yodel {

struct Tally {
    std::uint64_t sent = 0;
    std::uint64_t echoed = 0;
    std::uint64_t bad = 0;
    std::uint64_t lost = 0;
    std::uint64_t late = 0;         // echoed or bad, but after the reply timeout
    std::uint64_t unsent = 0;       // due by their planned times, but the run ended before
    std::uint64_t unsolicited = 0;  // messages from the server that answer nothing
    Histogram round_trips;
    Batches batches;                          // of the same round trips, in their order
    std::optional<DatagramCounts> datagrams;  // where messages are datagrams

    // Counts a reply. A late one is taken off the lost messages, where it was counted before.
    // There is no round trip if the connection was interrupted in between.
    void answered(bool right, bool was_late, std::optional<ev::Duration> round_trip);
    // Counts right replies that came together, and their round trip.
    void echoed_together(std::uint64_t count, std::optional<ev::Duration> round_trip);
    // Adds the tally of another part of the same run.
    void add(const Tally& other);

    std::string counts() const;  // "120 sent, 120 echoed, 0 bad, 0 lost"
    // "; rtt min/p50/p95/p99/max 0.08/…/3.1 ms", empty if nothing was timed: the end of a
    // summary
    std::string times() const;
    // "120 sent, 120 echoed, 0 bad, 0 lost; rtt min/p50/p95/p99/max 0.08/…/3.1 ms"
    std::string summary() const;
    // "120 sent, 119 echoed, 0 bad, 0 lost, p50 0.21 ms": while it goes on
    std::string progress() const;

private:
    void record(ev::Duration round_trip, std::uint64_t times);
};

}  // namespace yodel
