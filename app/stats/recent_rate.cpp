#include "app/stats/recent_rate.hpp"

namespace yodel {

void RecentRate::add(ev::Time now, std::uint64_t count) {
    samples_.push_back({now, count});
    while (samples_.size() > 2 && now - samples_[1].time >= span) samples_.pop_front();
}

double RecentRate::per_second() const {
    if (samples_.size() < 2) return 0;
    const Sample& first = samples_.front();
    const Sample& last = samples_.back();
    const double seconds = std::chrono::duration<double>(last.time - first.time).count();
    return seconds > 0 ? static_cast<double>(last.count - first.count) / seconds : 0;
}

}  // namespace yodel
