// The ports for datagrams, their rules and their faults, on one loop in virtual time.

#include "app/server/datagram_port.hpp"
#include "tests/app/fixture.hpp"
#include "tests/app/server/raw_client.hpp"
#include "tests/bufio/system.hpp"
#include "tests/support/virtual_time.hpp"

using namespace std::chrono_literals;
using namespace yodel;

using Datagrams = std::vector<std::string>;

namespace {

struct House {
    explicit House(const EchoServer::Options& options = {})
        : server(loop, options, [this](auto&, auto& text) { log.push_back(text); }),
          address(server.listen_datagrams(test::any_loopback_port())),
          peer(address, test::RawClient::Kind::datagrams, 4 * 1024 * 1024) {}

    // Sends the datagrams one by one, each after the server has received the previous one.
    // Returns all answers so far.
    const Datagrams& exchange(const Datagrams& datagrams) {
        std::uint64_t expected = server.counters().datagrams_in;
        for (const std::string& each : datagrams) {
            ++expected;
            peer.send(each);
            loop.until([&] { return server.counters().datagrams_in == expected; });
        }
        return answers();
    }
    const Datagrams& answers() {
        while (peer.receive()) {
        }
        return peer.datagrams;
    }

    Datagrams log;
    test::VirtualLoop loop;
    EchoServer server;
    bufio::Address address;
    test::RawClient peer;
};

EchoServer::Options faulty(Faults faults) {
    EchoServer::Options options;
    options.faults = std::move(faults);
    return options;
}

Datagrams numbered(int count) {
    Datagrams all;
    for (int i = 0; i < count; ++i) all.push_back("datagram " + std::to_string(i));
    return all;
}

constexpr ev::Time begin{1h};

// Returns the number of answers to `times` duplicates at this interval.
unsigned answered(LoopGuard& guard, std::uint64_t key, unsigned times, ev::Duration apart) {
    unsigned count = 0;
    for (unsigned i = 0; i < times; ++i)
        if (guard.count(key, begin + i * apart) <= LoopGuard::max_repeats) ++count;
    return count;
}

}  // namespace

TEST_CASE("echoes every datagram, even an empty one") {
    House house;
    const Datagrams all{"one", "", std::string(65507, 'x')};
    CHECK((house.exchange(all) == all));
    CHECK(house.log.empty());
    const yodel::Counters counters = house.server.counters();
    CHECK(counters.datagrams_in == 3);
    CHECK(counters.datagrams_out == 3);
    CHECK(counters.datagram_bytes_in == 65510);
    CHECK(counters.datagram_bytes_out == 65510);
}

TEST_CASE("takes the same bytes, again and again, for a loop, and reports it once") {
    for (const bool reflect_any : {false, true}) {
        EchoServer::Options options;
        options.reflect_any = reflect_any;
        House house(options);
        CHECK(house.exchange(Datagrams(100, "again")).size() == (reflect_any ? 100 : 64));
        CHECK(house.server.counters().datagrams_unanswered == (reflect_any ? 0 : 36));
        CHECK(house.exchange({"other"}).back() == "other");
        const Datagrams report{"the same 5 bytes arrived more than 64 times within a second; "
                               "not answered, because this may be a loop"};
        CHECK(house.log == (reflect_any ? Datagrams{} : report));
    }
}

TEST_CASE("logs each datagram if it is verbose, and why it is not answered") {
    EchoServer::Options options;
    options.verbose = true;
    House house(options);
    house.exchange(Datagrams(66, "a"));
    CHECK(house.log.front() == "datagram of 1 byte: a");
    CHECK(house.log.back() == "datagram of 1 byte, not answered: possible loop");
}

TEST_CASE("draws each fault of a datagram by its seed, regardless of the other faults") {
    const Datagrams all = numbered(400);
    const auto answers = [&](const Faults& faults) {
        House house(faulty(faults));
        const Datagrams got = house.exchange(all);
        const yodel::Counters counters = house.server.counters();
        CHECK(counters.datagrams_out == got.size());
        if (faults.dup == 0) CHECK(counters.datagrams_dropped == all.size() - got.size());
        return got;
    };
    const Datagrams dropped = answers({.drop = 0.1, .seed = 5});
    CHECK(dropped.size() > 330);
    CHECK(dropped.size() < 390);
    CHECK((answers({.drop = 0.1, .seed = 5}) == dropped));
    CHECK((answers({.drop = 0.1, .seed = 6}) != dropped));
    const Datagrams corrupted = answers({.drop = 0.1, .corrupt = 0.5, .seed = 5});
    CHECK(corrupted.size() == dropped.size());
    CHECK((corrupted != dropped));
    std::map<std::string, int> times;
    for (const std::string& each : answers({.dup = 0.5, .seed = 6})) ++times[each];
    CHECK(times.size() == all.size());
    const auto duplicated = std::count_if(times.begin(), times.end(),
                                          [](const auto& each) { return each.second == 2; });
    CHECK(duplicated > 150);
    CHECK(duplicated < 250);
}

TEST_CASE("sends a reordered datagram right after the next one, or after a while") {
    House house(faulty({.reorder = 0.3}));
    const Datagrams all = numbered(300);
    house.exchange(all);
    house.loop.pass(100ms);
    const Datagrams& got = house.answers();
    REQUIRE(got.size() == all.size());
    CHECK((got != all));
    for (std::size_t first = 0; first < all.size();) {
        const std::size_t next = std::stoul(got[first].substr(9));  // answered before `first`
        REQUIRE((next >= first && next < all.size()));
        for (std::size_t i = first; i < next; ++i) CHECK(got[i + 1] == all[i]);
        first = next + 1;
    }
    House alone(faulty({.reorder = 1}));
    alone.exchange({"a", "b"});
    alone.loop.pass(99ms);
    CHECK(alone.answers().empty());
    alone.loop.pass(2ms);
    CHECK(alone.answers() == Datagrams{"a", "b"});
}

