#include "app/stats/course.hpp"

namespace yodel {

void Course::record(ev::Time now, ev::Duration round_trip) {
    if (now - begin_ >= period) {
        put(past_);
        times_ = {};
        begin_ = now;
    }
    times_.record(round_trip);
}

Course::Percentiles Course::percentiles() const {
    Percentiles all = past_;
    put(all);
    return all;
}

void Course::put(Percentiles& to) const {
    if (times_.count() == 0) return;
    to.p50.push_back(times_.percentile(50));
    to.p95.push_back(times_.percentile(95));
    if (to.p50.size() <= most) return;
    to.p50.pop_front();
    to.p95.pop_front();
}

}  // namespace yodel
