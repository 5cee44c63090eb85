// Tests streams on plain sockets.
#include "bufio/stream.hpp"

#include "tests/bufio/fixture.hpp"
#include "tests/bufio/system.hpp"
#include "tests/support/allocations.hpp"

#include <cerrno>

using namespace test;

namespace {

struct Plain {
    explicit Plain(Stream::Limits limits = {}, bool tcp = true) {
        auto [one, other] = tcp ? tcp_pair() : socket_pair();
        near.open(loop, bufio::make_plain_transport(std::move(one)), limits);
        far = std::move(other);
    }

    void open_far(Stream::Limits limits = {}) {
        far_user.open(loop, bufio::make_plain_transport(std::move(far)), limits);
    }
    bool run_until(std::function<bool()> condition) {
        return test::run_until(loop, std::move(condition));
    }

    ev::Loop loop;
    Taker near;
    Fd far;
    Taker far_user;
};

void reset(Fd& socket) {
    const linger at_once{1, 0};
    ::setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    socket.reset();
}

// Reads everything that has arrived at the socket.
void read_all(Fd& socket, std::string& to) {
    char bytes[65536];
    ssize_t count = 0;
    while ((count = ::read(socket.get(), bytes, sizeof bytes)) > 0)
        to.append(bytes, static_cast<std::size_t>(count));
}

}  // namespace

TEST_CASE("a descriptor is closed once, by the stream that owns it", "[plain]") {
    const int before = open_descriptors();
    {
        Plain plain;
        plain.open_far();
        plain.near.stream->write("x");
        REQUIRE(plain.run_until([&] { return plain.far_user.got == "x"; }));
    }
    CHECK(open_descriptors() == before);
}

TEST_CASE("reads a MiB in few calls", "[plain]") {
    Plain plain({}, false);
    Faults faults;
    plain.open_far();
    const std::string bytes = pattern(1024 * 1024);
    CHECK(plain.far_user.stream->write(bytes));
    REQUIRE(plain.run_until([&] { return plain.near.got.size() == bytes.size(); }));
    CHECK(plain.near.got == bytes);
    CHECK(faults.recv_calls <= 100);
}

TEST_CASE("an echo takes one call to read and one to write", "[plain]") {
    Plain plain;
    plain.open_far();
    plain.far_user.on_change = [](Stream& stream) {
        stream.write(stream.received());
        stream.consume(stream.received().size());
    };
    Faults faults;
    for (std::size_t i = 1; i <= 100; ++i) {
        plain.near.stream->write("ping");
        REQUIRE(plain.run_until([&] { return plain.near.got.size() == 4 * i; }));
    }
    CHECK(faults.recv_calls == 200);
    CHECK(faults.send_calls == 200);
}

TEST_CASE("an echo in the steady state allocates nothing", "[plain]") {
    Plain plain;
    plain.open_far();
    plain.far_user.on_change = [](Stream& stream) {
        stream.write(stream.received());
        stream.consume(stream.received().size());
    };
    plain.near.got.reserve(1000);
    std::size_t before = 0;
    for (std::size_t i = 1; i <= 100; ++i) {
        if (i == 10) before = test::allocations.count;
        plain.near.stream->write("ping");
        while (plain.near.got.size() < 4 * i && plain.loop.step(patience)) {
        }
    }
    CHECK(test::allocations.count == before);
}

TEST_CASE("repeats interrupted calls", "[plain]") {
    Plain plain;
    plain.open_far();
    Faults faults;
    const auto every_other = [count = 0](std::size_t size) mutable {
        return ++count % 2 == 1 ? -EINTR : static_cast<long>(size);
    };
    faults.recv = every_other;
    faults.send = every_other;
    const std::string bytes = pattern(300000);
    CHECK(plain.near.stream->write(bytes));
    REQUIRE(plain.run_until([&] { return plain.far_user.got.size() == bytes.size(); }));
    CHECK(plain.far_user.got == bytes);
}

