// Tests whole connections: a client and a server as streams on sockets, with and without TLS.
#include "app/websocket/transport.hpp"
#include "bufio/stream.hpp"
#include "bufio/tls.hpp"

#include "tests/app/websocket/frames.hpp"
#include "tests/bufio/fixture.hpp"
#include "tests/support/random.hpp"

using namespace test;
namespace websocket = yodel::websocket;

namespace {

constexpr std::size_t limit = 1 << 20;

// Makes the kernel's buffers of a socket small, so that writes are partial.
void make_small(const Fd& fd) {
    const int size = 1;
    for (const int option : {SO_SNDBUF, SO_RCVBUF})
        ::setsockopt(fd.get(), SOL_SOCKET, option, &size, sizeof size);
}

// A client and a server that echoes, on one loop.
struct Echo {
    explicit Echo(bool tls, Stream::Limits limits = {}) {
        auto [one, other] = socket_pair();
        make_small(one);
        make_small(other);
        static const auto server = bufio::TlsContext::self_signed_server();
        bufio::TlsClientOptions options;
        options.pins = {server.pin()};
        near.open(loop,
                  websocket::connect(
                      tls ? bufio::TlsContext::client(options).connect(std::move(one), "h")
                          : bufio::make_plain_transport(std::move(one)),
                      {.host = "h"}, limit, facts),
                  limits);
        far.open(loop,
                 websocket::accept(tls ? server.accept(std::move(other))
                                       : bufio::make_plain_transport(std::move(other)),
                                   limit),
                 limits);
        far.on_change = [](Stream& stream) {
            if (stream.write(stream.received())) stream.consume(stream.received().size());
            if (stream.input_ended() && stream.received().empty()) stream.finish();
        };
    }

    bool run_until(std::function<bool()> condition) {
        return test::run_until(loop, std::move(condition));
    }
    bool ended() {
        return run_until([&] { return near.stream->end() && far.stream->end(); });
    }

    websocket::Facts facts;
    ev::Loop loop;
    Taker near;
    Taker far;
};

}  // namespace

TEST_CASE("random messages come back, and both sides close gracefully") {
    for (const bool tls : {false, true})
        for (unsigned seed = 1; seed <= 4; ++seed) {
            INFO("seed " << seed << (tls ? ", TLS" : ""));
            Random random(seed);
            Echo echo(tls, {random.index(100000), 1, 1 << 22});
            std::string sent;
            for (int i = 0; i < 200; ++i) {
                const std::size_t most = i % 50 == 49 ? 300000 : i % 2 == 0 ? 70 : 70000;
                sent += message(std::string(random.index(most), static_cast<char>(i)),
                                random.index(2) == 0 && i < 128);
            }
            std::size_t written = 0;
            while (written < sent.size()) {  // heads and payloads are cut anywhere
                const std::size_t size = std::min(sent.size() - written, random.index(100000));
                if (echo.near.stream->write(std::string_view(sent).substr(written, size)))
                    written += size;
                echo.loop.step(ev::Duration::zero());
            }
            echo.near.stream->finish();
            REQUIRE(echo.ended());
            CHECK((echo.near.got == sent));
            CHECK(echo.near.text() == "closed");
            CHECK(echo.far.text() == "closed");
            CHECK(echo.facts.closure->code == websocket::normal_closure);
            CHECK((echo.near.stream->tls() != nullptr) == tls);
        }
}

TEST_CASE("messages that are written before the handshake follow it") {
    for (const bool tls : {false, true}) {
        Echo echo(tls);
        CHECK_FALSE(echo.near.stream->is_open());
        REQUIRE(echo.near.stream->write(message("early")));
        echo.near.stream->finish();
        REQUIRE(echo.ended());
        CHECK(echo.near.got == message("early"));
        CHECK(echo.near.reason() == Reason::clean);
        CHECK(echo.far.reason() == Reason::clean);
    }
}

TEST_CASE("a close now sends a close frame") {
    for (const bool tls : {false, true}) {
        Echo echo(tls);
        REQUIRE(echo.run_until([&] { return echo.near.stream->is_open(); }));
        echo.near.stream->close();
        REQUIRE(echo.run_until([&] { return echo.far.stream->input_ended(); }));
    }
}

TEST_CASE("a ping is answered without a write of the user, during a write, and at the end") {
    auto [one, theirs] = socket_pair();
    const Fd other = std::move(theirs);
    ev::Loop loop;
    Taker server;
    server.open(loop, websocket::accept(bufio::make_plain_transport(std::move(one)), limit));
    const auto send = [&](const std::string& bytes) {
        REQUIRE(::write(other.get(), bytes.data(), bytes.size()) ==
                static_cast<ssize_t>(bytes.size()));
    };
    std::string wire;
    const auto receives = [&](std::size_t size) {
        return run_until(loop, [&] {
            char bytes[65536];
            const ssize_t count = ::read(other.get(), bytes, sizeof bytes);
            if (count > 0) wire.append(bytes, static_cast<std::size_t>(count));
            return wire.size() >= size;
        });
    };
    send("GET / HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
         "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n" +
         encoded(frames_of("ping one"), true));
    REQUIRE(run_until(loop, [&] { return server.stream->is_open(); }));
    REQUIRE(receives(100));
    wire.erase(0, wire.find("\r\n\r\n") + 4);
    REQUIRE(receives(5));
    CHECK(wire == "\x8a\x03one");

    const std::string large(limit, 'x');  // more than the kernel accepts
    REQUIRE(server.stream->write(message(large) + message("after")));
    REQUIRE(server.stream->pending() > 0);
    send(encoded(frames_of("ping two"), true));
    server.stream->finish();
    wire.clear();
    REQUIRE(receives(10 + large.size() + 7 + 5 + 4));
    const std::vector<Frame> frames = decoded(wire);
    REQUIRE(frames.size() == 4);
    CHECK((frames[0].payload == large));
    CHECK(described(frames[1]) == "pong two");
    CHECK(described(frames[2]) == "text after");
    CHECK(described(frames[3]) == "close 1000");
}
