// The ports for datagrams, their rules and their faults, on one loop in virtual time.

#include "app/server/datagram_port.hpp"
#include "tests/app/server/house.hpp"
#include "tests/bufio/system.hpp"

using namespace std::chrono_literals;
using namespace yodel;

using Datagrams = std::vector<std::string>;
using Kind = test::RawClient::Kind;

namespace {

struct House : test::HouseOn<test::VirtualLoop> {
    explicit House(const EchoServer::Options& options = {})
        : HouseOn(options, Kind::datagrams), client(peer(4 * 1024 * 1024)) {}

    // Sends the datagrams one by one, each after the server has received the previous one.
    // Returns all answers so far.
    const Datagrams& exchange(const Datagrams& datagrams) {
        std::uint64_t expected = server.counters().datagrams_in;
        for (const std::string& each : datagrams) {
            client.send(each);
            until_count(&Counters::datagrams_in, ++expected);
        }
        return answers();
    }
    const Datagrams& answers() {
        while (client.receive()) {
        }
        return client.datagrams;
    }

    test::RawClient client;
};

void play(const EchoServer::Options& options, const std::string& script) {
    test::play(options, script, Kind::datagrams);
}

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
    play({},
         "send one; send; send *{65507}; got => one |  | *{65507}; log =>; datagrams_in => 3; "
         "datagrams_out => 3; datagram_bytes_in => 65510; datagram_bytes_out => 65510");
}

TEST_CASE("takes the same bytes, again and again, for a loop, and reports it once") {
    for (const bool may_answer_all : {false, true}) {
        EchoServer::Options options;
        options.may_answer_all = may_answer_all;
        House house(options);
        CHECK(house.exchange(Datagrams(100, "again")).size() == (may_answer_all ? 100 : 64));
        CHECK(house.server.counters().datagrams_unanswered == (may_answer_all ? 0 : 36));
        CHECK(house.exchange({"other"}).back() == "other");
        const Datagrams report{"the same 5 bytes arrived more than 64 times within a second; "
                               "not answered, because this may be a loop"};
        CHECK(house.log == (may_answer_all ? Datagrams{} : report));
    }
}

TEST_CASE("logs each datagram if it is verbose, and why it is not answered") {
    EchoServer::Options options;
    options.is_verbose = true;
    std::string script = "send a; log => datagram of 1 byte: a; ";
    for (int i = 0; i < 64; ++i) script += "send a; ";
    play(options, script + "log; send a; "
                           "log => datagram of 1 byte, not answered: possible loop");
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
    play(faulty({.reorder = 1}), "send a; send b; +99ms; got =>; +2ms; got => a | b");
}

TEST_CASE("sends delayed answers at their time, in the order in which they are due") {
    play(faulty({.delay = 1s}), "send a; +500ms; send b; +499ms; got =>; +1ms; got => a; "
                                "+500ms; got => b");
}

TEST_CASE("sends held answers while draining, or gives them up after the grace") {
    const std::string end = "; +8ms; drained => no; +2ms; drained => yes; got =>";
    play(faulty({.delay = 10ms}), "send a; send b; drain 20ms" + end + " a | b");
    play(faulty({.delay = 10ms}), "send a; send b; drain 9ms" + end + "; +1h; drained => yes");
    play(faulty({.reorder = 1}),
         "send a; drain 1s; +99ms; drained => no; +1ms; drained => yes; got => a");
}

TEST_CASE("drains connections and datagrams together") {
    House house(faulty({.delay = 10ms}));
    const test::RawClient client(house.server.listen(test::any_loopback_port()));
    house.until_count(&Counters::connections, 1);
    house.exchange({"a"});
    bool drained = false;
    house.server.drain(1h, [&] { drained = true; });
    client.shut();
    house.until_count(&Counters::connections, 0);
    CHECK_FALSE(drained);
    house.loop.pass(10ms);
    CHECK(drained);
}

TEST_CASE("bounds the answers that faults hold back") {
    EchoServer::Options options = faulty({.delay = 1h});
    options.max_buffer = 2000;  // two of the answers, with their overhead
    play(options, "send *{600}; send *{600}; send *{400}; datagrams_dropped => 1");
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
        house.client.send(each);
        house.loop.until([&] { return delays || system.sendmsg_calls > 0; });
    }
    house.until_count(&Counters::datagrams_in, 4);
    if (delays) house.loop.pass(1ms);
    house.until_count(&Counters::datagrams_out, 4);
    CHECK(received == (delays ? 4 : 1));
    CHECK(house.answers() == Datagrams{"a", "b", "", "c"});
}

TEST_CASE("drops an answer that the system refuses, and counts it") {
    test::Faults system;
    system.sendmsg = [&](std::size_t) { return system.sendmsg_calls == 1 ? -EPERM : 1L; };
    play({}, "send a; send b; got => b; datagrams_dropped => 1; datagrams_out => 1; "
             "datagram_bytes_out => 1");
}

TEST_CASE("pauses for a second if it can't receive") {
    test::Faults system;
    system.recvmsg = [&](std::size_t) { return system.recvmsg_calls == 1 ? -ENOMEM : 1L; };
    play({}, "send a; +999ms; got =>; +1ms; got => a");
}

TEST_CASE("ends a loop once it has stopped for a second") {
    LoopGuard guard;
    CHECK(answered(guard, 7, 1000, 1ms) == 64);
    CHECK(guard.count(7, begin + 1998ms) > LoopGuard::max_repeats);
    CHECK(guard.count(7, begin + 2998ms) == 1);
}

TEST_CASE("does not take less frequent repeats for a loop, however long they continue") {
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
