// Makes curses draw into memory instead of onto the terminal.
//
// Curses itself would block on a stalled terminal. So its output goes to a file in memory. The
// caller takes the bytes from there and writes them when the terminal is ready.
#pragma once

#include "ui/frame.hpp"

#include <termios.h>

#include <cstdio>
#include <memory>
#include <string>

struct screen;  // SCREEN of <curses.h>, whose macros must not leak into other files

namespace ui {

class CursesCanvas {
public:
    // Starts curses for the terminal on standard input and output, whose type must be usable
    // (terminal_trouble()). Does not change the terminal's settings or screen. Throws
    // std::runtime_error.
    explicit CursesCanvas(bool with_colors);
    CursesCanvas(const CursesCanvas&) = delete;

    // The terminal settings to use while the program draws: raw input, no echo.
    const termios& settings() const { return settings_; }

    // The following functions only produce output for take_output().

    // Draws a frame on a screen of `size`; writes only the changes since the last frame.
    void draw(const Frame& frame, Size size);
    // Both make the next draw() write the whole screen.
    void redraw();
    void resize(Size size);
    // Leaves the screen: resets the cursor and the attributes for a shell.
    void end();

    std::string take_output();

private:
    using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
    using Screen = std::unique_ptr<screen, void (*)(screen*)>;

    File file_;  // curses's output
    Screen screen_;
    termios settings_{};
    bool colors_ = false;
};

}  // namespace ui
