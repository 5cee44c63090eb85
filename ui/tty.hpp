// What the system knows about the terminal of the process: its settings and its owner, and the
// description of its type in the terminfo database.
#pragma once

#include <termios.h>

#include <string>

namespace ui {

// Returns the settings of the terminal on standard input. Throws std::system_error.
termios terminal_settings();

// Changes them, at once. Returns false, with errno set, if the terminal refuses it. May be
// called in a signal handler.
bool change_settings(const termios& settings);

// True if the terminal belongs to the process group of another job. A process that then writes
// to the terminal or changes its settings may be stopped by SIGTTOU. May be called in a signal
// handler.
bool in_background();

// Discards the output that the terminal has not yet taken, and resumes output that was stopped
// (as by ^S), so that the sequences which give the screen back can be written. May be called in
// a signal handler.
void discard_output(int fd);

// Returns the control sequence for a capability by its terminfo name ("cup", "sgr0", ...);
// empty if the terminal type does not have it. Needs a loaded description, as a CursesCanvas
// loads it.
std::string control_sequence(const char* capability);

// The reason why the type of the terminal (TERM) can't be used, in one sentence; empty if it
// can. Must not be called while a CursesCanvas exists.
std::string terminal_type_trouble();

// The name and the version of the curses library that this was compiled with, as in
// "ncurses 6.4.20221231".
std::string curses_library();

}  // namespace ui
