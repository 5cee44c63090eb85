#include "bufio/stream.hpp"

#include "bufio/system.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#if BUFIO_HAS_TCP_INFO
#    include <linux/tcp.h>  // the C library's header lacks the newer fields
#endif

#include <limits>

namespace bufio {

#if BUFIO_HAS_TCP_INFO

// An older kernel leaves the fields that it does not know at 0. The smoothed round-trip time is
// not used, because it includes the service's time if the reply carries the acknowledgement.
std::optional<TcpFacts> tcp_facts(int socket) {
    tcp_info info{};
    socklen_t size = sizeof info;
    if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return std::nullopt;
    TcpFacts facts{.min_rtt = {},
                   .retransmits = info.tcpi_total_retrans,
                   .mss = info.tcpi_snd_mss,
                   .cwnd = info.tcpi_snd_cwnd};
    const bool is_measured = info.tcpi_min_rtt != 0 &&
                             info.tcpi_min_rtt != std::numeric_limits<std::uint32_t>::max();
    if (is_measured) facts.min_rtt = std::chrono::microseconds(info.tcpi_min_rtt);
    return facts;
}

#else

std::optional<TcpFacts> tcp_facts(int) { return std::nullopt; }

#endif

}  // namespace bufio
