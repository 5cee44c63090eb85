// The terminal of the process, standard input and output, while it belongs to the program.
//
//     std::setlocale(LC_ALL, "");
//     ui::Terminal terminal;
//     ev::Timer escape(loop, [&] { terminal.expire_key(); read_keys(); });
//     ev::Watch keyboard(loop, STDIN_FILENO, ev::readable, [&](ev::Events) { read_keys(); });
//     void read_keys() {
//         while (auto key = terminal.read_key()) ...
//         if (terminal.key_incomplete()) escape.start(terminal.escape_delay());
//         if (terminal.gone()) loop.stop();
//     }
//     ev::Watch display(loop, terminal.output(), ev::none, [&](ev::Events) { draw(); });
//     void draw() {
//         if (terminal.flush()) terminal.draw(...);
//         display.want(terminal.flush() ? ev::none : ev::writable);
//     }
//     ev::Signal winch(loop, SIGWINCH, [&] { terminal.resize(); ... draw ... });
//     ev::Signal cont(loop, SIGCONT, [&] { terminal.take_over(); ... draw ... });
//
// The terminal is as it was found after the destructor, after restore(), and after every signal
// that ends the process by default, which then takes its way. Signals that are ignored stay
// so, and those that the caller has handlers for before the constructor are the caller's, but
// for faults (SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL): the caller's handlers run after the
// terminal was given back. No handler is left behind. The flags of the descriptors are never
// changed. A terminal that takes nothing (stopped, or at the end of a dead line) blocks
// nobody: what is drawn waits. There is one Terminal at a time, used by one thread.
#pragma once

#include "ui/frame.hpp"
#include "ui/key.hpp"
#include "ui/key_parser.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace ui {

struct Size {
    int rows = 24;
    int columns = 80;

    bool operator==(const Size&) const = default;
};

enum class Color {
    automatic,  // if the terminal has colors and NO_COLOR is not set
    always,     // if the terminal has colors
    never,
};

// Why the terminal can't be taken over, in one sentence: standard input or output is no
// terminal, its type (TERM) is not known, or it can't place its cursor. Empty if it can.
// Changes nothing of the terminal. Not while there is a Terminal.
std::string terminal_trouble();

class Terminal {
public:
    // Takes the terminal over. Throws std::runtime_error with terminal_trouble(), if there is
    // any.
    explicit Terminal(Color color = Color::automatic);
    ~Terminal();
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    // The next key, if one was pressed. Never waits. When the terminal is readable, call it
    // until it returns none: a part of the input is kept here.
    std::optional<Key> read_key();

    // Whether an ESC was read that may be a key or the beginning of one. If nothing follows for
    // the delay (ESCDELAY, else 25 ms), call expire_key() and read_key() returns it.
    bool key_incomplete() const { return parser_.waiting(); }
    std::chrono::milliseconds escape_delay() const;
    void expire_key() { parser_.expire(); }

    // Whether the terminal hung up: from then on it is readable for ever and has no keys.
    bool gone() const { return gone_; }

    // Shows a frame; only what differs from the last one is written. Nothing while left, or
    // while the terminal has yet to take the last frame.
    void draw(const Frame& frame);

    // Writes on, where the terminal did not take all at once. True: it has all.
    bool flush();

    // The descriptor that is writable when the terminal takes more.
    int output() const;

    // Lets the next draw() write everything: another program may have written over the screen.
    void redraw();

    // Reads the terminal's size and returns it; to be called after SIGWINCH. 0 counts as 80
    // columns, or 24 rows; beyond 1000 of either nothing is drawn.
    Size resize();
    Size size() const { return size_; }

    // Gives the terminal back, and takes it over again: with its size read anew and everything
    // written by the next draw(). Either may be called at any time; take_over() also after
    // SIGCONT, when others may have changed the terminal in between. A terminal that takes
    // nothing is waited for, for less than half a second; what it has not taken by then it does
    // not get.
    void restore();
    // False where another job has the terminal: it stops the process group, as all do that
    // touch the terminal then, and is to be called again once that is continued.
    bool take_over();

    // Leaves, and stops the process group as ^Z does, or does not where nobody could continue
    // it. SIGCONT is raised in any case, after which to take_over().
    void suspend();

private:
    struct Screen;

    bool read_bytes();
    void put(std::string_view bytes) { pending_ += bytes; }
    void take_curses_output();
    bool write_out();

    std::unique_ptr<Screen> screen_;
    KeyParser parser_;
    std::string pending_;  // not yet taken by the terminal
    Size size_;
    bool gone_ = false;
    bool restored_ = false;
};

}  // namespace ui
