// The part of the network in the round trips.
#pragma once

#include "app/stats/histogram.hpp"
#include "ev/loop.hpp"

#include <optional>
#include <string>

namespace yodel {

// Returns a clause of the summary, "; p50 0.21ms = network ≥0.01 + service ≤0.20". `network`:
// the smallest round trip of the network. Returns "" where that is not known, or nothing was
// timed.
std::string network_remark(const Histogram& round_trips, std::optional<ev::Duration> network);

}  // namespace yodel
