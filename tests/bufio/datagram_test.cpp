// Tests datagram sockets: receiving, sending and ending. A batch of one simulates systems that
// move one datagram per call.
#include "bufio/datagram.hpp"

#include "bufio/datagram_calls.hpp"
#include "tests/bufio/addresses.hpp"
#include "tests/bufio/datagram_fixture.hpp"
#include "tests/bufio/datagram_system.hpp"

using namespace test;

namespace {

DatagramSocket::Limits batches_of(std::size_t count) {
    DatagramSocket::Limits limits;
    limits.batch = count;
    return limits;
}

bufio::Address loopback_v6() {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_addr = in6addr_loopback;
    return {reinterpret_cast<const sockaddr*>(&address), sizeof address};
}

}  // namespace

TEST_CASE("receives a whole datagram with its sender's address, and answers it") {
    const std::size_t batch = GENERATE(as<std::size_t>{}, 1, 64);
    const std::string bytes =
        GENERATE(std::string(), std::string("one"), pattern(bufio::max_datagram));
    const bufio::Address address = GENERATE(loopback(), loopback_v6());
    DatagramPair pair(batches_of(batch), address);
    echo(pair.server);
    pair.send(bytes);
    pair.until_client_got(1);
    CHECK((pair.server.got == std::vector{bytes}));
    CHECK((pair.client.got == std::vector{bytes}));
    CHECK(pair.server.last.peer.text() == pair.client.socket->address().text());
    CHECK(pair.server.last.local.text() == pair.server.socket->address().text());
    CHECK(pair.client.socket->dequeued() == 1);
    CHECK(pair.client.socket->refused() == 0);
}

TEST_CASE("refuses a datagram that is too long for any packet, or for the queue") {
    DatagramSocket::Limits limits;
    limits.output = 1000;  // bytes, addresses included
    DatagramPair small(limits);
    CHECK_FALSE(small.client.socket->send(std::string(1000, 'x')));
    CHECK(small.client.socket->send(std::string(100, 'x')));
    DatagramPair pair;
    CHECK_FALSE(pair.client.socket->send(std::string(bufio::max_datagram + 1, 'x')));
    CHECK(pair.client.socket->pending() == 0);
}

#if BUFIO_HAS_MMSG
TEST_CASE("sends many datagrams in one system call, and receives them in a few") {
    const std::size_t count = GENERATE(as<std::size_t>{}, 2, 60);
    DatagramFaults faults;
    DatagramPair pair;
    for (std::size_t i = 0; i < count; ++i)
        REQUIRE(pair.client.socket->send(std::to_string(i)));
    CHECK(pair.client.socket->pending() == count);
    pair.client.socket->flush();
    CHECK(faults.send_calls == 1);
    pair.until_server_got(count);
    CHECK(faults.receive_calls <= 2);
    for (std::size_t i = 0; i < count; ++i) CHECK(pair.server.got[i] == std::to_string(i));
}

TEST_CASE("asks for one datagram after a call that returned one, and each 16th time for more") {
    DatagramFaults faults;
    std::vector<std::size_t> asked;
    faults.receive = [&](std::size_t count) {
        asked.push_back(count);
        return static_cast<long>(count);
    };
    DatagramPair pair;
    for (std::size_t i = 1; i <= 34; ++i) {
        pair.send("x");
        pair.until_server_got(i);
    }
    for (std::size_t i = 0; i < 34; ++i) CHECK(asked[i] == (i % 16 == 0 ? 64 : 1));
}
#endif

#if BUFIO_HAS_PKTINFO
TEST_CASE("answers from the address that the datagram was sent to") {
    const std::size_t batch = GENERATE(as<std::size_t>{}, 1, 64);
    ev::Loop loop;
    Correspondent server;
    server.listen(loop, any_address(), batches_of(batch));
    echo(server);
    for (const int host : {1, 2, 77}) {
        Correspondent client;
        client.connect(loop, v4(host, server.socket->address().port()));
        REQUIRE(client.socket->send("who"));
        client.socket->flush();
        // A connected socket receives nothing from other addresses.
        REQUIRE(run_until(loop, [&] { return !client.got.empty(); }));
        CHECK(same_host(server.last.local, v4(host, 0)));
        CHECK_FALSE(server.last.to_group);
    }
}

