// The progress of a run as a line on the terminal of standard error.
#pragma once

#include "app/stats/run_display.hpp"
#include "ev/loop.hpp"

#include <cstddef>
#include <string>

namespace yodel {

// A line that is updated in place.
class ProgressLine {
public:
    // Shows the text, cut to the width of the terminal. Shows nothing as a background job.
    void show(std::string text);
    // Erases the line. Call it before anything else is written to the terminal.
    void clear();

private:
    std::size_t width_ = 0;  // columns to clear
};

// Displays the counts of a run as a progress line.
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
