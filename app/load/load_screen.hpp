// Draws the page of a load, at most ten times a second. Keys: ^C ends the run, ^Z suspends, ^L
// redraws.
#pragma once

#include "app/load/heat_map.hpp"
#include "app/screen/full_screen.hpp"
#include "app/stats/history.hpp"
#include "app/stats/run_display.hpp"

namespace yodel {

class LoadScreen final : public RunDisplay, private FullScreen {
public:
    // See FullScreen. The handler of SIGCONT must call continued(). The user must outlive the
    // screen.
    LoadScreen(ev::Loop& loop, User& user);

    void turn_ended() override { FullScreen::turn_ended(); }
    // Returns true if standard error is not a terminal.
    bool prepare_for_line() override;
    void continued() override { FullScreen::continued(); }

private:
    void press(const ui::Key& key) override;
    void draw() override;
    // Excludes the messages in flight from timing, because the suspension delays their replies.
    void suspending() override { user_.suspending(); }

    ev::Loop& loop_;
    User& user_;
    HeatMap map_;
    RecentRate rate_;
};

}  // namespace yodel
