// Terminal features that terminfo does not describe: the modes for bracketed paste, the wheel
// and synchronized output, and the clipboard.
//
// A terminal ignores an unknown mode if it knows the form of the sequence (CSI ? number h). Two
// capabilities reveal whether it does. If cup begins with CSI, only the mode switches that are
// useful without an alternate screen are sent. If smcup contains CSI ?, as for xterm, its
// descendants, tmux and screen, everything is sent. So the Linux console and a VT100 get only
// the switch for bracketed paste.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ui {

// A sequence is empty if the terminal must not receive it.
struct ModeSequences {
    // Saves the mode of the mouse wheel for `restore`. Send it before `enable`, because
    // otherwise it would save our own mode.
    std::string save;
    // Turns bracketed paste on. Also stops the mouse wheel from sending arrow keys, its default
    // on the alternate screen, because they would put older lines into the input line.
    std::string enable;
    // Restores all of these modes in any state of the terminal, even within a frame or after a
    // truncated sequence.
    std::string restore;
    // Enclose a frame in synchronized output, so that the terminal shows it as a whole.
    std::string frame_begin;
    std::string frame_end;

    // True if the terminal accepts sequences that contain text, such as for the clipboard,
    // without showing the text.
    bool can_hide_text() const { return !frame_begin.empty(); }
};

// `cup` and `smcup` are terminfo capabilities; empty: the terminal lacks the capability.
ModeSequences mode_sequences_for(std::string_view cup, std::string_view smcup);

// The longest text for the clipboard. Terminals ignore a sequence of more than 100,000 bytes,
// and the text is sent in base64.
constexpr std::size_t max_clipboard_text = 74'991;  // bytes

// Returns the sequence (OSC 52) that puts a text into the clipboard. The text is made
// printable. It contains no control characters, not even newlines, so that a shell into which
// it is pasted waits for Enter. Returns an empty text if the printable text is longer than
// max_clipboard_text.
std::string clipboard_sequence(std::string_view text);

}  // namespace ui
