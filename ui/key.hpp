// A key press or a paste.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <span>
#include <string>

namespace ui {

enum class KeyCode {
    character,  // see Chord::code_point
    enter,
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
    f2,
    f3,
    f4,
    f5,
    f6,
    f7,
    f8,
    f9,
    escape,
    paste,  // a bracketed paste
};

// The part of a key that bindings compare:
//
//     if (key.chord == ui::ctrl('c')) ...
//     std::map<ui::Chord, Action> bindings{{ui::alt('h'), ...}, {ui::alt(KeyCode::up), ...}};
struct Chord {
    KeyCode code = KeyCode::character;
    char32_t code_point = 0;  // of a character; a to z for A to Z with Ctrl or Alt
    bool has_alt = false;     // by a modifier of the key, or by ESC before it
    bool has_ctrl = false;

    auto operator<=>(const Chord&) const = default;
};

struct Key {
    Chord chord;
    std::string text;           // bytes of a paste or of a character without Ctrl; else empty
    bool is_truncated = false;  // a paste exceeded KeyParser::max_paste

    bool operator==(const Key&) const = default;
};

// Adds Alt to a key. A to Z become a to z, so that Shift and Caps Lock do not matter.
inline Key add_alt(Key key) {
    char32_t& c = key.chord.code_point;
    if (c >= U'A' && c <= U'Z') c |= 0x20;
    key.chord.has_alt = true;
    return key;
}

// Returns the chord without Alt, which an Esc shortly before the key also sets.
constexpr Chord without_alt(Chord chord) {
    chord.has_alt = false;
    return chord;
}

constexpr Chord plain(KeyCode code) { return {code, 0, false, false}; }
constexpr Chord plain(char32_t c) { return {KeyCode::character, c, false, false}; }
constexpr Chord alt(KeyCode code) { return {code, 0, true, false}; }
constexpr Chord alt(char32_t c) { return {KeyCode::character, c, true, false}; }
constexpr Chord ctrl(KeyCode code) { return {code, 0, false, true}; }
constexpr Chord ctrl(char32_t c) { return {KeyCode::character, c, false, true}; }

// Keys with the same action on an object. The first of several related bindings contains the
// help for all of them.
template <class Object>
struct Binding {
    std::array<Chord, 4> chords;  // unused places are empty
    void (*action)(Object& object);
    const char* key_names = nullptr;  // shown beside the help, as "^A ^E"
    const char* help = nullptr;
    const char* bar_text = nullptr;  // in the key bar
};

// Makes the chords of a binding.
constexpr std::array<Chord, 4> keys(auto... chords) { return {chords...}; }

// Performs the action of the first binding with this key. Returns false if there is none.
template <class Object>
bool perform(std::span<const Binding<Object>> bindings, const Chord& chord, Object& object) {
    for (const Binding<Object>& each : bindings) {
        if (std::find(each.chords.begin(), each.chords.end(), chord) == each.chords.end())
            continue;
        each.action(object);
        return true;
    }
    return false;
}

}  // namespace ui
