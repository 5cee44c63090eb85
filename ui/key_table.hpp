// A table of keys and their actions on an object. It also contains their help.
#pragma once

#include "ui/key.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace ui {

// Keys and their action. The first binding of a group contains the help for the group.
template <class Object>
struct Binding {
    std::array<Chord, 4> chords;  // unused places are empty
    void (*action)(Object& object);
    const char* keys = nullptr;  // "^A ^E"
    const char* help = nullptr;
};

// Returns the keys of a binding.
constexpr std::array<Chord, 4> keys(auto... chords) { return {chords...}; }

// Performs the action of the key. Returns false if the key is not bound.
template <class Object, std::size_t count>
bool perform(const Binding<Object> (&bindings)[count], const Chord& chord, Object& object) {
    for (const Binding<Object>& each : bindings) {
        if (std::find(each.chords.begin(), each.chords.end(), chord) == each.chords.end())
            continue;
        each.action(object);
        return true;
    }
    return false;
}

// A row of the page that lists the keys.
struct KeyHelp {
    const char* keys;
    const char* help;
    // The chords of the binding, and of the bindings without help that follow it.
    std::vector<Chord> chords;
};

// Returns the help in the order of the bindings. Omits any bindings before the first one with a
// help text.
template <class Object, std::size_t count>
std::vector<KeyHelp> help_for(const Binding<Object> (&bindings)[count]) {
    std::vector<KeyHelp> rows;
    for (const Binding<Object>& each : bindings) {
        if (each.help) rows.push_back({each.keys, each.help, {}});
        for (const Chord& chord : each.chords)
            if (!rows.empty() && chord != Chord()) rows.back().chords.push_back(chord);
    }
    return rows;
}

}  // namespace ui
