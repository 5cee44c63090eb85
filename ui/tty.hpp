// The settings and the owner of the process's terminal, and its description in the terminfo
// database.
#pragma once

#include <termios.h>

#include <string>

namespace ui {

// Returns the settings of the terminal on standard input. Throws std::system_error.
termios terminal_settings();

// Changes the settings at once. Returns false, with errno set, on failure. May be called in a
// signal handler.
bool change_settings(const termios& settings);

// True if the terminal belongs to another job's process group. Writing to the terminal or
// changing its settings may then stop the process by SIGTTOU. May be called in a signal
// handler.
bool in_background();

// Discards pending output of the terminal and resumes stopped output (for example after ^S),
// so that the sequences that restore the screen can be written. May be called in a signal
// handler.
void discard_output(int fd);

// Returns the control sequence of a capability by its terminfo name ("cup", "sgr0", ...);
// empty if the terminal lacks it. Needs a terminfo entry loaded by a CursesCanvas.
std::string control_sequence(const char* capability);

// Returns the reason why the terminal type (TERM) can't be used, in one sentence; empty if it
// can. Must not be called while a CursesCanvas exists.
std::string terminal_type_trouble();

}  // namespace ui