TEST_CASE("sends delayed answers at their time, in the order in which they are due") {
    House house(faulty({.delay = 1s}));
    house.exchange({"a"});
    house.loop.pass(500ms);
    house.exchange({"b"});
    house.loop.pass(499ms);
    CHECK(house.answers().empty());
    house.loop.pass(1ms);
    CHECK(house.answers() == Datagrams{"a"});
    house.loop.pass(500ms);
    CHECK(house.answers() == Datagrams{"a", "b"});
}

TEST_CASE("sends held answers while draining, or gives them up after the grace") {
    for (const ev::Duration grace : {ev::Duration(20ms), ev::Duration(9ms)}) {
        House house(faulty({.delay = 10ms}));
        house.exchange(numbered(3));
        int drained = 0;
        house.server.drain(grace, [&] { ++drained; });
        house.loop.pass(8ms);
        CHECK(drained == 0);
        house.loop.pass(2ms);
        CHECK(drained == 1);
        CHECK(house.answers().size() == (grace > 10ms ? 3 : 0));
        house.loop.pass(1h);
        CHECK(drained == 1);
    }
    House reordered(faulty({.reorder = 1}));
    reordered.exchange({"a"});
    bool drained = false;
    reordered.server.drain(1s, [&] { drained = true; });
    reordered.loop.pass(99ms);
    CHECK_FALSE(drained);
    reordered.loop.pass(1ms);
    CHECK(drained);
    CHECK(reordered.answers() == Datagrams{"a"});
}

TEST_CASE("drains connections and datagrams together") {
    House house(faulty({.delay = 10ms}));
    const test::RawClient client(house.server.listen(test::any_loopback_port()));
    house.loop.until([&] { return house.server.counters().connections == 1; });
    house.exchange({"a"});
    bool drained = false;
    house.server.drain(1h, [&] { drained = true; });
    client.shut();
    house.loop.until([&] { return house.server.counters().connections == 0; });
    CHECK_FALSE(drained);
    house.loop.pass(10ms);
    CHECK(drained);
}

TEST_CASE("bounds the answers that faults hold back") {
    EchoServer::Options options = faulty({.delay = 1h});
    options.max_buffer = 2000;  // two of the answers, with their overhead
    House house(options);
    house.exchange({std::string(600, 'a'), std::string(600, 'b'), std::string(400, 'c')});
    CHECK(house.server.counters().datagrams_dropped == 1);
}

TEST_CASE("reads nothing while the system accepts no answers, and then sends them in order") {
    const bool delays = GENERATE(false, true);
    House house(faulty({.delay = ev::Duration(delays ? 1ms : 0ms)}));
    test::Faults system;
    std::uint64_t received = 0;
    system.sendmsg = [&](std::size_t) -> long {
        if (system.sendmsg_calls > 5) return 1;
        received = house.server.counters().datagrams_in;
        return -EAGAIN;
    };
    for (const char* each : {"a", "b", "", "c"}) {
        house.peer.send(each);
        house.loop.until([&] { return delays || system.sendmsg_calls > 0; });
    }
    house.loop.until([&] { return house.server.counters().datagrams_in == 4; });
    if (delays) house.loop.pass(1ms);
    house.loop.until([&] { return house.server.counters().datagrams_out == 4; });
    CHECK(received == (delays ? 4 : 1));
    CHECK(house.answers() == Datagrams{"a", "b", "", "c"});
}

TEST_CASE("drops an answer that the system refuses, and counts it") {
    House house;
    test::Faults system;
    system.sendmsg = [&](std::size_t) { return system.sendmsg_calls == 1 ? -EPERM : 1L; };
    CHECK(house.exchange({"a", "b"}) == Datagrams{"b"});
    CHECK(house.server.counters().datagrams_dropped == 1);
    CHECK(house.server.counters().datagrams_out == 1);
    CHECK(house.server.counters().datagram_bytes_out == 1);
}

TEST_CASE("pauses for a second if it can't receive") {
    House house;
    test::Faults system;
    system.recvmsg = [](std::size_t) -> long { return -ENOMEM; };
    house.peer.send("a");
    house.loop.until([&] { return system.recvmsg_calls == 1; });
    house.loop.pass(999ms);
    CHECK(system.recvmsg_calls == 1);
    system.recvmsg = nullptr;
    house.loop.pass(1ms);
    house.loop.until([&] { return house.server.counters().datagrams_in == 1; });
    CHECK(house.answers() == Datagrams{"a"});
}

TEST_CASE("ends a loop once it has stopped for a second") {
    LoopGuard guard;
    CHECK(answered(guard, 7, 1000, 1ms) == 64);
    CHECK(guard.count(7, begin + 1998ms) > LoopGuard::max_repeats);
    CHECK(guard.count(7, begin + 2998ms) == 1);
}

TEST_CASE("takes less frequent repeats for no loop, however long they go on") {
    LoopGuard guard;
    CHECK(answered(guard, 7, 10'000, 16ms) == 10'000);
}

TEST_CASE("detects a loop among many other senders") {
    LoopGuard guard;
    unsigned answers = 0;
    for (unsigned i = 0; i < 10'000; ++i) {
        const ev::Time now = begin + i * 50us;
        for (unsigned other = 0; other < 10; ++other) guard.count(1000 + 10 * i + other, now);
        if (guard.count(7, now) <= LoopGuard::max_repeats) ++answers;
    }
    CHECK(answers == 64);
}
