#include "app/pipe/crowd_line.hpp"

#include "app/text/units.hpp"

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
    const Tally& tally = progress.result.tally;
    std::string text = std::to_string(progress.open) + " open, " + tally.counts();
    if (tally.round_trips.count() > 0)
        text += ", p50 " + ms_text(tally.round_trips.percentile(50));
    line_.show(text);
    due_.start(period);
}

}  // namespace yodel
