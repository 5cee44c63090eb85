// What the system knows of the TCP connections of a run, each at its end.
#pragma once

#include "ev/loop.hpp"

#include <cstdint>
#include <optional>

namespace yodel {

struct TcpTotals {
    std::optional<ev::Duration> min_rtt = {};  // the smallest of all connections
    std::uint64_t retransmits = 0;             // of all connections together
    std::uint64_t mss = 0;                     // bytes; the smallest of all connections
    std::uint64_t cwnd = 0;                    // segments; the smallest of all connections

    void add(const TcpTotals& other);

    bool operator==(const TcpTotals&) const = default;
};

}  // namespace yodel
