// The system's facts about a TCP connection: TCP_INFO of Linux.
#pragma once

#include "ev/loop.hpp"

#include <cstdint>
#include <optional>

namespace bufio {

struct TcpFacts {
    // The shortest time from a segment to its acknowledgement in the last five minutes. The
    // system's smoothed time is no substitute, because it includes the service's time if the
    // reply carries the acknowledgement.
    std::optional<ev::Duration> min_rtt;
    std::uint64_t retransmits = 0;  // our segments only
    std::uint64_t mss = 0;          // bytes of payload in a full segment
    std::uint64_t cwnd = 0;         // the congestion window, in segments
};

// Makes a system call. None for a socket that is not TCP, or if the system reports no facts.
std::optional<TcpFacts> tcp_facts(int socket);

}  // namespace bufio
