// The limits that the senders of messages share, on one connection or on many.
#pragma once

#include "ev/loop.hpp"

#include <chrono>
#include <cstddef>

namespace yodel {

// Bytes waiting for a peer, above which it is taken to take nothing.
inline constexpr std::size_t peer_high_water = 256 * 1024;

// Bytes waiting for the reader of our output, above which no more replies are looked at.
inline constexpr std::size_t output_high_water = 256 * 1024;

// Bytes waiting for the socket, or for the reader of our output, above which standard input is
// not read. More would be no faster.
inline constexpr std::size_t input_high_water = 64 * 1024;

// Messages in flight, where no window was asked for.
inline constexpr std::size_t usual_window = 64;

// Bytes that await their replies on one connection, each kept to be compared with its reply.
inline constexpr std::size_t most_bytes_in_flight = 8 * 1024 * 1024;

// For how long the first reply of a connection may turn out to be a greeting. Longer than where
// somebody waits for that reply: a greeting may come well before it.
inline constexpr ev::Duration generated_greeting_time = std::chrono::seconds(2);

}  // namespace yodel
