// The symbols on the screen: Unicode characters if the locale's encoding is UTF-8, else ASCII.
#pragma once

#include "ui/text.hpp"

#include <string>

namespace ui {

struct Glyph {
    const char* unicode;
    const char* ascii;

    // Returns the form for the current locale, which may change with setlocale().
    std::string text() const { return utf8_locale() ? unicode : ascii; }
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
}  // namespace ui
