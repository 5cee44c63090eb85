#include "app/stats/history.hpp"

namespace yodel {

void PercentileHistory::record(ev::Time now, ev::Duration round_trip) {
    if (now - begin_ >= period) {
        append_current(past_);
        current_ = {};
        begin_ = now;
    }
    current_.record(round_trip);
}

PercentileHistory::Percentiles PercentileHistory::percentiles() const {
    Percentiles all = past_;
    append_current(all);
    return all;
}

void PercentileHistory::append_current(Percentiles& to) const {
    if (current_.count() == 0) return;
    to.p50.push_back(current_.percentile(50));
    to.p95.push_back(current_.percentile(95));
    if (to.p50.size() <= max_periods) return;
    to.p50.pop_front();
    to.p95.pop_front();
}

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
