#include "app/stats/datagram_counts.hpp"

#include <cmath>

namespace yodel {

void DatagramCounts::answered(bool came_out_of_order, std::optional<ev::Duration> transit) {
    if (came_out_of_order) ++out_of_order;
    if (transit) record(*transit);
}

void DatagramCounts::record(ev::Duration transit) {
    const double change = std::abs(static_cast<double>((transit - last_).count()));
    if (timed > 0) jitter += (change - jitter) / 16;
    last_ = transit;
    ++timed;
}

void DatagramCounts::add(const DatagramCounts& other) {
    twice += other.twice;
    out_of_order += other.out_of_order;
    const double all = static_cast<double>(timed + other.timed);
    if (all > 0)
        jitter = (jitter * static_cast<double>(timed) +
                  other.jitter * static_cast<double>(other.timed)) /
                 all;
    timed += other.timed;
}

ev::Duration DatagramCounts::jitter_time() const { return ev::Duration(std::llround(jitter)); }

std::string DatagramCounts::counts() const {
    return std::to_string(twice) + " twice, " + std::to_string(out_of_order) + " out of order";
}

}  // namespace yodel
