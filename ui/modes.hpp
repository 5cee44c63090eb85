// What a terminal can do that its description does not contain: the modes for bracketed paste,
// the wheel and synchronised frames, and the clipboard.
//
// A terminal ignores the switch of a mode that it does not know, if it knows the form: CSI ?
// number h. Two capabilities show that it does. If the cursor is placed by a sequence of
// this family (cup begins with CSI), switches alone are sent, and only those that are of use
// without a second screen. If the second screen is itself such a mode (smcup has CSI ?), as
// with xterm and all that follow it, tmux and screen, everything is sent. So the Linux console
// and a VT100 get the switch of bracketed paste and nothing else.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ui {

// All are empty if the terminal must not receive them.
struct Modes {
    // Remembers the modes that give_back restores. Send it before our own modes are set, or
    // they would be restored instead of the original ones.
    std::string remember;
    // Bracketed paste on. The wheel sends no arrow keys, as it does on a second screen: they
    // would scroll the lines that were sent before into the input line.
    std::string take;
    // Undoes all of these modes, in whatever state the terminal is: also within a frame, and
    // after a sequence that was cut.
    std::string give_back;
    // The mouse is reported, in the form of SGR, whose reports are never mistaken for text.
    std::string mouse_on;
    std::string mouse_off;
    // Around a frame: the terminal shows it at once, as a whole.
    std::string frame_begin;
    std::string frame_end;

    // The terminal takes sequences that carry text, as for the clipboard, without showing them.
    bool takes_strings() const { return !frame_begin.empty(); }
};

// `cup` and `smcup` are capabilities from the terminal's description; empty: it has none.
Modes modes_for(std::string_view cup, std::string_view smcup);

// Terminals ignore a longer text: the whole sequence is at most 100,000 bytes, in base64.
constexpr std::size_t longest_copy = 74'991;  // bytes

// The sequence (OSC 52) that puts a text into the clipboard. The text is made printable: it has
// no control character, not even a newline, so that a shell into which it is pasted waits for
// Enter. Empty: the printable text is longer than longest_copy.
std::string clipboard_sequence(std::string_view text);

}  // namespace ui
