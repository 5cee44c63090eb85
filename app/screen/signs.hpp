// The signs that are drawn where the locale has them, and what stands for them elsewhere.
#pragma once

#include "ui/text.hpp"

#include <string>

namespace yodel {

struct Sign {
    const char* unicode;
    const char* ascii;
    std::string text() const { return ui::utf8_locale() ? unicode : ascii; }
};

inline constexpr Sign sign_sent{"›", ">"};
inline constexpr Sign sign_received{"‹", "<"};
inline constexpr Sign sign_unasked{"«", "<<"};
inline constexpr Sign sign_right{"✓", "ok"};
inline constexpr Sign sign_wrong{"✗", "x"};
inline constexpr Sign sign_up{"●", "*"};
inline constexpr Sign sign_down{"○", "-"};
inline constexpr Sign sign_bar{"│", "|"};
inline constexpr Sign sign_out{"↑", "^"};
inline constexpr Sign sign_in{"↓", "v"};
inline constexpr Sign sign_open{"…", "~"};
inline constexpr Sign sign_becomes{"→", ">"};

}  // namespace yodel
