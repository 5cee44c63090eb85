#include "app/pipe/crowd_line.hpp"

#include "app/stats/summary.hpp"

#include <chrono>
#include <string>

namespace yodel {

namespace {

constexpr ev::Duration period = std::chrono::milliseconds(200);

}  // namespace

CrowdLine::CrowdLine(ev::Loop& loop, User& user) : user_(user), due_(loop, [this] { show(); }) {
    due_.start(period);
}

bool CrowdLine::make_way() {
    line_.clear();
    return true;
}

void CrowdLine::show() {
    const CrowdProgress progress = user_.progress();
    line_.show(std::to_string(progress.open) + " open, " + progress_text(progress.result));
    due_.start(period);
}

}  // namespace yodel
