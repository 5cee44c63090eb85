// The terminal on standard input and output, while the program controls it.
//
//     #include "ev/loop.hpp"
//     #include "ui/terminal.hpp"
//
//     #include <unistd.h>
//
//     #include <clocale>
//     #include <csignal>
//     #include <string>
//
//     // Shows typed text; Enter ends it.
//     class Program {
//     public:
//         void run() {
//             do {
//                 draw();
//             } while (loop.step());
//         }
//
//     private:
//         void read_keys() {
//             while (const auto key = terminal.read_key()) {
//                 typed += key->text;
//                 if (key->chord == ui::plain(ui::KeyCode::enter)) loop.stop();
//             }
//             if (terminal.key_incomplete()) escape.start(terminal.escape_delay());
//             if (terminal.gone()) loop.stop();
//         }
//
//         void draw() {
//             ui::Row row;
//             append_bytes(row, "typed: " + typed);
//             if (terminal.flush()) terminal.draw({.rows = {row}});
//             display.want(terminal.flush() ? ev::none : ev::writable);
//         }
//
//         // The signals first: they must be handled before the terminal is taken over.
//         ev::Loop loop;
//         ev::Signal resized{loop, SIGWINCH, [this] { terminal.resize(); }};
//         ev::Signal continued{loop, SIGCONT, [this] { terminal.take_over(); }};
//         ui::Terminal terminal;
//         ev::Watch keyboard{loop, STDIN_FILENO, ev::readable,
//                            [this](ev::Events) { read_keys(); }};
//         ev::Timer escape{loop, [this] {
//                              terminal.expire_key();
//                              read_keys();
//                          }};
//         ev::Watch display{loop, terminal.output(), ev::none, [](ev::Events) {}};
//         std::string typed;
//     };
//
//     int main() {
//         std::setlocale(LC_ALL, "");
//         Program().run();
//     }
//
// The destructor and restore() return the terminal to its original state. So does every signal
// that ends the process by default, before it ends the process. Ignored signals stay ignored.
// A signal that the caller handled before construction still calls the caller's handler, but
// the faults SIGABRT, SIGSEGV, SIGBUS, SIGFPE and SIGILL restore the terminal first. The
// destructor and restore() remove the Terminal's own handlers.
//
// The flags of the descriptors are never changed, because other processes share them. A stalled
// terminal (stopped, or on a dead line) never blocks the program: output waits in memory. There
// is at most one Terminal at a time, used by one thread.
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

// Returns the reason why the terminal can't be taken over, in one sentence: standard input or
// output is not a terminal, its type (TERM) is unknown, or it can't position its cursor.
// Empty: it can be taken over. Does not change the terminal. Must not be called while a
// Terminal exists.
std::string terminal_trouble();

class Terminal {
public:
    // Takes the terminal over. Throws std::runtime_error with the text of terminal_trouble(),
    // or if curses fails or the terminal refuses its settings; std::system_error if it can't
    // make a file to draw into or read the terminal's settings. Draws in color if the terminal
    // can, unless NO_COLOR is set.
    Terminal();
    ~Terminal();
    Terminal(const Terminal&) = delete;

    // Returns the next key, if any. Never waits. When the terminal is readable, call it until
    // it returns none, because input is buffered here. Returns none while the terminal is
    // restored.
    std::optional<Key> read_key();

    // True after an ESC that may be a key or begin a sequence. If nothing follows within the
    // delay (ESCDELAY in milliseconds, else 25 ms), call expire_key(), and read_key() returns
    // the key.
    bool key_incomplete() const { return parser_.key_incomplete(); }
    std::chrono::milliseconds escape_delay() const;
    void expire_key() { parser_.expire(); }

    // True if the terminal hung up or refused the settings for reading keys. Then no more keys
    // arrive, and after a hang-up the terminal stays readable forever.
    bool gone() const { return gone_; }

    // Draws a frame; writes only the differences from the last frame. A terminal with
    // synchronized output shows the frame as a whole. Does nothing while the terminal is
    // restored, or while it has not yet accepted the last frame.
    void draw(const Frame& frame);

    // Continues to write pending output. Returns true if none is left.
    bool flush();

    // Returns the descriptor to watch for writability. It never changes.
    int output() const;

    // Asks the terminal to put a text into its clipboard. Control characters and newlines
    // become visible escapes, so that no program obeys them when the text is pasted. Returns
    // the reason why the text was not sent; empty: it was sent. The terminal does not answer,
    // and its settings may forbid it.
    std::string copy_to_clipboard(std::string_view text);

    // Makes the next draw() write the whole screen. Call it if another program may have written
    // to it.
    void redraw();

    // Reads and returns the terminal's size; call it after SIGWINCH. A size of 0 counts as 24
    // rows or 80 columns. Rows and columns beyond 1000 are not used.
    Size resize();
    Size size() const { return size_; }

    // Gives the terminal back. Waits less than half a second for a stalled terminal, and then
    // discards the remaining output. May be called at any time.
    void restore();

    // Takes the terminal over again, reads its size, and makes the next draw() write the whole
    // screen. May be called at any time; call it after SIGCONT, because other programs may have
    // changed the terminal while the process was stopped. Returns false if the terminal belongs
    // to another job. SIGTTOU then stops the process group, as for any use of the terminal from
    // the background; call it again when the group is continued.
    bool take_over();

    // Restores the terminal, and stops the process group as ^Z does if there is a shell to
    // continue it. SIGCONT arrives in both cases; call take_over() then.
    void suspend();

private:
    struct Parts;

    explicit Terminal(std::unique_ptr<Parts> parts);
    static std::unique_ptr<Parts> make_parts();
    bool read_bytes();
    void put(std::string_view bytes) { pending_ += bytes; }
    bool flush_in_time();
    void leave_screen();

    std::unique_ptr<Parts> parts_;
    KeyParser parser_;
    std::string pending_;  // bytes that the terminal has not yet accepted
    Size size_;
    bool gone_ = false;
    bool restored_ = true;  // the terminal is not taken over
};

}  // namespace ui
