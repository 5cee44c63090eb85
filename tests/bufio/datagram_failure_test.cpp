// Exchanges of datagrams whose system calls fail at random, or whose allocations fail in turn.
// No datagram is invented, cut or merged, and all losses are counted.
#include "tests/bufio/datagram_fixture.hpp"
#include "tests/bufio/datagram_system.hpp"
#include "tests/support/allocations.hpp"
#include "tests/support/random.hpp"

#include <cerrno>
#include <new>

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
    const auto room = [&] {
        return pair.client.socket->written() - pair.client.socket->refused() <
               pair.client.got.size() + pair.server.socket->refused() + 2;
    };
    const auto turn = [&] {
        // Without a datagram in flight, the loop would wait.
        while (sent.size() < total && room() && pair.client.socket->pending() == 0) {
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
    CHECK(pair.client.socket->written() == total);
    CHECK(pair.client.socket->refused() + pair.server.socket->refused() > 0);
}

}  // namespace

TEST_CASE("random exchanges keep every datagram whole", "[datagram][random]") {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) exchange(seed);
}

TEST_CASE("a datagram exchange that runs out of memory leaves no descriptor open",
          "[datagram][failure]") {
    const auto talk = [] {
        ev::Loop loop;
        Correspondent server;
        Correspondent client;
        server.listen(loop, loopback());
        client.connect(loop, server.socket->address());
        echo(server);
        for (int i = 0; i < 20; ++i) client.socket->send(pattern(1000));
        client.socket->flush();
        if (!run_until(loop, [&] { return client.got.size() == 20; }))
            throw std::runtime_error("no answer");
    };
    auto& [count, largest, refused] = allocations;
    talk();  // makes one-time allocations
    const int before = open_descriptors();
    bool refused_one = true;
    for (std::size_t nth = 1; refused_one; ++nth) {
        refused = count + nth;
        try {
            talk();
        } catch (const std::bad_alloc&) {
        }
        refused_one = count >= refused;
        refused = 0;
        CHECK(open_descriptors() == before);
    }
}
