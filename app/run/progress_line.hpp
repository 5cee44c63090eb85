// The progress of a run as a line on the terminal of standard error.
#pragma once

#include "app/stats/run_display.hpp"
#include "ev/loop.hpp"

#include <cstddef>
#include <string>

namespace yodel {

// A line that takes the place of the one before it.
class ProgressLine {
public:
    // Cut to the width of the terminal. In the background of the terminal nothing is shown.
    void show(std::string text);
    // Must be called before anything else is written.
    void clear();

private:
    std::size_t width_ = 0;  // columns to be cleared
};

// A display that shows the counts of a run in such a line.
class ProgressDisplay final : public RunDisplay {
public:
    ProgressDisplay(ev::Loop& loop, User& user);
    ~ProgressDisplay() override { line_.clear(); }

    void turn_ended() override {}
    bool make_way() override;

private:
    void show();

    User& user_;
    ProgressLine line_;
    ev::Timer due_;
};

}  // namespace yodel
