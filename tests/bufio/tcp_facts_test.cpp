#include "bufio/stream.hpp"

#include "bufio/system.hpp"
#include "tests/bufio/fixture.hpp"
#include "tests/bufio/system.hpp"

#include <poll.h>

using namespace test;
using bufio::tcp_facts;

namespace {

// Sends a byte each way, so that segments are acknowledged.
void exchange(const Fd& one, const Fd& other) {
    char byte = 'x';
    for (const Fd* const from : {&one, &other}) {
        const int to = from == &one ? other.get() : one.get();
        REQUIRE(::send(from->get(), &byte, 1, 0) == 1);
        pollfd wanted{to, POLLIN, 0};
        REQUIRE(::poll(&wanted, 1, 20'000) == 1);
        REQUIRE(::recv(to, &byte, 1, 0) == 1);
    }
}

}  // namespace

#if BUFIO_HAS_TCP_INFO
TEST_CASE("returns the facts of a TCP connection", "[tcp_facts]") {
    const auto [one, other] = tcp_pair();
    exchange(one, other);
    const auto facts = tcp_facts(one.get());
    REQUIRE(facts);
    REQUIRE(facts->min_rtt);
    CHECK(*facts->min_rtt > 0us);
    CHECK(*facts->min_rtt < patience);
    CHECK(facts->retransmits == 0);
    CHECK(facts->mss > 0);
    CHECK(facts->cwnd > 0);
}

TEST_CASE("an older kernel without the minimum round-trip time reports the other facts",
          "[tcp_facts]") {
    const auto [one, other] = tcp_pair();
    exchange(one, other);
    Faults faults;
    faults.getsockopt = [](std::size_t) { return 104; };  // up to tcpi_total_retrans
    const auto facts = tcp_facts(one.get());
    REQUIRE(facts);
    CHECK_FALSE(facts->min_rtt);
    CHECK(facts->mss > 0);
}
#else
TEST_CASE("a system without TCP_INFO reports no facts", "[tcp_facts]") {
    const auto [one, other] = tcp_pair();
    exchange(one, other);
    CHECK_FALSE(tcp_facts(one.get()));
}
#endif

TEST_CASE("a socket that is not TCP has no facts", "[tcp_facts]") {
    const auto [one, other] = socket_pair();
    CHECK_FALSE(tcp_facts(one.get()));
}
