// A table of keys and their actions on an object. It also contains their help.
#pragma once

#include "ui/key.hpp"

#include <cstddef>
#include <vector>

namespace ui {

// One key and its action. The first binding of a group contains the help for the group.
template <class Object>
struct Binding {
    Chord chord;
    void (*action)(Object& object);
    const char* keys = nullptr;  // "^A ^E"
    const char* help = nullptr;
};

// Performs the action of the key. Returns false if the key is not bound.
template <class Object, std::size_t count>
bool perform(const Binding<Object> (&bindings)[count], const Chord& chord, Object& object) {
    for (const Binding<Object>& each : bindings) {
        if (each.chord != chord) continue;
        each.action(object);
        return true;
    }
    return false;
}

// A row of a page of keys.
struct KeyHelp {
    const char* keys;
    const char* help;
    // The chords of `keys`, and others with the same or the opposite effect.
    std::vector<Chord> chords;
};

// Returns the help in the order of the bindings. Omits bindings before the first help.
template <class Object, std::size_t count>
std::vector<KeyHelp> help_for(const Binding<Object> (&bindings)[count]) {
    std::vector<KeyHelp> rows;
    for (const Binding<Object>& each : bindings) {
        if (each.help) rows.push_back({each.keys, each.help, {}});
        if (!rows.empty()) rows.back().chords.push_back(each.chord);
    }
    return rows;
}

}  // namespace ui
