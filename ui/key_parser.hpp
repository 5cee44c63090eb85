// Keys out of the bytes that a terminal sends, however these are cut.
//
// It knows the sequences of the terminals that descend from the VT100 (xterm, screen, tmux, the
// Linux console, rxvt) and their modifiers; sequences that it does not know are swallowed
// whole, never taken for typing.
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

    void feed(std::string_view bytes);

    // The next key that is complete.
    std::optional<Key> next();

    // Whether what was fed so far is a key, ESC for one, unless more follows at once. If it
    // does not, call expire() and next() returns that key.
    bool waiting() const;
    void expire() { expired_ = true; }

private:
    bool take_paste();

    std::string bytes_;   // fed and not yet used
    std::string pasted_;  // of the paste under way
    std::size_t paste_limit_;
    bool in_paste_ = false;
    bool cut_ = false;      // the paste under way passed its limit
    bool expired_ = false;  // no more will follow what was fed
};

}  // namespace ui
