// The terminal of the process (standard input and output), while it belongs to the program.
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
//     // Shows what is typed; Enter ends it.
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
// The terminal is as it was found after the destructor, after restore(), and when a signal that
// ends the process by default arrives; the process then ends by that signal. Signals that are
// ignored stay ignored. A signal that the caller handles before the constructor is called stays
// with the caller; but the faults SIGABRT, SIGSEGV, SIGBUS, SIGFPE and SIGILL restore the
// terminal first and call the caller's handler then. The destructor removes all handlers.
//
// The flags of the descriptors are never changed, because other processes share them. A
// terminal that takes nothing (stopped, or at the end of a dead line) blocks nobody: what is
// drawn waits. There is one Terminal at a time, used by one thread.
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

enum class Color {
    automatic,  // if the terminal has colors and NO_COLOR is not set
    always,     // if the terminal has colors
    never,
};

// The reason why the terminal can't be taken over, in one sentence: standard input or output is
// no terminal, its type (TERM) is not known, or it can't place its cursor. Empty if it can be.
// Changes nothing of the terminal. Must not be called while a Terminal exists.
std::string terminal_trouble();

class Terminal {
public:
    // Takes the terminal over. Throws std::runtime_error with terminal_trouble(), if there is
    // any, or if curses refuses the terminal or the terminal its settings; std::system_error if
    // there is no file to draw into, or the terminal does not tell its settings.
    explicit Terminal(Color color = Color::automatic);
    ~Terminal();
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    // Returns the next key, if one was pressed. Never waits. When the terminal is readable,
    // call it until it returns none: input that was read is kept here. None while restored.
    std::optional<Key> read_key();

    // True if an ESC was read that may be a key or the beginning of one. If nothing follows
    // within the delay (ESCDELAY in milliseconds, else 25 ms), call expire_key(), and
    // read_key() returns the key.
    bool key_incomplete() const { return parser_.waiting(); }
    std::chrono::milliseconds escape_delay() const;
    void expire_key() { parser_.expire(); }

    // True if the terminal hung up, or refused the settings for keys: from then on it has none,
    // and after a hang-up it is readable for ever.
    bool gone() const { return gone_; }

    // Shows a frame; only what differs from the last one is written, and a terminal that knows
    // synchronised frames shows all of it at once. Does nothing while the terminal is restored,
    // or while it has not yet taken the last frame.
    void draw(const Frame& frame);

    // Continues to write what the terminal did not take at once. True: it has taken everything.
    bool flush();

    // The descriptor that is writable when the terminal takes more. It stays the same.
    int output() const;

    // Has the terminal report the wheel of the mouse as the keys wheel_up and wheel_down, or no
    // longer; its own selection of text then needs Shift. Off at first. It stays as it is over
    // restore() and take_over(). False: this type of terminal can't, and nothing has changed.
    bool report_mouse(bool reported);
    bool reports_mouse() const { return mouse_; }

    // Asks the terminal to put a text into its clipboard. Control characters are made visible,
    // newlines too, so that no program obeys them when the text is pasted. Returns why the text
    // was not sent; empty: it was sent. The terminal does not answer, and its settings may
    // forbid it.
    std::string copy(std::string_view text);

    // Makes the next draw() write everything: another program may have written to the screen.
    void redraw();

    // Reads the terminal's size and returns it; to be called after SIGWINCH. A size of 0 counts
    // as 24 rows or 80 columns; more than 1000 rows or columns are not used.
    Size resize();
    Size size() const { return size_; }

    // Gives the terminal back. If the terminal takes nothing, it waits for less than half a
    // second and discards what was not taken by then. May be called at any time.
    void restore();

    // Takes the terminal over again, reads its size, and makes the next draw() write
    // everything. May be called at any time; call it after SIGCONT, because other programs may
    // have changed the terminal while the process was stopped. False: another job has the
    // terminal. The process group is then stopped by SIGTTOU, as it is whenever it uses the
    // terminal from the background; call it again when the group is continued.
    bool take_over();

    // Restores the terminal and stops the process group as ^Z does; if no shell could continue
    // the group, it is not stopped. SIGCONT is raised in both cases: call take_over() then.
    void suspend();

private:
    struct Parts;

    explicit Terminal(std::unique_ptr<Parts> parts);
    static std::unique_ptr<Parts> make_parts(Color color);
    bool read_bytes();
    void put(std::string_view bytes) { pending_ += bytes; }
    bool flush_in_time();
    void leave_screen();

    std::unique_ptr<Parts> parts_;
    KeyParser parser_;
    std::string pending_;  // bytes that the terminal has not yet taken
    Size size_;
    bool gone_ = false;
    bool mouse_ = false;
    bool restored_ = true;  // the terminal is not taken over
};

}  // namespace ui
