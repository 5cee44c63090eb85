#include "app/stats/planned_rate.hpp"

#include "app/text/units.hpp"

#include <algorithm>

namespace yodel {

namespace {

constexpr double tolerated_part = 0.05;
constexpr double tolerated_seconds = std::chrono::duration<double>(tolerated_lateness).count();

}  // namespace

void PlannedRate::add(const PlannedRate& other) {
    planned += other.planned;
    reached += other.reached;
}

bool PlannedRate::kept(const Tally& tally) const {
    if (tally.unsent > 0) return false;
    if (reached >= planned) return true;
    if (reached <= 0) return false;
    const auto sent = static_cast<double>(tally.sent);
    const double seconds = sent / planned;
    const double late = sent / reached - seconds;
    return late <= std::max(tolerated_part * seconds, tolerated_seconds);
}

std::string planned_rate_remark(const std::optional<PlannedRate>& rate, const Tally& tally) {
    if (!rate || rate->kept(tally)) return "";
    return "; planned " + rate_text(rate->planned) + ", reached " + rate_text(rate->reached);
}

}  // namespace yodel
