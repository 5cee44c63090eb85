// Tests the behavior that streams have on plain sockets and over TLS alike, and what only plain
// sockets do.
#include "tests/bufio/pair.hpp"

#include "tests/bufio/system.hpp"
#include "tests/support/allocations.hpp"

using namespace test;

namespace {

// A pair of open streams, with or without TLS.
struct OpenPair : Pair {
    explicit OpenPair(bool tls, Stream::Limits limits = {})
        : Pair(make_transports(tls), limits) {
        REQUIRE(opened());
    }
};

// A stream, and the peer's socket.
struct Plain : Stage {
    Plain() : Plain(tcp_pair()) {}
    explicit Plain(std::pair<Fd, Fd> sockets) : far(std::move(sockets.second)) {
        near.open(loop, bufio::make_plain_transport(std::move(sockets.first)));
    }

    Taker near;
    Fd far;
};

}  // namespace

TEST_CASE("each side closes its output when it likes, and then both end cleanly") {
    Pair pair(make_transports(GENERATE(false, true)));
    pair.near.stream->write("question");  // before the handshake is done
    pair.near.stream->finish();
    REQUIRE(pair.run_until([&] { return pair.far.stream->input_ended(); }));
    CHECK(pair.far.got == "question");
    CHECK(pair.near.stream->output_closed());
    run_pending(pair.loop);
    CHECK_FALSE(pair.near.stream->end());
    const std::string answer = pattern(100000);
    pair.far.stream->write(answer);
    pair.far.stream->finish();
    REQUIRE(pair.run_until([&] { return pair.near.ends && pair.far.ends; }));
    CHECK((pair.near.got == answer));
    CHECK(pair.near.reason() == Reason::clean);
    CHECK(pair.far.reason() == Reason::clean);
}

TEST_CASE("close() sends the last bytes and a clean end") {
    OpenPair pair(GENERATE(false, true));
    pair.near.stream->write("last words");
    pair.near.stream->close();
    pair.near.stream.reset();
    REQUIRE(pair.run_until([&] { return pair.far.stream->input_ended(); }));
    CHECK(pair.far.got == "last words");
    CHECK(pair.far.reason() != Reason::truncated);
}

TEST_CASE("finish() times out if the peer does not close in time") {
    OpenPair pair(GENERATE(false, true));
    pair.near.stream->finish(1ms);
    REQUIRE(pair.run_until([&] { return pair.near.ends == 1; }));
    CHECK(pair.near.reason() == Reason::timeout);
}

TEST_CASE("an echo takes one call to read and one to write, and allocates nothing") {
    OpenPair pair(GENERATE(false, true));
    pair.echo();
    pair.near.got.reserve(1000);
    std::optional<Faults> faults;
    std::size_t before = 0;
    for (std::size_t i = 1; i <= 110; ++i) {
        if (i == 11) faults.emplace();
        if (i == 11) before = allocations.count;
        pair.near.stream->write("ping");
        while (pair.near.got.size() < 4 * i && pair.loop.step(patience)) {
        }
    }
    CHECK(allocations.count == before);
    CHECK(faults->recv_calls == 200);
    CHECK(faults->send_calls == 200);
}

TEST_CASE("reads a MiB in few calls") {
    OpenPair pair(GENERATE(false, true));
    const Faults faults;
    const std::string bytes = pattern(1024 * 1024);
    CHECK(pair.far.stream->write(bytes));
    REQUIRE(pair.run_until([&] { return pair.near.got.size() == bytes.size(); }));
    CHECK(faults.recv_calls <= 100);
}

// --- Plain sockets.

TEST_CASE("a peer that has closed both sides ends the stream cleanly") {
    const std::vector<int> before = open_descriptors();
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
