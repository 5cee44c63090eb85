// The signs and words on the screen, with their meanings. The key page (F1) prints them, and
// the manual page must contain them.
#pragma once

#include "ui/text.hpp"

#include <initializer_list>
#include <string>

namespace yodel {

// A symbol: a Unicode character if the locale's encoding is UTF-8, else ASCII.
struct Glyph {
    const char* unicode;
    const char* ascii = unicode;

    // Returns the form for the current locale, which may change with setlocale().
    std::string text() const { return ui::is_utf8_locale() ? unicode : ascii; }
};

namespace glyph {

inline constexpr Glyph sent{"›", ">"};  // in front of a message
inline constexpr Glyph received{"‹", "<"};
inline constexpr Glyph unsolicited{"«", "<<"};
inline constexpr Glyph lost{"?"};
inline constexpr Glyph note{"-"};
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

// Heights of a sparkline's bars, the lowest first, and shades of a cell, the emptiest first.
// Sparklines are omitted if the locale's encoding is not UTF-8.
inline constexpr const char* bar_heights[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
inline constexpr Glyph shades[] = {{" ", " "}, {"░", "."}, {"▒", ":"}, {"▓", "#"}, {"█", "@"}};

// A sign in both forms, and its meaning without a full stop.
struct Sign {
    Glyph sign;
    const char* meaning;
};

struct SignGroup {
    const char* title;
    std::initializer_list<Sign> signs;
};

// All signs, in the order of the key page.
inline constexpr SignGroup sign_groups[] = {
    {"Counters",
     {{glyph::outgoing, "messages sent"},
      {glyph::incoming, "right replies or, with -l, messages from clients"},
      {glyph::in_flight, "messages in flight, waiting for a reply"},
      {glyph::bad, "bad replies"},
      {glyph::lost, "lost messages: given up, and still without a reply"},
      {glyph::unsolicited, "unsolicited messages, such as a greeting"}}},
    {"Messages on the screen",
     {{glyph::sent, "a message, and when it was sent"},
      {glyph::received, "its reply, and the round-trip time"},
      {glyph::right, "the reply is right"},
      {glyph::bad, "the reply is bad; its first bad byte, if known, is marked"},
      {glyph::arrow, "between the expected and the received byte"},
      {glyph::lost, "no reply; the words after the message give the reason"},
      {glyph::note, "a note from yodel"},
      {glyph::ellipsis, "the message is truncated; its full length follows"}}},
    {"Datagram counters",
     {{{status_word::duplicate}, "duplicate replies"},
      {{status_word::reordered}, "replies received after the reply to a later message"}}},
    {"Rest of the status line",
     {{glyph::connected, "connected"},
      {glyph::disconnected, "not connected; the words after it give the state"},
      {glyph::right, "the certificate is verified, and valid for N more days"},
      {glyph::separator, "separates the connection, the counters and the times"},
      {{"▁▄█", ""}, "recent round trips, relative to the longest one"},
      {{status_word::unverified}, "the certificate has faults, but -k accepts it"},
      {{status_word::held}, "the view is held; N newer entries are below it"},
      {{status_word::queued}, "messages to be sent once connected"},
      {{status_word::file}, "a transcript or recording is being written"},
      {{status_word::key_log}, "TLS secrets are being written to SSLKEYLOGFILE"}}},
    {"Statistics",
     {{glyph::block, "round trips up to this time, but longer than that of the row above"},
      {{"░▒▓█", ".:#@"}, "this cell's share of the round trips in its column"}}},
};

}  // namespace yodel
