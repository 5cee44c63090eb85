#include "app/stats/tcp_totals.hpp"

#include <algorithm>

namespace yodel {

void TcpTotals::add(const TcpTotals& other) {
    if (other.min_rtt) min_rtt = std::min(min_rtt.value_or(*other.min_rtt), *other.min_rtt);
    retransmits += other.retransmits;
    mss = std::min(mss, other.mss);
    cwnd = std::min(cwnd, other.cwnd);
}

}  // namespace yodel
