// The base of each full-screen program: takes the terminal over, reads keys, handles SIGWINCH
// and SIGTSTP, and decides when to draw.
//
// A callback never draws, but marks the screen as changed. The drawing follows at the end of
// the loop's turn. It is delayed while the last drawing is too recent, or while the terminal
// has not yet accepted all of it.
#pragma once

#include "ev/loop.hpp"
#include "ui/terminal.hpp"

namespace yodel {

// Returns true if standard input and output are a terminal that can show a screen. Otherwise
// prints the reason, unless there is no terminal or its type is "dumb", empty or not set.
bool can_use_screen_or_warn();

class FullScreen {
public:
    FullScreen(const FullScreen&) = delete;

    // Call it after each turn of the loop.
    void turn_ended();
    // Call it after SIGCONT. Install the handler of SIGCONT before making the screen.
    void continued() {
        suspending();
        is_resuming_ = true;
    }

protected:
    // Drawings are at least `frame_time` apart. Install the program's own signal handlers
    // first. Throws std::runtime_error if the terminal can't be used.
    FullScreen(ev::Loop& loop, ev::Duration frame_time);
    ~FullScreen() = default;

    ui::Terminal& terminal() { return terminal_; }
    const ui::Terminal& terminal() const { return terminal_; }
    void mark_changed() { has_changed_ = true; }
    void suspend();

private:
    virtual void press(const ui::Key& key) = 0;
    virtual void draw() = 0;
    // Called before ^Z or SIGTSTP stops the program, and when it continues after any stop,
    // because stops distort round trips.
    virtual void suspending() = 0;
    // Called with true when the terminal has not accepted the whole drawing within a second,
    // and with false once it has.
    virtual void stalled(bool /*is_stalled*/) {}

    void read_keys();
    void await_display();

    const ev::Duration frame_time_;
    // Declared before the terminal, so that a signal during its take-over cannot stop the
    // program with the terminal changed.
    ev::Signal resize_signal_;
    ev::Signal stop_signal_;
    ui::Terminal terminal_;
    bool has_changed_ = true;   // the screen must be drawn again
    bool is_resuming_ = false;  // the terminal must be taken over again, after SIGCONT
    ev::Watch keyboard_watch_;
    ev::Timer key_timer_;      // runs while a key or a paste is incomplete
    ev::Watch display_watch_;  // active until the terminal has accepted the whole drawing
    ev::Timer stall_timer_;    // runs for the first second while display_watch_ is active
    ev::Timer frame_timer_;    // runs while it is too early for another drawing
};

}  // namespace yodel
