// The limits of what waits and of what is in flight.
#pragma once

#include "ev/time.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace yodel {

// Bytes waiting for a peer, above which it is taken to take nothing.
inline constexpr std::size_t peer_high_water = 256 * 1024;

// Bytes waiting for the socket, or for the reader of our output, above which standard input is
// not read. More would be no faster.
inline constexpr std::size_t input_high_water = 64 * 1024;

// Messages in flight if no window was asked for, and bytes of shorter messages: half as many
// leave a server on another processor idle, more leave the caches.
inline constexpr std::size_t usual_window = 64;
inline constexpr std::size_t usual_window_bytes = 128 * 1024;

// Bytes in flight on one connection, and on all; each is kept to be compared with its reply.
inline constexpr std::size_t max_bytes_in_flight = 8 * 1024 * 1024;
inline constexpr std::size_t max_bytes_in_flight_of_all = 256 * 1024 * 1024;

// Returns how many of them each connection may have, and in any case one message of this size.
constexpr std::size_t max_bytes_of_each(std::size_t connections, std::size_t size) {
    constexpr std::size_t min = 64 * 1024;
    return std::min(max_bytes_in_flight,
                    std::max(max_bytes_in_flight_of_all / connections, min + size));
}

// For how long the first reply of a connection may turn out to be a greeting. Longer than where
// somebody waits for that reply: a greeting may come well before it.
inline constexpr ev::Duration generated_greeting_time = std::chrono::seconds(2);

}  // namespace yodel
