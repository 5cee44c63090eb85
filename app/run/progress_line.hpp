// Shows the progress of a run on one line of the terminal on standard error, updated in place.
#pragma once

#include "app/stats/run_display.hpp"
#include "ev/loop.hpp"

#include <cstddef>

namespace yodel {

// Shows the counts of a run, cut to the width of the terminal. Shows nothing as a background
// job.
class ProgressDisplay final : public RunDisplay {
public:
    ProgressDisplay(ev::Loop& loop, User& user);
    ~ProgressDisplay() override { clear(); }

    void turn_ended() override {}
    bool prepare_for_line() override;

private:
    void show();
    void clear();

    User& user_;
    std::size_t width_ = 0;  // columns to clear
    ev::Timer timer_;
};

}  // namespace yodel
