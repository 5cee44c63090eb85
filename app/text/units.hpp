// Parses and formats what users write and read, such as escapes, durations, sizes and times. A
// parser accepts no surrounding spaces, and returns none for an invalid text.
#pragma once

#include "ev/time.hpp"
#include "ui/text.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace yodel {

// Formats like printf(), in the current locale. Cuts the text after 63 characters.
template <class... Arguments>
std::string format(const char* pattern, Arguments... arguments) {
    char text[64];
    std::snprintf(text, sizeof text, pattern, arguments...);
    return text;
}

inline std::string in_quotes(std::string_view text) { return '"' + std::string(text) + '"'; }

// Returns `head`, the beginning of a text of `size` bytes, in printable form. Cuts it after 64
// columns; "..." stands for the rest.
std::string excerpt(std::string_view head, std::size_t size);

// Replaces each of \n \r \t \0 \\ and \xNN by its byte. Returns none if anything else follows a
// backslash.
std::optional<std::string> unescaped(std::string_view text);

// Returns a text from which unescaped() restores the bytes.
std::string escaped(std::string_view bytes);

// Error text for a user if unescaped() fails.
inline constexpr const char* escapes_expected =
    "a backslash must be followed by n, r, t, 0, a backslash, or x and two hex digits";

// Parses a decimal number with the unit us, ms, s, m or h, by default s. Accepts at most a
// century; rounds to the nanosecond.
std::optional<ev::Duration> parse_duration(std::string_view text);
std::optional<double> parse_decimal(std::string_view text);  // finite, at least 0
// Parses a number from 0 to 1, or from 0% to 100%. Returns 0 to 1.
std::optional<double> parse_chance(std::string_view text);
inline bool is_number(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}
std::optional<std::uint64_t> parse_count(std::string_view text);
// Parses a whole number of bytes, perhaps with k, M or G (powers of 1024). The limit is a third
// of the range, so that the sum of two sizes does not overflow.
std::optional<std::size_t> parse_size(std::string_view text);
// Parses a decimal number with an optional suffix k, M or G (powers of 1000).
std::optional<double> parse_rate(std::string_view text);
// Parses a time in UTC from 1970 to 2200, such as 2026-12-01T10:00:00Z, perhaps with a fraction
// of a second.
std::optional<std::chrono::system_clock::time_point> parse_timestamp(std::string_view text);
// Parses a whole number between the bounds, inclusive.
std::optional<unsigned> parse_number(std::string_view text, unsigned min, unsigned max);

std::vector<std::string> comma_separated(std::string_view text);
std::string join(const std::vector<std::string>& list, const std::string& separator);

// Returns the local time by a pattern of strftime(), at most 63 characters.
std::string local_time_text(const char* pattern, std::chrono::system_clock::time_point at);
// Return local time: 12:04:31.208 and 2026-11-21 12:04:31.208
std::string clock_text(std::chrono::system_clock::time_point at);
std::string date_text(std::chrono::system_clock::time_point at, std::size_t decimals = 3);
// Returns UTC, for programs: 2026-11-21T11:04:31.208417Z
std::string timestamp_text(std::chrono::system_clock::time_point at);

// Returns milliseconds below a second, otherwise seconds: 250ms, 1.5s, 10s
std::string duration_text(ev::Duration duration);
// Returns a number with `digits` significant digits, without an exponent or trailing decimal
// zeros.
std::string significant_text(double value, int digits);
std::string count_text(std::uint64_t count, const std::string& thing);  // 1 day, 12 days
std::string bytes_text(std::uint64_t count);                            // 1 byte, 512 bytes
// Returns a number per second: 950/s, 41.5k/s, 1.2M/s
std::string rate_text(double rate, int digits = 3);
// Returns rounded milliseconds without the unit: 0.21, 1.2, 13, 131
std::string milliseconds_number(ev::Duration duration);
std::string milliseconds_text(ev::Duration duration);  // with the unit
// Divides a round trip into the network's part, at least `network`, and the service's part, at
// most the rest: 5.20ms = network ≥0.52 + service ≤4.68; in ASCII unless the locale is UTF-8.
std::string network_share_text(ev::Duration round_trip, ev::Duration network);

}  // namespace yodel
