#include "app/stats/percentile_history.hpp"

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

}  // namespace yodel
