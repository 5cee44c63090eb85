// The process's terminal: its settings, its description in the terminfo database, the modes
// that terminfo does not describe, and its restoration after a crash.
#pragma once

#include <termios.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace ui {

// Returns the settings of the terminal on standard input. Throws std::system_error.
termios terminal_settings();

// The next two may be called in a signal handler. change_settings() does not wait for pending
// output, and returns false, with errno set, on failure.
bool change_settings(const termios& settings);

// Discards pending output of the terminal and resumes stopped output (for example after ^S),
// so that the sequences that restore the screen can be written.
void discard_output(int fd);

// Returns the control sequence of a capability by its terminfo name ("cup", "sgr0", ...), or an
// empty string if the terminal lacks it. Curses must have read the terminal's description.
std::string control_sequence(const char* capability);

// Returns the reason why the terminal can't be taken over, in one sentence, or an empty string
// if none is found. Does not change the terminal. Call it only while no Terminal exists.
std::string terminal_trouble();

// Sequences that terminfo does not describe: the modes for bracketed paste, the wheel and
// synchronized output.
//
// A terminal ignores an unknown mode if it knows the form of the sequence (CSI ? number h). Two
// capabilities reveal whether a terminal knows the form. If cup does not begin with CSI,
// nothing is sent. Otherwise the switch for bracketed paste is sent, as to the Linux console
// and a VT100. If smcup also contains CSI ?, as for xterm, its descendants, tmux and screen,
// everything is sent. A sequence is empty if the terminal must not receive it.
struct ModeSequences {
    std::string saving;  // saves the wheel's mode, for `restoring`; send it before `enabling`
    // Turns bracketed paste on. Also stops the mouse wheel from sending arrow keys, as it does
    // by default on the alternate screen: arrow keys would put older lines into the input line.
    std::string enabling;
    // Restores the modes. If frames are enclosed, it may be sent in any state of the terminal,
    // even within a frame or after a truncated sequence.
    std::string restoring;
    // Enclose a frame in synchronized output, so that the terminal shows it as a whole.
    std::string frame_begin;
    std::string frame_end;

    // True if the terminal never shows the text within a sequence, such as that of
    // clipboard_sequence().
    bool can_hide_text() const { return !frame_begin.empty(); }
};

// `cup` and `smcup` are terminfo capabilities, empty if the terminal lacks them.
ModeSequences mode_sequences_for(std::string_view cup, std::string_view smcup);

// The longest text for the clipboard. It is sent in base64, and some terminals ignore a
// sequence of more than 100,000 bytes.
constexpr std::size_t max_clipboard_text = 74'991;  // bytes

// Returns the sequence (OSC 52) that puts the printable text into the clipboard, or an empty
// string if it is longer than max_clipboard_text. The text contains no newlines, so that a
// shell into which it is pasted waits for Enter.
std::string clipboard_sequence(std::string_view text);

// Restores the terminal when a signal or exit() ends the process.
//
// While a CrashRestore exists, exit() restores the terminal, and so does every signal except
// SIGKILL that would end the process. The faults SIGABRT, SIGSEGV, SIGBUS, SIGFPE and SIGILL do
// so even if the caller handles them. The signal handler then reinstates the previous actions
// and raises the signal again. There is at most one instance at a time, because the handler
// takes no pointer to it.
class CrashRestore {
public:
    // On a crash, writes `sequences` to the descriptor `output` and, in the foreground, applies
    // `settings` to the terminal on standard input. Copies at most 256 bytes of the sequences.
    CrashRestore(int output, const termios& settings, std::string_view sequences);
    ~CrashRestore();
    CrashRestore(const CrashRestore&) = delete;
    CrashRestore& operator=(const CrashRestore&) = delete;

    // Restores the terminal as on a crash, without allocating memory.
    void restore();
};

}  // namespace ui