TEST_CASE("a close by the peer ends the input, but not the output", "[plain]") {
    Plain plain;
    REQUIRE(::write(plain.far.get(), "bye", 3) == 3);
    ::shutdown(plain.far.get(), SHUT_WR);
    REQUIRE(plain.run_until([&] { return plain.near.stream->input_ended(); }));
    CHECK(plain.near.got == "bye");
    plain.near.stream->write("still here");
    std::string got;
    read_all(plain.far, got);
    CHECK(got == "still here");
    plain.near.stream->finish();
    REQUIRE(plain.run_until([&] { return plain.near.ends == 1; }));
    CHECK(plain.near.reason() == Reason::clean);
}

TEST_CASE("a peer that has closed both sides ends the stream cleanly", "[plain]") {
    ev::Loop loop;
    auto [near, far] = socket_pair();
    Taker user;
    user.open(loop, bufio::make_plain_transport(std::move(near)));
    far.reset();
    REQUIRE(run_until(loop, [&] { return user.ends == 1; }));
    CHECK(user.reason() == Reason::clean);
}

TEST_CASE("finish() half-closes the connection, and input continues", "[plain]") {
    Plain plain;
    plain.near.stream->write("question");
    plain.near.stream->finish();
    std::string got;
    REQUIRE(plain.run_until([&] { return plain.near.stream->output_closed(); }));
    read_all(plain.far, got);
    CHECK(got == "question");
    run_pending(plain.loop);
    CHECK_FALSE(plain.near.stream->end());
    REQUIRE(::write(plain.far.get(), "answer", 6) == 6);
    plain.far.reset();
    REQUIRE(plain.run_until([&] { return plain.near.ends == 1; }));
    CHECK(plain.near.got == "answer");
    CHECK(plain.near.reason() == Reason::clean);
}

TEST_CASE("a reset is reported in every state", "[plain]") {
    Plain plain;
    Reason expected = Reason::receive;
    SECTION("idle") { reset(plain.far); }
    SECTION("with more to send than the system accepts") {
        plain.near.stream->write(pattern(16 * 1024 * 1024));
        run_pending(plain.loop, 1);
        reset(plain.far);
    }
    SECTION("half-closed by us") {
        plain.near.stream->finish();
        run_pending(plain.loop, 1);
        reset(plain.far);
    }
    SECTION("half-closed by the peer, with output pending") {
        ::shutdown(plain.far.get(), SHUT_WR);
        REQUIRE(plain.run_until([&] { return plain.near.stream->input_ended(); }));
        reset(plain.far);
        plain.near.stream->write("x");
        expected = Reason::closed_early;
    }
    SECTION("half-closed by the peer, without output") {
        ::shutdown(plain.far.get(), SHUT_WR);
        REQUIRE(plain.run_until([&] { return plain.near.stream->input_ended(); }));
        run_pending(plain.loop, 1);
        reset(plain.far);
        expected = Reason::closed_early;
    }
    REQUIRE(plain.run_until([&] { return plain.near.ends == 1; }));
    const bool reported =
        plain.near.reason() == expected || plain.near.reason() == Reason::closed_early;
    CHECK(reported);
    INFO(plain.near.text());
    const bool named = plain.near.text().find("reset") != std::string::npos ||
                       plain.near.text().find("has closed") != std::string::npos;
    CHECK(named);
}

TEST_CASE("writing to a peer that is gone does not kill the program by SIGPIPE", "[plain]") {
    const DeadlySigpipe deadly;
    Plain plain({}, false);
    plain.far.reset();
    plain.near.stream->write("x");
    REQUIRE(plain.run_until([&] { return plain.near.ends == 1; }));
    CHECK(plain.near.reason() == Reason::closed_early);
}

TEST_CASE("abort() resets the connection", "[plain]") {
    Plain plain;
    plain.near.stream->write(pattern(16 * 1024 * 1024));
    plain.near.stream->abort();
    REQUIRE(plain.run_until([&] { return plain.near.ends == 1; }));
    CHECK(plain.near.reason() == Reason::aborted);
    plain.near.stream.reset();
    std::string got;
    read_all(plain.far, got);
    CHECK(errno == ECONNRESET);
}

