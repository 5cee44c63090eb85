#include "app/stats/tcp_totals.hpp"

#include "tests/support/catch.hpp"

#include <chrono>

using namespace std::chrono_literals;
using namespace yodel;

TEST_CASE("facts of connections add up to the smallest of each, and to all retransmits") {
    TcpTotals sum{.min_rtt = {}, .retransmits = 1, .mss = 1448, .cwnd = 12};
    sum.add({.min_rtt = 30us, .retransmits = 2, .mss = 536, .cwnd = 14});
    CHECK(sum == TcpTotals{30us, 3, 536, 12});
    sum.add({.min_rtt = 20us, .retransmits = 0, .mss = 1448, .cwnd = 10});
    CHECK(sum == TcpTotals{20us, 3, 536, 10});
    sum.add({.min_rtt = {}, .retransmits = 0, .mss = 1448, .cwnd = 10});
    sum.add({.min_rtt = 40us, .retransmits = 0, .mss = 1448, .cwnd = 10});
    CHECK(sum == TcpTotals{20us, 3, 536, 10});
}
