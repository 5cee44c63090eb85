// How a run of many connections goes, as a line on the terminal that standard error is.
#pragma once

#include "app/pipe/progress_line.hpp"
#include "app/stats/crowd_display.hpp"
#include "ev/loop.hpp"

namespace yodel {

class CrowdLine final : public CrowdDisplay {
public:
    CrowdLine(ev::Loop& loop, User& user);
    ~CrowdLine() override { line_.clear(); }

    void turn_ended() override {}
    bool make_way() override;

private:
    void show();

    User& user_;
    ProgressLine line_;
    ev::Timer due_;
};

}  // namespace yodel
