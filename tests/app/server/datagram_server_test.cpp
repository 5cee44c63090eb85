// The server of datagrams, its rules and its faults, on one loop.

#include "app/server/datagram_server.hpp"
#include "tests/app/fixture.hpp"
#include "tests/support/catch.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <map>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using namespace yodel;

using test::any_loopback_port;
using test::turn_until;

namespace {

ev::Time fake_now{};

struct House {
    explicit House(DatagramServer::Options options = {}, ev::ReadClock clock = ev::Clock::now)
        : loop(clock),
          server(loop, std::move(options),
                 [this](const EchoServer::Event& event) { log.push_back(event.text); }),
          address(server.listen(any_loopback_port())) {}

    std::vector<std::string> log;
    ev::Loop loop;
    DatagramServer server;
    bufio::Address address;
};

// A client that uses system calls only.
struct Peer {
    explicit Peer(const bufio::Address& to) : socket(bufio::open_datagram_socket(AF_INET)) {
        const int size = 4 * 1024 * 1024;
        ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
        ::connect(socket.get(), to.get(), to.size);
    }
    void send(std::string_view bytes) const {
        REQUIRE(::send(socket.get(), bytes.data(), bytes.size(), 0) ==
                static_cast<ssize_t>(bytes.size()));
    }
    void receive() {
        std::string room(65536, '\0');
        for (ssize_t count = 0; count >= 0;) {
            count = ::recv(socket.get(), room.data(), room.size(), 0);
            if (count >= 0) got.emplace_back(room, 0, static_cast<std::size_t>(count));
        }
    }
    // Sends each datagram, and receives answers until the server has received all.
    void exchange(House& house, const std::vector<std::string>& datagrams) {
        const std::uint64_t before = house.server.counters().datagrams_in;
        for (std::size_t i = 0; i < datagrams.size(); ++i) {
            send(datagrams[i]);
            turn_until(house.loop,
                       [&] { return house.server.counters().datagrams_in == before + i + 1; });
            receive();
        }
    }

    bufio::Fd socket;
    std::vector<std::string> got;
};

std::vector<std::string> numbered(int count) {
    std::vector<std::string> all;
    for (int i = 0; i < count; ++i) all.push_back("datagram " + std::to_string(i));
    return all;
}

}  // namespace

TEST_CASE("echoes every datagram, even an empty one") {
    House house;
    Peer peer(house.address);
    const std::vector<std::string> all{"one", "", std::string(65507, 'x')};
    peer.exchange(house, all);
    CHECK((peer.got == all));
    CHECK(house.log.empty());
    const yodel::Counters counters = house.server.counters();
    CHECK(counters.datagrams_in == 3);
    CHECK(counters.datagrams_out == 3);
    CHECK(counters.datagram_bytes_in == 65510);
    CHECK(counters.datagram_bytes_out == 65510);
}

TEST_CASE("takes the same bytes, again and again, for a loop, and reports it once") {
    DatagramServer::Options options;
    options.reflect_any = GENERATE(false, true);
    fake_now = ev::Time(1h);
    House house(options, [] { return fake_now; });
    Peer peer(house.address);
    peer.exchange(house, std::vector<std::string>(100, "again"));
    CHECK(peer.got.size() == (options.reflect_any ? 100 : 64));
    CHECK(house.server.counters().datagrams_unanswered == (options.reflect_any ? 0 : 36));
    peer.exchange(house, {"other"});
    CHECK(peer.got.back() == "other");
    const std::string report =
        "the same 5 bytes arrived more than 64 times in a second; not answered, because this "
        "may be a loop (--reflect-any disables this check)";
    const std::vector<std::string> once{report};
    CHECK((house.log == (options.reflect_any ? std::vector<std::string>{} : once)));
}

TEST_CASE("applies each fault to datagrams by its seed, regardless of the other faults") {
    DatagramServer::Options options;
    options.faults.seed = 5;
    const std::vector<std::string> all = numbered(400);
    const auto answers = [&] {
        House house(options);
        Peer peer(house.address);
        peer.exchange(house, all);
        CHECK(house.server.counters().datagrams_out == peer.got.size());
        const bool none_twice = options.faults.dup == 0;
        if (none_twice)
            CHECK(house.server.counters().datagrams_dropped == all.size() - peer.got.size());
        return peer.got;
    };
    options.faults.drop = 0.1;
    const std::vector<std::string> dropped = answers();
    CHECK(dropped.size() > 330);
    CHECK(dropped.size() < 390);
    CHECK((answers() == dropped));
    options.faults.corrupt = 0.2;
    CHECK(answers().size() == dropped.size());
    options.faults = {};
    options.faults.seed = 6;
    options.faults.dup = 0.5;
    std::map<std::string, int> times;
    for (const std::string& each : answers()) ++times[each];
    CHECK(times.size() == all.size());
    for (const auto& [bytes, count] : times) CHECK(count <= 2);
}

TEST_CASE("sends an reordered datagram right after the next one") {
    DatagramServer::Options options;
    options.faults.reorder = 0.3;
    House house(options);
    Peer peer(house.address);
    const std::vector<std::string> all = numbered(300);
    peer.exchange(house, all);
    turn_until(house.loop, [&] {
        peer.receive();
        return peer.got.size() == all.size();
    });
    std::map<std::string, std::size_t> place;
    for (std::size_t i = 0; i < all.size(); ++i) place[peer.got[i]] = i;
    REQUIRE(place.size() == all.size());
    CHECK((peer.got != all));
    // Each datagram of an reordered run is sent after the datagram that follows the run.
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
        const bool reordered = place[all[i]] > place[all[i + 1]];
        const bool in_order = place[all[i]] + 1 == place[all[i + 1]];
        const bool after_run = place[all[i]] < place[all[i + 1]];
        CHECK((reordered || in_order || after_run));
    }
}

TEST_CASE("sends held answers while draining, or gives them up") {
    const bool in_time = GENERATE(true, false);
    DatagramServer::Options options;
    options.faults.delay = in_time ? ev::Duration(20ms) : ev::Duration(1h);
    House house(options);
    Peer peer(house.address);
    peer.exchange(house, numbered(3));
    CHECK(peer.got.empty());
    bool drained = false;
    house.server.drain(in_time ? 1h : 1ms, [&] { drained = true; });
    turn_until(house.loop, [&] { return drained; });
    turn_until(house.loop, [&] {
        peer.receive();
        return !in_time || peer.got.size() == 3;
    });
    CHECK(peer.got.size() == (in_time ? 3 : 0));
}

TEST_CASE("bounds the answers that faults hold back") {
    DatagramServer::Options options;
    options.faults.delay = 1h;
    options.max_held = 2000;  // two of the answers, with their overhead
    House house(options);
    Peer peer(house.address);
    peer.exchange(house, {std::string(600, 'a'), std::string(600, 'b'), std::string(400, 'c')});
    CHECK(house.server.counters().datagrams_dropped == 1);
}
