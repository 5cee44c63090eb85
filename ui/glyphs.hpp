// The symbols that the screen draws: a Unicode character if the locale's encoding is UTF-8, and
// ASCII characters in every other locale.
#pragma once

#include "ui/text.hpp"

#include <string>

namespace ui {

struct Glyph {
    const char* unicode;
    const char* ascii;

    // The form for the current locale; it may change with setlocale().
    std::string text() const { return utf8_locale() ? unicode : ascii; }
};

namespace glyph {

inline constexpr Glyph sent{"›", ">"};  // in front of a message
inline constexpr Glyph received{"‹", "<"};
inline constexpr Glyph unsolicited{"«", "<<"};
inline constexpr Glyph lost{"?", "?"};
inline constexpr Glyph note{"-", "-"};
inline constexpr Glyph match{"✓", "ok"};
inline constexpr Glyph mismatch{"✗", "x"};
inline constexpr Glyph connected{"●", "*"};
inline constexpr Glyph disconnected{"○", "-"};
inline constexpr Glyph separator{"│", "|"};
inline constexpr Glyph outgoing{"↑", "^"};  // counters
inline constexpr Glyph incoming{"↓", "v"};
inline constexpr Glyph in_flight{"…", "~"};
inline constexpr Glyph becomes{"→", ">"};
inline constexpr Glyph resent{"↻", "resent"};  // a segment of it, by the system
inline constexpr Glyph ellipsis{"…", "..."};   // the rest is not shown
inline constexpr Glyph block{"█", "#"};        // one column of a bar

}  // namespace glyph
}  // namespace ui
