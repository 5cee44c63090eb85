// The signs and words on the screen, with their meanings. The page of keys (F1) prints them,
// and the manual page must contain them.
#pragma once

#include "ui/glyphs.hpp"

#include <span>

namespace yodel {

// Words that the status line uses like signs.
namespace status_word {

inline constexpr const char* held = "HELD";
inline constexpr const char* queued = "queued";  // after a number
inline constexpr const char* file = "FILE";
inline constexpr const char* key_log = "KEYLOG";
inline constexpr const char* unverified = "UNVERIFIED (-k)";
inline constexpr const char* duplicate = "duplicate";  // after a number
inline constexpr const char* reordered = "reordered";  // after a number

}  // namespace status_word

// Heights of a bar, the lowest first, and shades of a cell, the emptiest first. Bars are
// omitted if the locale's encoding is not UTF-8.
inline constexpr const char* bar_heights[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
inline constexpr ui::Glyph shades[] = {
    {" ", " "}, {"░", "."}, {"▒", ":"}, {"▓", "#"}, {"█", "@"}};

// A sign in both forms, and its meaning without a full stop.
struct Sign {
    ui::Glyph sign;
    const char* meaning;
};

struct SignGroup {
    const char* title;
    std::span<const Sign> signs;
};

// Returns all signs, in the order of their explanation.
std::span<const SignGroup> sign_groups();

}  // namespace yodel
