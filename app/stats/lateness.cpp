#include "app/stats/lateness.hpp"

#include "app/text/units.hpp"

namespace yodel {

std::string lateness_remark(const Histogram& lateness, const Histogram& round_trips) {
    if (lateness.count() == 0) return "";
    const ev::Duration p99 = lateness.percentile(99);
    if (p99 <= round_trips.percentile(50) / 10) return "";
    return "; late p50/p99 " + milliseconds_text(lateness.percentile(50)) + "/" + ms_text(p99);
}

}  // namespace yodel
