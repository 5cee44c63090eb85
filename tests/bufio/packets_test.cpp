// Tests UDP sockets, and streams over them.
#include "bufio/packets.hpp"

#include "bufio/system.hpp"
#include "tests/bufio/packet_fixture.hpp"
#include "tests/bufio/system.hpp"
#include "tests/support/random.hpp"

using namespace test;
using bufio::IoStatus;

namespace {

using Datagrams = std::vector<std::string>;

// Returns an address of a socket that is closed.
bufio::Address nobody() {
    return PacketSocket(bufio::bound_datagram_socket(loopback())).address();
}

}  // namespace

TEST_CASE("a frame is a datagram, there and back") {
    const std::string bytes =
        GENERATE(std::string(), std::string("one"), pattern(bufio::max_datagram));
    PacketPair pair(GENERATE(loopback(), at("::1")));
    pair.send({bytes});
    const std::span<const Datagram> got = pair.far.receive();
    REQUIRE(got.size() == 1);
    CHECK((got[0].bytes == bytes));
    CHECK(got[0].local.text() == pair.far.address().text());
    CHECK_FALSE(got[0].is_to_group);
    const bufio::Packet answer{got[0].bytes, &got[0].peer, &got[0].local};
    CHECK(pair.far.send({&answer, 1}) == 1);
    REQUIRE(pair.run_until([&] { return pair.near.calls > 0; }));
    CHECK((pair.near.got == framed({bytes})));
    CHECK(pair.near.stream->bytes_written() == 2 + bytes.size());
    CHECK(pair.peer.text() == pair.far.address().text());
}

TEST_CASE("a write is cut at any byte, and sends whole frames") {
    const Datagrams all{"", "abc", "", "d"};
    const std::string frames = framed(all);
    const std::size_t ends[] = {2, 7, 9, 12};  // of the frames
    for (std::size_t cut = 1; cut <= frames.size(); ++cut) {
        INFO(cut);
        PacketSocket far(bufio::bound_datagram_socket(loopback()));
        bufio::Address peer = far.address();
        const auto transport = bufio::make_packet_transport(connected_to(peer), peer);
        std::size_t whole = 0;
        for (const std::size_t end : ends)
            if (end <= cut) whole = end;
        const bufio::IoResult first = transport->write(frames.data(), cut);
        CHECK(first.status == (whole > 0 ? IoStatus::done : IoStatus::wants_write));
        CHECK(first.count == whole);
        if (whole < frames.size())
            CHECK(transport->write(frames.data() + whole, frames.size() - whole).count ==
                  frames.size() - whole);
        Datagrams got;
        while (got.size() < all.size())
            for (const std::string& each : received(far)) got.push_back(each);
        CHECK(got == all);
    }
}

TEST_CASE("a read of any size gets a part of the frames, and the next reads the rest") {
    const Datagrams all{"", "abc", pattern(60'000), pattern(50'000), "d"};
    for (const std::size_t size : {1U, 2U, 3U, 5U, 4096U, 64U * 1024, 1024U * 1024}) {
        INFO(size);
        PacketPair pair;
        pair.send({"hello"});
        const std::span<const Datagram> hello = pair.far.receive();
        REQUIRE(hello.size() == 1);
        std::vector<bufio::Packet> answers;
        for (const std::string& each : all) answers.push_back({each, &hello[0].peer});
        while (!answers.empty()) {
            const std::size_t sent = pair.far.send(answers);
            REQUIRE(sent > 0);
            answers.erase(answers.begin(), answers.begin() + static_cast<std::ptrdiff_t>(sent));
        }
        const auto reader =
            bufio::make_packet_transport(Fd(::dup(pair.near.stream->descriptor())), pair.peer);
        std::string got;
        std::string space(size, '\0');
        for (;;) {
            const bufio::IoResult result = reader->read(space.data(), size);
            if (result.status != IoStatus::done) break;
            REQUIRE(result.count > 0);
            REQUIRE(result.count <= size);
            got.append(space, 0, result.count);
        }
        CHECK((got == framed(all)));
        CHECK_FALSE(reader->buffers_input());
    }
}

