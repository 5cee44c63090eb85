// Shows the progress of a program on one line of the terminal on standard error, updated in
// place.
#pragma once

#include "app/stats/run_display.hpp"
#include "ev/loop.hpp"

#include <cstddef>
#include <string>

namespace yodel {

// A line that other output must clear first. It is cut to the width of the terminal, and not
// shown by a background job.
class TemporaryLine {
public:
    TemporaryLine() = default;
    ~TemporaryLine() { clear(); }
    TemporaryLine(const TemporaryLine&) = delete;

    void show(std::string text);  // replaces the line
    void clear();

private:
    std::size_t width_ = 0;  // columns to clear
};

// Shows the counts of a run.
class ProgressDisplay final : public RunDisplay {
public:
    ProgressDisplay(ev::Loop& loop, User& user);

    void turn_ended() override {}
    bool prepare_for_line() override;

private:
    void show();

    User& user_;
    TemporaryLine line_;
    ev::Timer timer_;
};

}  // namespace yodel
