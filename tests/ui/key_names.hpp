// Names of keys, such as ctrl-c.
#pragma once

#include "ui/key.hpp"
#include "ui/text.hpp"

#include <string>

namespace test {

// Adds the text after a colon if it is not the character.
inline std::string name(const ui::Key& key) {
    static constexpr const char* names[] = {
        "",      "enter", "tab", "backspace", "del",       "up", "down",   "left",
        "right", "home",  "end", "page-up",   "page-down", "f1", "f2",     "f3",
        "f4",    "f5",    "f6",  "f7",        "f8",        "f9", "escape", "paste"};
    std::string character;
    if (key.chord.code == ui::KeyCode::character)
        ui::append_utf8(character, key.chord.code_point);
    std::string text = key.chord.has_alt ? "alt-" : "";
    if (key.chord.has_ctrl) text += "ctrl-";
    text += names[static_cast<int>(key.chord.code)] + character;
    if (key.text != (key.chord.has_ctrl ? "" : character)) text += ':' + key.text;
    return key.is_truncated ? text + " truncated" : text;
}

}  // namespace test
