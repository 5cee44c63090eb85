// Finds the keys in the bytes that a terminal sends. The bytes may arrive in any pieces.
//
// The parser knows the sequences and modifiers of the descendants of the VT100 (xterm, screen,
// tmux, the Linux console, rxvt), kitty's keyboard protocol and xterm's modifyOtherKeys, which
// another program may have left on. It skips every other sequence, such as an answer to a
// query, as a whole, so that no part of it counts as typed text. It reads nothing from the
// terminal.
#pragma once

#include "ui/key.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace ui {

class KeyParser {
public:
    static constexpr std::size_t max_paste = 16 << 20;  // bytes of a paste, which is one key

    void feed(std::string_view bytes);

    // Returns the next complete key, if any. After feed(), call it until it returns none.
    std::optional<Key> next();

    // True if the remaining bytes (for instance ESC) are a key unless more bytes follow
    // immediately. If none follow, call expire(), and next() returns that key.
    bool has_incomplete_key() const;
    void expire() { is_expired_ = true; }

private:
    bool take_paste();

    std::string bytes_;        // not yet parsed
    std::string pasted_text_;  // the beginning of an incomplete paste
    bool is_in_paste_ = false;
    bool is_paste_truncated_ = false;  // the paste exceeded the limit
    bool is_expired_ = false;          // no more bytes will follow
};

}  // namespace ui
