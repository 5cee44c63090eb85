// The terminal on standard input and output, while the program controls it.
//
// The destructor, restore() and signals that end the process (CrashRestore in ui/tty.hpp)
// return the terminal to its original state. The caller must install its own signal handlers
// before construction.
//
// The flags of the standard descriptors never change, because other processes share them. If a
// terminal is stalled (stopped, or on a dead line), its output waits in memory. There is at
// most one Terminal at a time, used by one thread.
//
// Curses would block on a stalled terminal. So it draws into an unnamed file, from which this
// class takes the bytes.
#pragma once

#include "ui/frame.hpp"
#include "ui/key.hpp"
#include "ui/key_parser.hpp"
#include "ui/tty.hpp"

#include <termios.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct screen;  // SCREEN of <curses.h>, whose macros must not leak into other files

namespace ui {

class Terminal {
public:
    // Takes the terminal over. Throws std::runtime_error, with the text of terminal_trouble()
    // if there is any. Uses colors if the terminal has usable ones and NO_COLOR is not set.
    Terminal();
    ~Terminal();
    Terminal(const Terminal&) = delete;

    // Never waits. When the terminal is readable, call it until it returns none, because input
    // is buffered here.
    std::optional<Key> read_key();

    // Returns a delay if the rest of the input, such as ESC, may be a key or begin a sequence.
    // The delay is ESCDELAY in milliseconds, at most 1000, or else 25 ms; within a paste, two
    // seconds. If no input arrives within the delay, call expire_key(); read_key() then returns
    // the key, or the paste.
    std::optional<std::chrono::milliseconds> key_timeout() const;
    void expire_key() { parser_.expire(); }

    // True if the terminal hung up, could not be read, or refused its new settings. Then no
    // more keys arrive, and after a hang-up the terminal stays readable forever.
    bool is_gone() const { return is_gone_; }

    // Draws a frame; writes only the differences from the last frame, except after redraw().
    // Does nothing while the terminal is restored, gone, or has not accepted earlier output.
    void draw(const Frame& frame);

    // Continues to write pending output. Returns true if none is left.
    bool flush();

    int output_fd() const { return output_.fd; }  // to watch for writability; never changes

    // Asks the terminal to put a text into its clipboard (clipboard_sequence()). Returns the
    // reason why the text was not sent, or an empty string if it was sent. The terminal does
    // not answer, and its settings may forbid it.
    std::string copy_to_clipboard(std::string_view text);

    // Makes the next draw() write the whole screen, on which another program may have written.
    void redraw();

    // Reads the terminal's size and calls redraw(); call it after SIGWINCH. A size of 0 counts
    // as 24 rows or 80 columns. Rows and columns beyond 1000 are not used.
    void resize();
    Size size() const { return size_; }

    // Gives the terminal back. Waits less than half a second in all for a stalled terminal, and
    // discards output that it does not accept. May be called at any time.
    void restore();

    // Takes the terminal over again, reads its size, and makes the next draw() write the whole
    // screen. May be called at any time; call it after SIGCONT. Returns false if the terminal
    // belongs to another job. SIGTTOU then stops the process group, as for any use of the
    // terminal from the background; call take_over() again when the group is continued.
    bool take_over();

    // Restores the terminal, and stops the process group as ^Z does. The group is not stopped
    // if no shell could continue it, or if SIGTSTP is ignored. SIGCONT arrives in any case;
    // call take_over() then.
    void suspend();

private:
    // The terminal, opened a second time, so that this descriptor can be non-blocking without
    // changing the descriptors shared with other processes. Falls back to standard output.
    struct Output {
        Output();
        ~Output();
        Output(const Output&) = delete;

        int fd = STDOUT_FILENO;
    };

    using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

    explicit Terminal(const termios& found_settings);
    bool read_bytes();
    bool flush_in_time();
    std::string take_drawing();
    void leave_screen();

    const termios found_settings_;
    const Output output_;
    File drawing_file_{nullptr, std::fclose};  // the output of curses
    std::unique_ptr<screen, void (*)(screen*)> screen_;
    termios drawing_settings_{};  // raw input, no echo
    bool has_colors_ = false;
    ModeSequences modes_;
    std::optional<CrashRestore> crash_restore_;  // until restore()
    KeyParser parser_;
    std::string pending_output_;  // bytes that the terminal has not yet accepted
    Size size_;
    bool is_gone_ = false;
    bool is_restored_ = true;  // the terminal is not taken over
};

}  // namespace ui
