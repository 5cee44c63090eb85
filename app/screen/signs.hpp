// The signs and words on the screen, with their meanings. The page of keys (F1) prints them,
// and the manual page must contain them.
#pragma once

#include "ui/text.hpp"

#include <span>
#include <string>

namespace yodel {

// A symbol: a Unicode character if the locale's encoding is UTF-8, else ASCII.
struct Glyph {
    const char* unicode;
    const char* ascii;

    // Returns the form for the current locale, which may change with setlocale().
    std::string text() const { return ui::utf8_locale() ? unicode : ascii; }
};

namespace glyph {

inline constexpr Glyph sent{"›", ">"};  // in front of a message
inline constexpr Glyph received{"‹", "<"};
inline constexpr Glyph unsolicited{"«", "<<"};
inline constexpr Glyph lost{"?", "?"};
inline constexpr Glyph note{"-", "-"};
inline constexpr Glyph right{"✓", "ok"};
inline constexpr Glyph bad{"✗", "x"};
inline constexpr Glyph connected{"●", "*"};
inline constexpr Glyph disconnected{"○", "-"};
inline constexpr Glyph separator{"│", "|"};
inline constexpr Glyph outgoing{"↑", "^"};  // after a counter
inline constexpr Glyph incoming{"↓", "v"};
inline constexpr Glyph in_flight{"…", "~"};
inline constexpr Glyph arrow{"→", ">"};
inline constexpr Glyph ellipsis{"…", "..."};  // the rest is not shown
inline constexpr Glyph block{"█", "#"};       // one column of a bar

}  // namespace glyph

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
inline constexpr Glyph shades[] = {{" ", " "}, {"░", "."}, {"▒", ":"}, {"▓", "#"}, {"█", "@"}};

// A sign in both forms, and its meaning without a full stop.
struct Sign {
    Glyph sign;
    const char* meaning;
};

struct SignGroup {
    const char* title;
    std::span<const Sign> signs;
};

// Returns all signs, in the order of their explanation.
std::span<const SignGroup> sign_groups();

}  // namespace yodel
