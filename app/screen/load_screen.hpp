// How a run of many connections goes, on the whole screen: takes the terminal for as long as it
// lives, and draws the page at most ten times a second. Keys: ^C ends the run, ^Z suspends, ^L
// draws all anew.
#pragma once

#include "app/stats/heat_map.hpp"
#include "app/stats/history.hpp"
#include "app/stats/run_display.hpp"
#include "ev/loop.hpp"
#include "ui/terminal.hpp"

namespace yodel {

class LoadScreen final : public RunDisplay {
public:
    // The signals that the program handles must be handled by now. SIGCONT is one of them: its
    // handler calls continued(). Throws std::runtime_error if the terminal can't be used.
    LoadScreen(ev::Loop& loop, ui::Color color, User& user);

    void turn_ended() override;
    // True where standard error is no terminal.
    bool make_way() override;
    void continued() override { resuming_ = true; }

private:
    void read_keys();
    void press(const ui::Key& key);
    void suspend();
    void take_terminal();
    void draw();
    void await_display();

    ev::Loop& loop_;
    User& user_;
    HeatMap map_;
    RecentRate rate_;
    // Before the terminal, so that a signal that comes while it is taken over finds it given
    // back.
    ev::Signal resized_;
    ev::Signal stopped_;
    ui::Terminal terminal_;
    bool due_ = true;        // it is time to draw
    bool resuming_ = false;  // the terminal is to be taken over again, after a suspension
    ev::Watch keyboard_;
    ev::Timer escape_;   // runs while an ESC may be a key of its own or the start of another
    ev::Watch display_;  // waits while the terminal has not yet taken the whole drawing
    ev::Timer frame_;    // to the next drawing
};

}  // namespace yodel