TEST_CASE("a stream passes on datagrams that exceed one read without another event") {
    PacketPair pair;
    pair.send({"hello"});
    CHECK(received(pair.far) == Datagrams{"hello"});
    pair.send(Datagrams(3, pattern(60'000)));
    for (int i = 0; i < 3; ++i) pair.echo();
    REQUIRE(pair.run_until([&] { return pair.near.got.size() == 3 * 60'002; }));
    CHECK((pair.near.got == framed(Datagrams(3, pattern(60'000)))));
}

#if BUFIO_HAS_MMSG
TEST_CASE("sends many datagrams in one system call, and receives them in a few") {
    const std::size_t count = GENERATE(as<std::size_t>{}, 2, 60);
    Datagrams all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(std::to_string(i));
    Faults faults;
    PacketPair pair;
    pair.send(all);
    CHECK(faults.sendmsg_calls == 1);
    pair.echo();
    CHECK(faults.sendmsg_calls == 2);
    REQUIRE(pair.run_until([&] { return pair.near.got.size() == framed(all).size(); }));
    CHECK(faults.recvmsg_calls == 2);
    CHECK(pair.near.got == framed(all));
}

TEST_CASE("asks for one datagram after a call that returned one, and each 16th time for more") {
    Faults faults;
    std::vector<std::size_t> asked;
    PacketPair pair;
    faults.recvmsg = [&](std::size_t count) {
        asked.push_back(count);
        return static_cast<long>(count);
    };
    for (std::size_t i = 0; i < 34; ++i) {
        pair.send({"x"});
        received(pair.far);
        CHECK(asked[i] == (i % 16 == 0 ? 64 : 1));
    }
}
#endif

#if BUFIO_HAS_PKTINFO
TEST_CASE("answers from the address that the datagram was sent to") {
    const bool by_stream = GENERATE(false, true);
    PacketSocket server(bufio::bound_datagram_socket(at("0.0.0.0")));
    bufio::Address sender;
    const auto transport =
        bufio::make_packet_transport(Fd(::dup(server.descriptor())), sender, false);
    for (const int host : {1, 2, 77}) {
        bufio::Address own = at("127.0.0." + std::to_string(host), server.address().port());
        PacketSocket client(connected_to(own));
        const bufio::Packet question{"who"};
        REQUIRE(client.send({&question, 1}) == 1);
        char frame[10];
        if (by_stream) {
            REQUIRE(transport->read(frame, sizeof frame).count == 5);
            CHECK(sender.text() == client.address().text());
            REQUIRE(transport->write(frame, 5).count == 5);
        } else {
            const std::span<const Datagram> got = server.receive();
            REQUIRE(got.size() == 1);
            CHECK(got[0].local.text() == own.text());
            CHECK_FALSE(got[0].is_to_group);
            const bufio::Packet answer{got[0].bytes, &got[0].peer, &got[0].local};
            REQUIRE(server.send({&answer, 1}) == 1);
        }
        CHECK(received(client) == Datagrams{"who"});  // it receives from no other address
    }
}

TEST_CASE("marks a datagram sent to a broadcast address") {
    PacketSocket server(bufio::bound_datagram_socket(at("0.0.0.0")));
    const Fd sender = bufio::open_socket(AF_INET, true);
    const int on = 1;
    ::setsockopt(sender.get(), SOL_SOCKET, SO_BROADCAST, &on, sizeof on);
    const bufio::Address all = at("127.255.255.255", server.address().port());
    REQUIRE(::sendto(sender.get(), "all", 3, 0, all.get(), all.size) == 3);
    const std::span<const Datagram> got = server.receive();
    REQUIRE(got.size() == 1);
    CHECK(got[0].is_to_group);
}
#else
TEST_CASE("answers from the address of the route if the datagram's local address is unknown") {
    PacketSocket server(bufio::bound_datagram_socket(at("0.0.0.0")));
    PacketSocket client(connected_to(at("127.0.0.1", server.address().port())));
    const bufio::Packet question{"who"};
    REQUIRE(client.send({&question, 1}) == 1);
    const std::span<const Datagram> got = server.receive();
    REQUIRE(got.size() == 1);
    CHECK(got[0].local.is_wildcard());
    CHECK_FALSE(got[0].is_to_group);
    const bufio::Packet answer{got[0].bytes, &got[0].peer, &got[0].local};
    REQUIRE(server.send({&answer, 1}) == 1);
    CHECK(received(client) == Datagrams{"who"});
}
#endif

TEST_CASE("a bound socket's stream answers the last sender") {
    PacketSocket one(bufio::open_socket(AF_INET, true));
    PacketSocket other(bufio::open_socket(AF_INET, true));
    ev::Loop loop;
    bufio::Address peer;
    Taker taker;
    Fd bound = bufio::bound_datagram_socket(loopback());
    const bufio::Address own = bufio::Address::of_socket(bound.get());
    taker.open(loop, bufio::make_packet_transport(std::move(bound), peer, false));
    for (PacketSocket* const socket : {&one, &other, &one}) {
        const bufio::Packet question{"a", &own};
        REQUIRE(socket->send({&question, 1}) == 1);
        REQUIRE(run_until(loop, [&] { return !taker.got.empty(); }));
        CHECK(taker.stream->write(std::exchange(taker.got, {})));
        CHECK(received(*socket) == Datagrams{"a"});
    }
}

TEST_CASE("an unreachable port ends the stream once, with the reason") {
    const bool writes_again = GENERATE(false, true);  // the second write gets the error
    ev::Loop loop;
    bufio::Address peer = nobody();
    Taker near;
    near.open(loop, bufio::make_packet_transport(connected_to(peer), peer));
    CHECK(near.stream->write(framed({"a"})));
    if (writes_again) CHECK(near.stream->write(framed({"b"})));
    CHECK(near.calls == 0);  // never calls back from inside a call
    REQUIRE(run_until(loop, [&] { return near.ends > 0; }));
    CHECK(near.reason() == Reason::refused);
    CHECK(near.text() == "cannot connect to " + peer.text() + ": Connection refused");
    CHECK_FALSE(near.stream->write(framed({"c"})));
    run_pending(loop);
    CHECK(near.ends == 1);
}

TEST_CASE("a system error ends the stream of a connected socket, whichever call fails") {
    struct Case {
        bool sending;
        int code;
        Reason reason;
    };
    const Case each = GENERATE(
        Case{true, EPERM, Reason::send}, Case{true, EHOSTUNREACH, Reason::connect},
        Case{false, ENOMEM, Reason::receive}, Case{false, EHOSTUNREACH, Reason::connect});
    PacketPair pair;
    pair.send({"a"});
    pair.echo();
    Faults faults;
    (each.sending ? faults.sendmsg : faults.recvmsg) = [&](std::size_t) -> long {
        return -each.code;
    };
    if (each.sending) pair.send({"b"});
    REQUIRE(pair.run_until([&] { return pair.near.ends == 1; }));
    CHECK(pair.near.got == (each.sending ? framed({"a"}) : ""));
    CHECK(pair.near.reason() == each.reason);
    CHECK(pair.near.text().find("Success") == std::string::npos);
}

TEST_CASE("drops a datagram that the system refuses, and sends the others") {
    Faults faults;
    const int refusal = GENERATE(ENOBUFS, ENOMEM, EMSGSIZE);
    int calls = 0;
    faults.sendmsg = [&](std::size_t) -> long { return ++calls == 2 ? -refusal : 1; };
    PacketPair pair;
    pair.send({"a", "b", "c"});
    Datagrams got = received(pair.far);
    if (got.size() < 2) got.push_back(received(pair.far).front());
    CHECK(got == Datagrams{"a", "c"});
    CHECK(pair.near.stream->bytes_written() == framed({"a", "b", "c"}).size());
    CHECK_FALSE(pair.near.stream->end());
}

TEST_CASE("a bound socket's stream drops each datagram that can't be sent") {
    PacketPair pair;
    bufio::Address to = bufio::Address::of_socket(pair.near.stream->descriptor());
    const auto transport =
        bufio::make_packet_transport(Fd(::dup(pair.far.descriptor())), to, false);
    Faults faults;
    int calls = 0;
    faults.sendmsg = [&](std::size_t) -> long { return ++calls == 1 ? -EPERM : 1; };
    const std::string frames = framed({"a", "b"});
    CHECK(transport->write(frames.data(), frames.size()).count == 3);
    CHECK(transport->write(frames.data() + 3, 3).count == 3);
    REQUIRE(pair.run_until([&] { return pair.near.got == framed({"b"}); }));
}

TEST_CASE("random exchanges keep every datagram whole", "[random]") {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        INFO("seed " << seed);
        Random random(seed);
        Faults faults;
        const auto fault = [&](std::size_t count) -> long {
            constexpr long outcomes[] = {-EAGAIN, -EINTR};
            const std::uint64_t choice = random.next() % 8;
            if (choice < std::size(outcomes)) return outcomes[choice];
            return static_cast<long>(1 + random.next() % count);
        };
        faults.sendmsg = faults.recvmsg = fault;
        PacketPair pair;
        bufio::Address client;
        Taker server;
        server.open(pair.loop, bufio::make_packet_transport(Fd(::dup(pair.far.descriptor())),
                                                            client, false));
        server.on_change = [](Stream& stream) {
            REQUIRE(stream.write(stream.received()));
            stream.consume(stream.received().size());
        };
        std::string sent;
        for (std::size_t i = 0; i < 400; ++i) {
            const std::size_t size = random.index(random.index(8) == 0 ? 60'000 : 200);
            const std::string frame = framed({pattern(size)});
            sent += frame;
            REQUIRE(pair.near.stream->write(frame));
            // Limits the datagrams in flight, so that the system's buffers can store them all.
            REQUIRE(
                pair.run_until([&] { return pair.near.got.size() + 60'000 > sent.size(); }));
        }
        REQUIRE(pair.run_until([&] { return pair.near.got.size() == sent.size(); }));
        CHECK((pair.near.got == sent));
    }
}

TEST_CASE("an exchange of datagrams that runs out of memory leaves no descriptor open",
          "[failure]") {
    refuse_memory([] {
        PacketPair pair;
        pair.near.stream->write(framed(Datagrams(20, pattern(1000))));
        if (!pair.run_until([&] {
                pair.echo();
                return pair.near.got.size() == 20 * 1002;
            }))
            throw std::runtime_error("no answer");
    });
}
