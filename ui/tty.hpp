// System calls on the process's terminal that several parts of ui need. Those that don't throw
// may be used in a signal handler.
#pragma once

#include <termios.h>

namespace ui {

// Returns the settings of the terminal on standard input. Throws std::system_error.
termios terminal_settings();

// Changes them, at once. Returns false, with errno set, if the terminal refuses it.
bool change_settings(const termios& settings);

// True if the terminal belongs to the process group of another job. A process that then writes
// to the terminal or changes its settings may be stopped by SIGTTOU.
bool in_background();

// Discards the output that the terminal has not yet taken, and resumes output that was stopped
// (as by ^S), so that the sequences which give the screen back can be written.
void discard_output(int fd);

}  // namespace ui