TEST_CASE("marks a datagram sent to a broadcast address") {
    ev::Loop loop;
    Correspondent server;
    server.listen(loop, any_address());
    const Fd sender = bufio::open_datagram_socket(AF_INET);
    const int on = 1;
    ::setsockopt(sender.get(), SOL_SOCKET, SO_BROADCAST, &on, sizeof on);
    const bufio::Address all = v4(0xffffff, server.socket->address().port());
    REQUIRE(::sendto(sender.get(), "all", 3, 0, all.get(), all.size) == 3);
    REQUIRE(run_until(loop, [&] { return !server.got.empty(); }));
    CHECK(server.last.to_group);
}
#else
TEST_CASE("answers from the address of the route if the datagram's local address is unknown") {
    ev::Loop loop;
    Correspondent server;
    server.listen(loop, any_address());
    echo(server);
    Correspondent client;
    client.connect(loop, v4(1, server.socket->address().port()));
    REQUIRE(client.socket->send("who"));
    client.socket->flush();
    REQUIRE(run_until(loop, [&] { return !client.got.empty(); }));
    CHECK(server.last.local.is_wildcard());
    CHECK_FALSE(server.last.to_group);
}
#endif

TEST_CASE("an unreachable port ends a connected socket once, with the reason") {
    const bool paused = GENERATE(false, true);
    ev::Loop loop;
    bufio::Address nobody;
    {
        Correspondent server;
        server.listen(loop, loopback());
        nobody = server.socket->address();
    }
    Correspondent client;
    client.connect(loop, nobody);
    client.socket->pause_reading(paused);
    REQUIRE(client.socket->send("a"));
    client.socket->flush();
    REQUIRE(run_until(loop, [&] { return client.ends > 0; }));
    CHECK(client.socket->end().reason == Reason::refused);
    CHECK(client.socket->end().text() ==
          "cannot connect to " + nobody.text() + ": Connection refused");
    CHECK_FALSE(client.socket->send("b"));
    run_pending(loop);
    CHECK(client.ends == 1);
}

TEST_CASE("refuses to bind to an address in use") {
    ev::Loop loop;
    Correspondent first;
    Correspondent second;
    first.listen(loop, loopback());
    const std::string text = first.socket->address().text();
    CHECK_THROWS_WITH(second.listen(loop, first.socket->address()),
                      "cannot listen on udp " + text + ": Address already in use");
}

TEST_CASE("a paused socket leaves datagrams in the system's buffer") {
    DatagramPair pair;
    pair.server.socket->pause_reading(true);
    pair.send("a");
    run_pending(pair.loop);
    CHECK(pair.server.got.empty());
    pair.server.socket->pause_reading(false);
    pair.until_server_got(1);
}

TEST_CASE("the queue is bounded, and holds datagrams that the system does not accept") {
    DatagramFaults faults;
    bool full = true;
    faults.send = [&](std::size_t count) { return full ? -EAGAIN : static_cast<long>(count); };
    DatagramSocket::Limits limits = batches_of(GENERATE(as<std::size_t>{}, 1, 64));
    limits.output = 100'000;
    DatagramPair pair(limits);
    std::size_t taken = 0;
    while (pair.client.socket->send(std::string(1000, 'x'))) {
        pair.client.socket->flush();
        ++taken;
    }
    CHECK(taken > 50);
    CHECK(taken < 100);
    CHECK(pair.client.socket->pending() == taken);
    CHECK(pair.client.socket->pending_bytes() == 1000 * taken);
    CHECK(pair.client.written_calls == 0);
    full = false;
    pair.until_server_got(taken);
    CHECK(pair.client.socket->pending() == 0);
    CHECK(pair.client.socket->dequeued() == taken);
    CHECK(pair.client.written_calls == 1);
}

TEST_CASE("sends the queue in order, though the system first accepts only a part of it") {
    DatagramFaults faults;
    faults.send = [&](std::size_t) { return faults.send_calls == 2 ? -EAGAIN : 1L; };
    DatagramPair pair;
    for (const char* each : {"a", "bb"}) REQUIRE(pair.client.socket->send(each));
    pair.client.socket->flush();
    REQUIRE(pair.client.socket->send("ccc"));
    REQUIRE(pair.client.socket->pending() == 2);
    pair.server.socket->pause_reading(true);
    REQUIRE(run_until(pair.loop, [&] { return pair.client.socket->pending() == 0; }));
    CHECK(faults.receive_calls == 0);  // a writable socket is not read
    pair.server.socket->pause_reading(false);
    pair.until_server_got(3);
    CHECK((pair.server.got == std::vector<std::string>{"a", "bb", "ccc"}));
}

