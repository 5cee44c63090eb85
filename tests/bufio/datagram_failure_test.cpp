// Exchanges of datagrams whose system calls fail at random, or whose allocations fail in turn.
// No datagram is invented, cut or merged, and all losses are counted.
#include "tests/bufio/datagram_fixture.hpp"
#include "tests/bufio/datagram_system.hpp"
#include "tests/bufio/out_of_memory.hpp"
#include "tests/support/random.hpp"

using namespace test;

namespace {

// Returns a datagram that contains its number and size.
std::string numbered(std::size_t number, Random& random) {
    const std::size_t size = 8 + random.index(random.index(8) == 0 ? 60'000 : 200);
    std::string bytes = std::to_string(number) + ":" + std::to_string(size) + ":";
    while (bytes.size() < size) bytes += static_cast<char>(number * 31 + bytes.size());
    return bytes;
}

void exchange(std::uint64_t seed) {
    Random random(seed);
    DatagramFaults faults;
    const auto fault = [&](std::size_t count) -> long {
        constexpr long outcomes[] = {-EAGAIN, -EINTR, -ENOBUFS};
        const std::uint64_t choice = random.next() % 12;
        if (choice < std::size(outcomes)) return outcomes[choice];
        return static_cast<long>(1 + random.next() % count);
    };
    faults.send = fault;
    faults.receive = [fault](std::size_t count) {
        const long outcome = fault(count);
        return outcome == -ENOBUFS ? -EAGAIN : outcome;
    };
    DatagramSocket::Limits limits;
    limits.batch = 1 + random.next() % 64;
    DatagramPair pair(limits);
    echo(pair.server);
    constexpr std::size_t total = 400;
    std::vector<std::string> sent;
    INFO("seed " << seed);
    const auto done = [&] {
        return sent.size() == total && pair.client.socket->pending() == 0 &&
               pair.server.got.size() == total - pair.client.socket->refused() &&
               pair.server.socket->pending() == 0 &&
               pair.client.got.size() + pair.server.socket->refused() == pair.server.got.size();
    };
    // Limits the datagrams in flight, so that the system's buffers can store them all.
    const auto may_send = [&] {
        return pair.client.socket->dequeued() - pair.client.socket->refused() <
               pair.client.got.size() + pair.server.socket->refused() + 2;
    };
    const auto turn = [&] {
        // Keeps a datagram in flight, because the loop would wait without one.
        while (sent.size() < total && may_send() && pair.client.socket->pending() == 0) {
            sent.push_back(numbered(sent.size(), random));
            REQUIRE(pair.client.socket->send(sent.back()));
            pair.client.socket->flush();
        }
        return done();
    };
    REQUIRE(run_until(pair.loop, [&] {
        pair.loop.step(ev::Duration::zero());
        return turn();
    }));
    std::size_t next = 0;  // the next expected number; gaps are allowed
    for (const std::string& each : pair.client.got) {
        while (next < sent.size() && sent[next] != each) ++next;
        REQUIRE(next < sent.size());
        ++next;
    }
    CHECK(pair.client.socket->dequeued() == total);
    CHECK(pair.client.socket->refused() + pair.server.socket->refused() > 0);
}

}  // namespace

TEST_CASE("random exchanges keep every datagram whole", "[datagram][random]") {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) exchange(seed);
}

TEST_CASE("a datagram exchange that runs out of memory leaves no descriptor open",
          "[datagram][failure]") {
    refuse_memory([] {
        DatagramPair pair;
        echo(pair.server);
        for (int i = 0; i < 20; ++i) pair.client.socket->send(pattern(1000));
        pair.client.socket->flush();
        if (!run_until(pair.loop, [&] { return pair.client.got.size() == 20; }))
            throw std::runtime_error("no answer");
    });
}

TEST_CASE("a datagram that is refused for lack of memory leaves the queue unchanged",
          "[datagram][failure]") {
    DatagramFaults faults;
    faults.send = [](std::size_t) { return -EAGAIN; };
    DatagramPair pair;
    DatagramSocket& socket = *pair.client.socket;
    for (std::size_t i = 0; i < 20; ++i) {
        bool sent = false;
        for (std::size_t nth = 1; !sent; ++nth) {
            allocations.refused = allocations.count + nth;
            try {
                sent = socket.send(pattern(1000));
            } catch (const std::bad_alloc&) {
            }
            allocations.refused = 0;
            CHECK(socket.pending() == i + sent);
            CHECK(socket.pending_bytes() == 1000 * (i + sent));
        }
    }
}
