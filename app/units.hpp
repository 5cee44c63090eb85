// Durations, sizes and numbers as people write them.
#pragma once

#include "ev/loop.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace yodel {

// A number, fractions allowed, with ms, s, m or h; alone it means seconds.
std::optional<ev::Duration> parse_duration(std::string_view text);
// A whole number of bytes, with k, M or G (powers of 1024).
std::optional<std::size_t> parse_size(std::string_view text);
std::optional<unsigned> parse_number(std::string_view text, unsigned least, unsigned most);

std::string duration_text(ev::Duration duration);      // 250ms, 1.5s, 10s
std::string milliseconds_text(ev::Duration duration);  // 0.21, 1.2, 13: two digits and no unit

}  // namespace yodel
