// Tests whole connections: a client and a server as streams on sockets, with and without TLS.
#include "app/websocket/transport.hpp"
#include "bufio/stream.hpp"
#include "bufio/tls.hpp"

#include "tests/app/websocket/frames.hpp"
#include "tests/bufio/fixture.hpp"

using namespace test;
namespace websocket = yodel::websocket;

namespace {

constexpr std::size_t limit = 1 << 20;

// A client and a server that echoes, on one loop.
struct Echo {
    explicit Echo(bool tls) {
        auto [one, other] = socket_pair();
        static const auto server = bufio::TlsContext::server();
        bufio::TlsClientOptions options;
        options.pins = {server.pin()};
        near.open(loop, websocket::connect(tls ? bufio::TlsContext::client(options).connect(
                                                     std::move(one), "h")
                                               : bufio::make_plain_transport(std::move(one)),
                                           {.host = "h"}, limit, facts));
        far.open(loop, websocket::accept(tls ? server.accept(std::move(other))
                                             : bufio::make_plain_transport(std::move(other)),
                                         limit));
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

TEST_CASE("messages that are written before the handshake follow it") {
    for (const bool tls : {false, true}) {
        Echo echo(tls);
        CHECK_FALSE(echo.near.stream->is_open());
        CHECK_FALSE(echo.far.stream->handshake_done());  // reported by the loop
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
