// Parses the bytes that a terminal sends into keys, in whatever pieces they arrive.
//
// The parser knows the sequences of the terminals that descend from the VT100 (xterm, screen,
// tmux, the Linux console, rxvt) and their modifiers. It skips unknown sequences as a whole, so
// that no part of them counts as typed text. Pure: it reads nothing itself.
#pragma once

#include "ui/key.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace ui {

class KeyParser {
public:
    // A paste is one key, with at most `paste_limit` bytes of text.
    explicit KeyParser(std::size_t paste_limit = 16 << 20);

    // Adds bytes that were read from the terminal, and copies them.
    void feed(std::string_view bytes);

    // Returns the next complete key; none if there is none. Call it until then after feed().
    std::optional<Key> next();

    // True if the remaining bytes are a key (ESC, for instance) unless more bytes follow at
    // once. If none follow, call expire(), and next() returns that key.
    bool waiting() const;
    void expire() { expired_ = true; }

private:
    bool take_paste();

    std::string bytes_;   // not yet parsed
    std::string pasted_;  // the beginning of a paste whose end has not come
    std::size_t paste_limit_;
    bool in_paste_ = false;
    bool cut_ = false;      // the paste exceeded the limit
    bool expired_ = false;  // nothing will follow bytes_
};

}  // namespace ui
