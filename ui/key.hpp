// A key as it was pressed, or a paste.
#pragma once

#include <compare>
#include <string>

namespace ui {

enum class KeyCode {
    character,  // with its symbol
    enter,
    newline,  // ^J
    tab,
    backspace,
    del,
    up,
    down,
    left,
    right,
    home,
    end,
    page_up,
    page_down,
    f1,
    escape,
    paste,  // a bracketed paste
};

// What a key is bound by:
//
//     if (key.chord == ui::ctrl('c')) ...
//     std::map<ui::Chord, Action> bindings{{ui::alt('h'), ...}, {ui::alt(KeyCode::up), ...}};
struct Chord {
    KeyCode code = KeyCode::character;
    char32_t symbol = 0;  // of a character, 0 for all others; with ctrl in lower case
    bool alt = false;     // as a modifier, or as ESC typed before the key
    bool ctrl = false;

    auto operator<=>(const Chord&) const = default;
};

struct Key {
    Chord chord;
    std::string text;  // what a character or a paste would insert, as bytes; else empty
    bool cut = false;  // a paste beyond the limit: its rest was dropped

    bool operator==(const Key&) const = default;
};

constexpr Chord plain(KeyCode code) { return {code, 0, false, false}; }
constexpr Chord plain(char32_t symbol) { return {KeyCode::character, symbol, false, false}; }
constexpr Chord alt(KeyCode code) { return {code, 0, true, false}; }
constexpr Chord alt(char32_t symbol) { return {KeyCode::character, symbol, true, false}; }
constexpr Chord ctrl(KeyCode code) { return {code, 0, false, true}; }
constexpr Chord ctrl(char32_t symbol) { return {KeyCode::character, symbol, false, true}; }

}  // namespace ui
