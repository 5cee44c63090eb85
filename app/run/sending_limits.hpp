// Limits for queued bytes, and for messages and bytes in flight.
#pragma once

#include "ev/time.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace yodel {

// A peer counts as blocked if more bytes than this are queued for it.
inline constexpr std::size_t peer_high_water = 256 * 1024;

// Standard input is not read while more bytes than this are queued for the socket or for
// standard output. A higher limit would be no faster.
inline constexpr std::size_t input_high_water = 64 * 1024;

// Default window, in messages; short ones may exceed it up to the window in bytes. With half
// of this, a server on another processor is sometimes idle. With more, messages leave the
// caches.
inline constexpr std::size_t default_window = 64;
inline constexpr std::size_t default_window_bytes = 128 * 1024;

// Limits for bytes in flight on one connection, and on all. They are kept until the reply
// comes.
inline constexpr std::size_t max_bytes_in_flight = 8 * 1024 * 1024;
inline constexpr std::size_t max_total_bytes_in_flight = 256 * 1024 * 1024;

// Returns the limit for each connection. It allows at least one message of this size.
constexpr std::size_t max_bytes_per_connection(std::size_t connections, std::size_t size) {
    constexpr std::size_t min = 64 * 1024;
    return std::min(max_bytes_in_flight,
                    std::max(max_total_bytes_in_flight / connections, min + size));
}

// How long the first reply of a connection may still turn out to be a greeting. Nobody waits
// for that reply, so the time is longer than in other runs.
inline constexpr ev::Duration generated_greeting_time = std::chrono::seconds(2);

}  // namespace yodel
