// Durations, sizes and numbers as people write them.
#pragma once

#include "ev/loop.hpp"

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

namespace yodel {

// As printf has it, up to 63 characters.
template <class... Arguments>
std::string format(const char* pattern, Arguments... arguments) {
    char text[64];
    std::snprintf(text, sizeof text, pattern, arguments...);
    return text;
}

// A number, fractions allowed, with us, ms, s, m or h; alone it means seconds. Rounded to the
// nanosecond.
std::optional<ev::Duration> parse_duration(std::string_view text);
// A number from 0 to 1, or from 0% to 100%.
std::optional<double> parse_chance(std::string_view text);
// A whole number of bytes, with k, M or G (powers of 1024). None is so large that the sum of
// two overflows.
std::optional<std::size_t> parse_size(std::string_view text);
std::optional<unsigned> parse_number(std::string_view text, unsigned least, unsigned most);

std::string clock_text(std::chrono::system_clock::time_point at);  // 12:04:31.208, local time
std::string date_text(std::chrono::system_clock::time_point at);   // 2026-11-21 and the clock
// For programs, in UTC: 2026-11-21T11:04:31.208417Z
std::string timestamp_text(std::chrono::system_clock::time_point at);
std::string duration_text(ev::Duration duration);      // 250ms, 1.5s, 10s
std::string milliseconds_text(ev::Duration duration);  // 0.21, 1.2, 13: two digits and no unit

}  // namespace yodel
