// The description of the terminal type, from the system's terminfo database.
#pragma once

#include <string>

namespace ui {

// The control sequence for a capability by its terminfo name ("cup", "sgr0", ...); empty if the
// terminal type does not have it. Needs a loaded description: that of a CursesCanvas.
std::string control_sequence(const char* capability);

// The reason why the type of the terminal (TERM) can't be used, in one sentence; empty if it
// can. Must not be called while a CursesCanvas exists.
std::string terminal_type_trouble();

// The name and the version of the curses library that this was compiled with, as in
// "ncurses 6.4.20221231".
std::string curses_library();

}  // namespace ui
