#include "app/protocol/retransmit_watch.hpp"

#include "tests/support/catch.hpp"

using namespace std::chrono_literals;
using namespace yodel;

namespace {

bufio::TcpFacts facts(std::uint64_t retransmits, std::optional<ev::Duration> min_rtt = 1ms) {
    bufio::TcpFacts made;
    made.min_rtt = min_rtt;
    made.retransmits = retransmits;
    return made;
}

const ev::Time start(1h);

}  // namespace

TEST_CASE("asks only after replies that took two round trips of the network") {
    RetransmitWatch watch(facts(0));
    CHECK_FALSE(watch.worth_querying(1999us, start));
    CHECK(watch.worth_querying(2ms, start));
    watch.update(facts(0, 100us), start);
    CHECK(watch.worth_querying(200us, start + 1ms));
    CHECK_FALSE(watch.worth_querying(199us, start + 1ms));
}

TEST_CASE("asks once about replies that came together") {
    RetransmitWatch watch(facts(0));
    watch.update(facts(0), start);
    CHECK_FALSE(watch.worth_querying(1h, start));
    CHECK(watch.worth_querying(1h, start + 1ns));
}

TEST_CASE("asks after each reply if no minimum round trip is known") {
    RetransmitWatch watch(facts(0, std::nullopt));
    CHECK(watch.worth_querying(0ns, start));
}

TEST_CASE("does not ask a system without facts, and no message is hit") {
    const RetransmitWatch watch(std::nullopt);
    CHECK_FALSE(watch.worth_querying(1h, start));
    CHECK_FALSE(watch.rose_after(start));
}

TEST_CASE("only messages in flight are hit when the count rises") {
    RetransmitWatch watch(facts(3));  // retransmissions before the first message
    watch.update(facts(3), start);
    CHECK_FALSE(watch.rose_after(start - 1ms));
    watch.update(facts(4), start + 10ms);
    CHECK(watch.rose_after(start + 1ms));
    CHECK(watch.rose_after(start + 9ms));
    CHECK_FALSE(watch.rose_after(start + 10ms));
    watch.update(facts(4), start + 20ms);
    CHECK(watch.rose_after(start + 9ms));
    CHECK_FALSE(watch.rose_after(start + 11ms));
}

TEST_CASE("starts a new connection with its own count") {
    RetransmitWatch watch(facts(0));
    watch.update(facts(1), start);
    watch = RetransmitWatch(facts(2));
    CHECK_FALSE(watch.rose_after(start - 1ms));
    watch.update(facts(2), start + 1ms);
    CHECK_FALSE(watch.rose_after(start));
}
