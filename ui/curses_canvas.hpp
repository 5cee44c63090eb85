// Curses, drawing into memory instead of onto the terminal.
//
// Curses writes until everything is written, so it would block on a terminal that takes
// nothing. Therefore its output is a file in memory; the caller takes the bytes from there and
// writes them to the terminal when the terminal is ready for them.
#pragma once

#include "ui/frame.hpp"

#include <termios.h>

#include <cstdio>
#include <memory>
#include <string>

struct screen;  // SCREEN of <curses.h>, whose macros must not get into other files

namespace ui {

class CursesCanvas {
public:
    // Starts curses for the terminal on standard input and output, whose type must be usable
    // (terminal_type_trouble()). The settings and the screen of the terminal stay as they are.
    // Throws std::runtime_error if curses refuses, std::system_error if there can't be a file
    // or the terminal does not tell its settings.
    explicit CursesCanvas(bool with_colors);
    CursesCanvas(const CursesCanvas&) = delete;
    CursesCanvas& operator=(const CursesCanvas&) = delete;

    // The terminal settings to use while the program draws: raw input, no echo.
    const termios& settings() const { return settings_; }

    // The following only produce output(), which take_output() fetches.

    // Draws a frame on a screen of `size`; only changes since the last frame are written.
    void draw(const Frame& frame, Size size);
    // Makes the next draw() write everything.
    void redraw();
    // Sets the size of the screen; the next draw() writes everything.
    void resize(Size size);
    // Leaves the screen: resets the cursor and the attributes for a shell.
    void end();

    // The bytes that curses has written since the last call.
    std::string take_output();

private:
    void start();

    using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
    using Screen = std::unique_ptr<screen, void (*)(screen*)>;

    File file_;  // curses's output
    Screen screen_;
    termios settings_{};
    bool colors_ = false;
};

}  // namespace ui
