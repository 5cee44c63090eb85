// Parses durations, sizes, numbers and times of day that users write, and formats them for
// users. The parsers take the whole text, without spaces around it, and return none if it is
// not valid.
#pragma once

#include "ev/time.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace yodel {

// Formats as printf does, in the C library's locale; cut after 63 characters.
template <class... Arguments>
std::string format(const char* pattern, Arguments... arguments) {
    char text[64];
    std::snprintf(text, sizeof text, pattern, arguments...);
    return text;
}

// Quotes words of a user or of a file in a sentence.
inline std::string in_quotes(std::string_view text) { return '"' + std::string(text) + '"'; }

// Returns the head of `size` bytes in printable form, cut after 64 columns; "..." stands for
// the rest.
std::string excerpt(std::string_view head, std::size_t size);

// Parses a number, fractions allowed, with one of the units us, ms, s, m, h; seconds without a
// unit. At most a century; rounded to the nanosecond.
std::optional<ev::Duration> parse_duration(std::string_view text);
// Parses a finite number that is not negative, fractions allowed.
std::optional<double> parse_decimal(std::string_view text);
// Parses a number from 0 to 1, or from 0% to 100%; returns it as 0 to 1.
std::optional<double> parse_chance(std::string_view text);
// Returns true if the text consists of digits.
inline bool is_number(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}
// Parses a whole number.
std::optional<std::uint64_t> parse_count(std::string_view text);
// Parses a whole number of bytes, with k, M or G (powers of 1024). The limit is a third of the
// range, so that the sum of two sizes does not overflow.
std::optional<std::size_t> parse_size(std::string_view text);
// Parses a number, fractions allowed, with k, M or G (powers of 1000).
std::optional<double> parse_rate(std::string_view text);
// Parses a time in UTC, from 1970 to 2200: 2026-12-01T10:00:00Z, also with a fraction of the
// seconds.
std::optional<std::chrono::system_clock::time_point> parse_timestamp(std::string_view text);
// Parses a whole number between the bounds, inclusive.
std::optional<unsigned> parse_number(std::string_view text, unsigned min, unsigned max);

// Splits a list at each comma.
std::vector<std::string> comma_separated(std::string_view text);
std::string joined(const std::vector<std::string>& list, const std::string& separator);

// Writes the local time by a pattern of strftime; at most 63 characters.
std::string local_time_text(const char* pattern, std::chrono::system_clock::time_point at);
// Local time: 12:04:31.208
std::string clock_text(std::chrono::system_clock::time_point at);
// Local time: 2026-11-21 12:04:31.208
std::string date_text(std::chrono::system_clock::time_point at);
// Local time: 2026-11-21 12:04:31.208417
std::string precise_date_text(std::chrono::system_clock::time_point at);
// UTC, for programs: 2026-11-21T11:04:31.208417Z
std::string timestamp_text(std::chrono::system_clock::time_point at);

// Writes milliseconds below a second and seconds above: 250ms, 1.5s, 10s
std::string duration_text(ev::Duration duration);
// Writes seconds without the unit, with milliseconds: 0.500
std::string seconds_text(std::chrono::duration<double> duration);
// Writes a number with `digits` significant digits and without an exponent. Zeros at the end of
// the decimals are left out.
std::string significant_text(double value, int digits);
// Writes a number of things: 1 day, 12 days
std::string count_text(std::uint64_t count, const std::string& thing);
// Writes a number of bytes: 1 byte, 512 bytes
std::string bytes_text(std::uint64_t count);
// Writes a number a second: 950/s, 41.5k/s, 1.2M/s
std::string rate_text(double rate, int digits = 3);
// Writes milliseconds without the unit, in two digits: 0.21, 1.2, 13
std::string milliseconds_text(ev::Duration duration);
std::string ms_text(ev::Duration duration);  // with the unit
// Divides a round trip into the parts of the network, which took at least `network`, and of the
// service: 5.2ms = network ≥0.01 + service ≤5.2; in ASCII if the encoding is not UTF-8.
std::string shares_text(ev::Duration round_trip, ev::Duration network);

}  // namespace yodel
