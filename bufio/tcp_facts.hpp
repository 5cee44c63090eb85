// What the system knows about a TCP connection: TCP_INFO of Linux and FreeBSD.
#pragma once

#include "ev/loop.hpp"

#include <cstdint>
#include <optional>

namespace bufio {

struct TcpFacts {
    // The smallest time from a segment to its acknowledgement; on Linux, in the last five
    // minutes. It is the least that the network takes for a round trip. The smoothed time that
    // the system also keeps says nothing about the network: where a reply carries the
    // acknowledgement, it holds the time of the service. None until the first segment is
    // acknowledged, and on FreeBSD, which gives no such time in a known unit.
    std::optional<ev::Duration> min_rtt;
    std::uint64_t retransmits = 0;  // our segments only
    std::uint64_t mss = 0;          // bytes of payload in a full segment
    std::uint64_t cwnd = 0;         // the congestion window, in segments
};

// Costs a system call. Returns none for a socket that is not TCP, or if the system reports no
// facts. May be called until the socket is closed, also after the connection has ended.
std::optional<TcpFacts> tcp_facts(int socket);

}  // namespace bufio
