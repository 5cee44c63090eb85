// The base of everything on the whole screen: owns the terminal for as long as it lives, reads
// its keys, handles the signals that concern it, and decides when to draw.
//
// An event never draws: it marks that the screen has changed. One drawing follows at the end of
// the loop's turn, unless the last drawing was only just made or the terminal has not yet taken
// all of it.
#pragma once

#include "ev/loop.hpp"
#include "ui/terminal.hpp"

namespace yodel {

class FullScreen {
public:
    FullScreen(const FullScreen&) = delete;
    FullScreen& operator=(const FullScreen&) = delete;

    // Call it after each turn of the loop.
    void turn_ended();
    // Call it after SIGCONT, whose handler must exist before the screen does.
    void continued() { resuming_ = true; }

protected:
    // Two drawings are at least `frame_time` apart. The signals that the program handles must
    // be handled by now. Throws std::runtime_error if the terminal can't be used. The loop must
    // outlive the screen.
    FullScreen(ev::Loop& loop, ui::Color color, ev::Duration frame_time);
    ~FullScreen() = default;

    ui::Terminal& terminal() { return terminal_; }
    const ui::Terminal& terminal() const { return terminal_; }
    void mark_changed() { changed_ = true; }
    // Gives the terminal back and stops the program, as a signal from outside does.
    void suspend();

private:
    virtual void press(const ui::Key& key) = 0;
    virtual void draw() = 0;
    // The program is about to be stopped: round trips in flight can't be timed.
    virtual void suspending() = 0;

    void read_keys();
    void await_display();

    const ev::Duration frame_time_;
    // These watches come before the terminal: a signal that arrives while the terminal is taken
    // over must find it given back.
    ev::Signal resized_;
    ev::Signal stopped_;
    ui::Terminal terminal_;
    bool changed_ = true;    // the screen differs from the last drawing
    bool resuming_ = false;  // the terminal is to be taken over again, after a suspension
    ev::Watch keyboard_;
    ev::Timer escape_;   // runs while an ESC may be a key of its own or the start of another
    ev::Watch display_;  // waits while the terminal has not yet taken the whole drawing
    ev::Timer frame_;    // runs while it is too early for another drawing
};

}  // namespace yodel
