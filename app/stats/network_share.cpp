#include "app/stats/network_share.hpp"

#include "app/text/units.hpp"

namespace yodel {

std::string network_remark(const Histogram& round_trips, std::optional<ev::Duration> network) {
    if (!network || round_trips.count() == 0) return "";
    return "; p50 " + shares_text(round_trips.percentile(50), *network);
}

}  // namespace yodel
