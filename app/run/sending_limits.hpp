// Limits of queued bytes, and of messages and bytes in flight.
#pragma once

#include "ev/time.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace yodel {

// Queued bytes above which a peer counts as blocked.
inline constexpr std::size_t peer_high_water = 256 * 1024;

// Bytes queued for the socket above which standard input is not read, and bytes queued for
// standard output above which the connections are not read. A higher limit is no faster.
inline constexpr std::size_t input_high_water = 64 * 1024;

// Default window in messages. Short messages may exceed it, up to the window in bytes. With
// half the window, a server on another processor is sometimes idle; with a larger window,
// messages no longer fit into the caches.
inline constexpr std::size_t default_window = 64;
inline constexpr std::size_t default_window_bytes = 128 * 1024;

// Maximum bytes in flight on one connection, and on all together. Messages in flight are
// buffered until their replies come.
inline constexpr std::size_t max_bytes_in_flight = 8 * 1024 * 1024;
inline constexpr std::size_t max_total_bytes_in_flight = 256 * 1024 * 1024;

// Returns the limit per connection, which allows at least one message of this size.
constexpr std::size_t max_bytes_per_connection(std::size_t connections, std::size_t size) {
    constexpr std::size_t min = 64 * 1024;
    return std::min(max_bytes_in_flight,
                    std::max(max_total_bytes_in_flight / connections, min + size));
}

// Time in which the first reply of a connection may turn out to be a greeting. It is longer
// than in other runs, because nobody waits for the reply.
inline constexpr ev::Duration generated_greeting_time = std::chrono::seconds(2);

}  // namespace yodel