TEST_CASE("all bytes written before finish() are delivered to a slow reader", "[plain]") {
    Plain plain;
    const std::string bytes = pattern(32 * 1024 * 1024);
    CHECK(plain.near.stream->write(bytes));
    plain.near.stream->finish(patience);
    std::string got;
    bool ended = false;
    ev::Timer slow(plain.loop, [&] {
        char some[256 * 1024];
        const ssize_t count = ::read(plain.far.get(), some, sizeof some);
        if (count > 0) got.append(some, static_cast<std::size_t>(count));
        ended = count == 0;
        if (!ended) slow.start(ev::Duration::zero());
    });
    slow.start(ev::Duration::zero());
    REQUIRE(plain.run_until([&] { return ended; }));
    CHECK(got.size() == bytes.size());
    CHECK((got == bytes));
    CHECK_FALSE(plain.near.stream->end());
    plain.far.reset();
    REQUIRE(plain.run_until([&] { return plain.near.ends == 1; }));
    CHECK(plain.near.reason() == Reason::clean);
}

TEST_CASE("finish() times out if the peer does not close in time", "[plain]") {
    Plain plain;
    plain.near.stream->write(pattern(32 * 1024 * 1024));
    plain.near.stream->finish(1ms);
    REQUIRE(plain.run_until([&] { return plain.near.ends == 1; }));
    CHECK(plain.near.reason() == Reason::timeout);
}

TEST_CASE("a peer that never reads costs no more memory than the limit", "[plain]") {
    Plain plain({1000, 100, 1024 * 1024});
    std::size_t taken = 0;
    const std::string piece(64 * 1024, 'x');
    while (plain.near.stream->write(piece)) {
        taken += piece.size();
        run_pending(plain.loop, 1);
    }
    CHECK(plain.near.stream->pending() <= 1024 * 1024);
    CHECK(taken >= 1024 * 1024 - piece.size());
}

TEST_CASE("a peer that floods costs no more memory than the high-water mark and one read",
          "[plain]") {
    Plain plain({256 * 1024, 64 * 1024, 1000});
    plain.near.on_change = [](Stream&) {};
    const std::string flood(64 * 1024, 'x');
    // Writes until the stream takes no more bytes within a few turns.
    for (bool taken = true; taken; run_pending(plain.loop))
        for (taken = false; ::write(plain.far.get(), flood.data(), flood.size()) > 0;)
            taken = true;
    CHECK(plain.near.stream->received().size() > 256 * 1024);
    CHECK(plain.near.stream->received().size() <= (256 + 64) * 1024);
    plain.near.stream->consume(plain.near.stream->received().size());
    run_pending(plain.loop);
    CHECK_FALSE(plain.near.stream->received().empty());
}

TEST_CASE("two streams with both directions full resume when one side reads", "[plain]") {
    Plain plain({64 * 1024, 16 * 1024, 64 * 1024 * 1024});
    plain.open_far({64 * 1024, 16 * 1024, 64 * 1024 * 1024});
    const std::string bytes = pattern(16 * 1024 * 1024);
    plain.near.on_change = plain.far_user.on_change = [](Stream&) {};
    CHECK(plain.near.stream->write(bytes));
    CHECK(plain.far_user.stream->write(bytes));
    std::size_t before = 0;
    REQUIRE(plain.run_until([&] {
        const std::size_t now = plain.near.stream->pending() + plain.far_user.stream->pending();
        return std::exchange(before, now) == now;
    }));
    CHECK(plain.near.stream->pending() > 0);
    CHECK(plain.far_user.stream->pending() > 0);
    plain.near.on_change = {};
    plain.near.take(*plain.near.stream);
    REQUIRE(plain.run_until([&] { return plain.near.got.size() == bytes.size(); }));
    plain.far_user.on_change = {};
    plain.far_user.take(*plain.far_user.stream);
    REQUIRE(plain.run_until([&] { return plain.far_user.got.size() == bytes.size(); }));
    CHECK((plain.near.got == bytes));
    CHECK((plain.far_user.got == bytes));
}
