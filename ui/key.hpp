// A key press or a paste.
#pragma once

#include <compare>
#include <string>

namespace ui {

enum class KeyCode {
    character,  // see Chord::symbol
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

// The part of a key that bindings compare:
//
//     if (key.chord == ui::ctrl('c')) ...
//     std::map<ui::Chord, Action> bindings{{ui::alt('h'), ...}, {ui::alt(KeyCode::up), ...}};
struct Chord {
    KeyCode code = KeyCode::character;
    char32_t symbol = 0;  // a character's code point (lower case with ctrl); else 0
    bool alt = false;     // a modifier of the key, or ESC typed before it
    bool ctrl = false;

    auto operator<=>(const Chord&) const = default;
};

struct Key {
    Chord chord;
    std::string text;  // the bytes that a character or a paste inserts; else empty
    bool cut = false;  // a paste exceeded the limit and was cut

    bool operator==(const Key&) const = default;
};

constexpr Chord plain(KeyCode code) { return {code, 0, false, false}; }
constexpr Chord plain(char32_t symbol) { return {KeyCode::character, symbol, false, false}; }
constexpr Chord alt(KeyCode code) { return {code, 0, true, false}; }
constexpr Chord alt(char32_t symbol) { return {KeyCode::character, symbol, true, false}; }
constexpr Chord ctrl(KeyCode code) { return {code, 0, false, true}; }
constexpr Chord ctrl(char32_t symbol) { return {KeyCode::character, symbol, false, true}; }

}  // namespace ui
