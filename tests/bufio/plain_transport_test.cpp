// Tests what only plain sockets do.
#include "bufio/stream.hpp"

#include "tests/bufio/fixture.hpp"

using namespace test;

namespace {

// A stream, and the peer's socket.
struct Plain {
    Plain() : Plain(tcp_pair()) {}
    explicit Plain(std::pair<Fd, Fd> sockets) : far(std::move(sockets.second)) {
        near.open(loop, bufio::make_plain_transport(std::move(sockets.first)));
    }
    bool run_until(std::function<bool()> condition) {
        return test::run_until(loop, std::move(condition));
    }

    ev::Loop loop;
    Taker near;
    Fd far;
};

}  // namespace

TEST_CASE("a peer that has closed both sides ends the stream cleanly") {
    const int before = open_descriptors();
    {
        Plain plain(socket_pair());
        plain.far.reset();
        REQUIRE(plain.run_until([&] { return plain.near.ends == 1; }));
        CHECK(plain.near.reason() == Reason::clean);
    }
    CHECK(open_descriptors() == before);
}

TEST_CASE("a reset is reported in every state, and never as a signal") {
    const DeadlySigpipe deadly;
    Plain plain;
    bool writes = false;
    SECTION("idle") {}
    SECTION("with more to send than the system accepts") {
        plain.near.stream->write(pattern(16 * 1024 * 1024));
        run_pending(plain.loop, 1);
    }
    SECTION("half-closed by us") {
        plain.near.stream->finish();
        run_pending(plain.loop, 1);
    }
    SECTION("half-closed by the peer") {
        writes = GENERATE(false, true);
        ::shutdown(plain.far.get(), SHUT_WR);
        REQUIRE(plain.run_until([&] { return plain.near.stream->input_ended(); }));
        run_pending(plain.loop, 1);
    }
    reset(plain.far);
    if (writes) plain.near.stream->write("x");
    REQUIRE(plain.run_until([&] { return plain.near.ends == 1; }));
    CAPTURE(plain.near.text());
    const bool expected = (plain.near.reason() == Reason::closed_early &&
                           plain.near.text() == "the peer has closed the connection") ||
                          plain.near.reason() == Reason::reset;
    CHECK(expected);
}

TEST_CASE("abort() resets the connection") {
    Plain plain;
    plain.near.stream->write(pattern(16 * 1024 * 1024));
    plain.near.stream->abort();
    REQUIRE(plain.run_until([&] { return plain.near.ends == 1; }));
    CHECK(plain.near.reason() == Reason::aborted);
    plain.near.stream.reset();
    char bytes[65536];
    while (::read(plain.far.get(), bytes, sizeof bytes) > 0) {
    }
    CHECK(errno == ECONNRESET);
}