TEST_CASE("receives nothing when it can write again while it is paused or after its end") {
    const bool paused = GENERATE(true, false);
    DatagramPair pair;
    pair.server.socket->send("in", pair.client.socket->address());
    pair.server.socket->flush();
    DatagramFaults faults;
    int calls = 0;
    faults.send = [&](std::size_t) -> long {
        return ++calls == 1 ? -EAGAIN : paused ? 1 : -EPERM;
    };
    pair.client.socket->pause_reading(paused);
    REQUIRE(pair.client.socket->send("out"));
    pair.client.socket->flush();
    REQUIRE(run_until(pair.loop, [&] { return pair.client.socket->pending() == 0; }));
    CHECK(pair.client.got.empty());
    CHECK(bool(pair.client.socket->end()) == !paused);
}

TEST_CASE("drops a datagram that the system refuses, and sends the others") {
    DatagramFaults faults;
    const int refusal = GENERATE(ENOBUFS, ENOMEM, EMSGSIZE);
    int calls = 0;
    faults.send = [&](std::size_t) -> long { return ++calls == 2 ? -refusal : 1; };
    DatagramPair pair(batches_of(GENERATE(as<std::size_t>{}, 1, 64)));
    for (const char* each : {"a", "b", "c"}) REQUIRE(pair.client.socket->send(each));
    pair.client.socket->flush();
    pair.until_server_got(2);
    CHECK((pair.server.got == std::vector<std::string>{"a", "c"}));
    CHECK(pair.client.socket->dequeued() == 3);
    CHECK(pair.client.socket->refused() == 1);
}

TEST_CASE("a bound socket continues after an answer that can't be sent") {
    DatagramPair pair;
    echo(pair.server);
    DatagramFaults faults;
    int calls = 0;
    faults.send = [&](std::size_t count) -> long {
        return ++calls == 2 ? -EPERM
                            : static_cast<long>(count);  // the first call sends the question
    };
    pair.send("a");
    pair.until_server_got(1);
    pair.send("b");
    pair.until_client_got(1);
    CHECK(pair.client.got.front() == "b");
    CHECK(pair.server.socket->refused() == 1);
}

TEST_CASE("a bound socket that can't receive pauses instead of spinning") {
    static ev::Time now{std::chrono::hours(1)};
    ev::Loop loop([] { return now; });
    Correspondent server;
    Correspondent client;
    server.listen(loop, loopback());
    client.connect(loop, server.socket->address());
    DatagramFaults faults;
    faults.receive = [](std::size_t) -> long { return -ENOMEM; };
    REQUIRE(client.socket->send("a"));
    client.socket->flush();
    REQUIRE(run_until(loop, [&] { return faults.receive_calls == 1; }));
    run_pending(loop);
    CHECK(faults.receive_calls == 1);
    faults.receive = nullptr;
    now += 1s - 1ms;
    run_pending(loop);
    CHECK(server.got.empty());
    now += 1ms;
    REQUIRE(run_until(loop, [&] { return !server.got.empty(); }));
}

TEST_CASE("a system error ends a connected socket, whichever call fails") {
    struct Case {
        bool sending;
        int code;
        Reason reason;
    };
    const Case each = GENERATE(
        Case{true, EPERM, Reason::send}, Case{true, EHOSTUNREACH, Reason::connect},
        Case{false, ENOMEM, Reason::receive}, Case{false, EHOSTUNREACH, Reason::connect});
    DatagramPair pair;
    DatagramFaults faults;
    (each.sending ? faults.send : faults.receive) = [&](std::size_t) -> long {
        return -each.code;
    };
    if (!each.sending) {
        pair.server.on_received = [](auto) {};
        pair.server.socket->send("a", pair.client.socket->address());
        pair.server.socket->flush();
    } else {
        REQUIRE(pair.client.socket->send("a"));
        pair.client.socket->flush();
        CHECK(pair.client.ends == 0);  // never calls back from inside a call
    }
    REQUIRE(run_until(pair.loop, [&] { return pair.client.ends == 1; }));
    CHECK(pair.client.socket->end().reason == each.reason);
    CHECK(pair.client.socket->end().text().find("Success") == std::string::npos);
}

TEST_CASE("the user may destroy the socket in every callback") {
    DatagramPair pair;
    const int when = GENERATE(0, 1);
    if (when == 0) {
        pair.server.on_received = [&](auto) { pair.server.socket.reset(); };
        pair.send("a");
        REQUIRE(run_until(pair.loop, [&] { return !pair.server.socket; }));
    } else {
        pair.server.socket.reset();
        pair.client.on_end = [&] { pair.client.socket.reset(); };
        pair.send("a");
        REQUIRE(run_until(pair.loop, [&] { return !pair.client.socket; }));
    }
    run_pending(pair.loop);
}
