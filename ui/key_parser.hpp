// Finds the keys in the bytes that a terminal sends. The bytes may arrive in any pieces.
//
// The parser knows the keys of xterm, screen, tmux, rxvt, the Linux console and similar
// terminals. It also knows kitty's keyboard protocol, xterm's modifyOtherKeys and Windows'
// win32-input-mode. Another program may have left such a mode on. The parser skips any other
// sequence, such as an answer to a query, so that it does not count as typed text.
#pragma once

#include "ui/key.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace ui {

class KeyParser {
public:
    static constexpr std::size_t max_paste = 16 << 20;  // bytes; a longer paste is truncated

    void feed(std::string_view bytes);

    // Returns the next complete key, if any. After feed(), call it until it returns none.
    std::optional<Key> next();

    // True if the remaining bytes, such as ESC, may be a key or begin a sequence, and during a
    // paste. If no more bytes follow in time, call expire(): next() then takes the bytes for a
    // key, or ends the paste, whose end may have been lost.
    bool needs_timeout() const;
    bool is_in_paste() const { return is_in_paste_; }
    void expire() { is_expired_ = true; }

private:
    bool take_paste();

    std::string bytes_;        // not yet parsed
    std::string pasted_text_;  // the beginning of an incomplete paste
    bool is_in_paste_ = false;
    bool is_paste_truncated_ = false;  // the paste exceeded the limit
    bool is_expired_ = false;          // expire() was called after the last byte
};

}  // namespace ui
