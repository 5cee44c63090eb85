// Crowds on several threads, against an echo server on the loop of the test.

#include "app/run/crowd_threads.hpp"

#include "app/text/exit_status.hpp"
#include "bufio/datagram.hpp"
#include "bufio/listen.hpp"
#include "bufio/stream.hpp"
#include "tests/app/run/echo_server.hpp"
#include "tests/support/catch.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using namespace yodel;

using test::EchoServer;
using test::turn_until;

namespace {

struct Fixture {
    ev::Loop loop;
    EchoServer server{loop};
    std::optional<CrowdThreads> crowd;
    int done = 0;

    Crowd::Options options(std::size_t connections = 5) const {
        Crowd::Options to;
        to.session.endpoint.host = "127.0.0.1";
        to.session.endpoint.service = std::to_string(server.port());
        to.connections = connections;
        return to;
    }
    void start(Crowd::Options options, std::size_t threads) {
        crowd.emplace(loop, CrowdThreads::Options{std::move(options), threads},
                      [this] { ++done; });
    }
    const RunResult& run(Crowd::Options options, std::size_t threads) {
        start(std::move(options), threads);
        turn_until(loop, [&] { return done > 0; });
        return crowd->result();
    }
};

const std::optional<Pace> closed_loop;
const std::optional<Pace> open_loop = Pace::per_second(2'000'000);

}  // namespace

TEST_CASE_METHOD(Fixture, "threads send exactly the count, over connections of their own") {
    const std::size_t threads = GENERATE(as<std::size_t>{}, 1, 2, 3, 5);
    Crowd::Options options = this->options();
    options.pace = GENERATE(closed_loop, open_loop);
    options.count = GENERATE(as<std::uint64_t>{}, 3, 1000);
    const RunResult& result = run(options, threads);
    CHECK(result.tally.sent == options.count);
    CHECK(result.tally.echoed == options.count);
    CHECK(result.tally.round_trips.count() == options.count);
    CHECK(result.lateness.count() == (options.pace ? options.count : 0));
    CHECK(result.connections == RunResult::Connections{.asked = 5, .opened = 5, .failed = 0});
    CHECK(result.status == success);
    const double seconds = std::chrono::duration<double>(result.elapsed).count();
    CHECK(result.rate == static_cast<double>(options.count) / seconds);
    CHECK(server.streams.size() == 5);
    CHECK(server.bytes_read() == options.count * 65);
}

TEST_CASE_METHOD(Fixture, "each connection has the messages that it has with one thread") {
    const std::size_t threads = GENERATE(as<std::size_t>{}, 1, 2, 3, 4);
    Crowd::Options options = this->options(4);
    options.each_its_own = GENERATE(false, true);
    options.pace = open_loop;
    options.count = 42;
    run(options, threads);
    std::multiset<std::uint64_t> messages;
    for (const auto& stream : server.streams) messages.insert(stream->bytes_read() / 65);
    CHECK(messages == std::multiset<std::uint64_t>{10, 10, 11, 11});
}

TEST_CASE_METHOD(Fixture, "the threads of an open loop begin together, when all are there") {
    Crowd::Options options = this->options(3);
    options.pace = open_loop;
    options.count = 60;
    options.connect_pace = Pace::per_second(50'000);  // the last one comes after 40 ms
    const RunResult& result = run(options, 3);
    CHECK(result.tally.echoed == 60);
    for (const auto& stream : server.streams) CHECK(stream->bytes_read() == 20 * 65);
    CHECK(result.elapsed >= 29ms);
    CHECK(result.elapsed < 20s);
}

// The connections of the first thread are there long before the last one of the other.
TEST_CASE_METHOD(Fixture, "the length counts from when the threads begin together") {
    Crowd::Options options = this->options(4);
    options.pace = open_loop;
    options.length = 20ms;
    options.connect_pace = Pace::per_second(20'000);
    const RunResult& result = run(options, 3);
    CHECK(result.tally.sent == 40);
    CHECK(result.tally.echoed == 40);
    CHECK(result.status == success);
    REQUIRE(result.planned_rate);
    CHECK(result.planned_rate->planned == Approx(2000));
}

TEST_CASE_METHOD(Fixture, "the length ends a run on all threads, in order") {
    Crowd::Options options = this->options();
    options.length = 20ms;
    options.pace = GENERATE(closed_loop, open_loop);
    const RunResult& result = run(options, 2);
    if (options.pace) CHECK(result.tally.sent == 40);
    CHECK(result.tally.sent > 0);
    CHECK(result.tally.echoed == result.tally.sent);
    CHECK(result.status == success);
    for (const auto& stream : server.streams)
        CHECK(stream->end().reason == bufio::Reason::clean);
}

TEST_CASE_METHOD(Fixture, "connections of all threads are replaced after their messages") {
    Crowd::Options options = this->options(4);
    options.count = 40;
    options.churn = 3;
    const RunResult& result = run(options, 2);
    CHECK(result.tally.echoed == 40);
    CHECK(result.connections.asked >= 14);
    CHECK(server.streams.size() == result.connections.opened);
}

TEST_CASE_METHOD(Fixture, "wrong replies are counted exactly, and the first one is described") {
    server.damages = true;
    Crowd::Options options = this->options();
    options.count = 500;
    const RunResult& result = run(options, 3);
    CHECK(result.tally.sent == 500);
    CHECK(result.tally.bad > 0);
    CHECK(result.tally.echoed + result.tally.bad == 500);
    CHECK(result.status == reply_wrong_or_lost);
    CHECK(crowd->mismatch().find("differs from its message at byte 1") != std::string::npos);
}

TEST_CASE_METHOD(Fixture, "what resets leave unanswered is lost, and the others go on") {
    start(options(), 3);
    turn_until(loop, [&] { return crowd->result().tally.echoed > 100; });
    for (const std::size_t i : {0U, 2U}) {
        server.streams[i]->abort();
        server.streams[i].reset();
    }
    turn_until(loop, [&] { return crowd->open() == 3; });
    const std::uint64_t echoed = crowd->result().tally.echoed;
    turn_until(loop, [&] { return crowd->result().tally.echoed > echoed + 100; });
    crowd->finish();
    turn_until(loop, [&] { return done > 0; });
    const RunResult& result = crowd->result();
    CHECK(result.status == receive_failed);
    CHECK(result.connections == RunResult::Connections{.asked = 5, .opened = 5, .failed = 0});
    CHECK(result.tally.lost <= 2);
    CHECK(result.tally.sent == result.tally.echoed + result.tally.lost);
}

TEST_CASE_METHOD(Fixture, "a target that refuses fails the connections of all threads") {
    Crowd::Options options = this->options();
    options.session.endpoint.service = std::to_string(test::unused_port(loop));
    options.pace = GENERATE(closed_loop, open_loop);
    const RunResult& result = run(options, 2);
    CHECK(result.connections == RunResult::Connections{.asked = 5, .opened = 0, .failed = 5});
    REQUIRE(result.failures.size() == 1);
    CHECK(result.failures[0].count == 5);
    CHECK(result.status == connect_failed);
    CHECK(result.tally.sent == 0);
    CHECK(done == 1);
}

TEST_CASE_METHOD(Fixture, "a thread whose connections have failed does not keep the others") {
    Crowd::Options options = this->options(2);
    options.pace = open_loop;
    options.count = 40;
    options.connect_pace = Pace::per_second(20'000);  // the second one comes after 50 ms
    start(options, 2);
    turn_until(loop, [&] { return server.streams.size() == 1; });
    server.streams.front()->abort();
    server.streams.front().reset();
    turn_until(loop, [&] { return done > 0; });
    const RunResult& result = crowd->result();
    CHECK(result.status == receive_failed);
    CHECK(result.tally.sent == 20);  // those of the other one
    CHECK(result.tally.echoed == 20);
}

TEST_CASE_METHOD(Fixture, "leaving ends all threads and counts nothing as lost") {
    server.answers = false;
    start(options(), 2);
    turn_until(loop, [&] { return crowd->result().tally.sent == 5; });
    crowd->leave();
    turn_until(loop, [&] { return done > 0; });
    CHECK(crowd->result().tally.lost == 0);
    CHECK(crowd->result().tally.sent == 5);
    CHECK(done == 1);
}

TEST_CASE_METHOD(Fixture, "leaving before anything was done ends all threads, too") {
    start(options(), 3);
    crowd->leave();
    CHECK(done == 0);
    turn_until(loop, [&] { return done > 0; });
    CHECK(crowd->result().tally.sent == 0);
}

TEST_CASE_METHOD(Fixture, "threads that still run end with their owner") {
    start(options(), 3);
    turn_until(loop, [&] { return server.streams.size() == 5; });
    crowd.reset();
    CHECK(done == 0);
}

TEST_CASE_METHOD(Fixture, "threads report while they run") {
    Crowd::Options options = this->options();
    options.recent = true;
    start(options, 2);
    std::uint64_t taken = 0;
    for (int i = 0; i < 3; ++i) {
        const std::uint64_t before = crowd->result().tally.echoed;
        turn_until(loop, [&] { return crowd->result().tally.echoed > before; });
        CHECK(crowd->open() == 5);
        CHECK(crowd->result().connections.opened == 5);
        taken += crowd->take_recent().count();
        CHECK(taken == crowd->result().tally.round_trips.count());
    }
    crowd->finish();
    turn_until(loop, [&] { return done > 0; });
    CHECK(crowd->result().tally.sent == crowd->result().tally.echoed);
    CHECK(crowd->open() == 0);
}

TEST_CASE_METHOD(Fixture, "paused threads read nothing, so that the peers meet back-pressure") {
    start(options(), 2);
    turn_until(loop, [&] { return crowd->result().tally.echoed > 100; });
    crowd->pause(true);
    const auto standing = [&] {
        const std::uint64_t before = crowd->result().tally.echoed;
        for (const ev::Time end = ev::Clock::now() + 400ms; ev::Clock::now() < end;)
            loop.step(1ms);
        return crowd->result().tally.echoed == before;
    };
    turn_until(loop, standing);
    crowd->pause(false);
    const std::uint64_t before = crowd->result().tally.echoed;
    turn_until(loop, [&] { return crowd->result().tally.echoed > before + 100; });
    crowd->finish();
    turn_until(loop, [&] { return done > 0; });
    CHECK(crowd->result().status == success);
}

TEST_CASE_METHOD(Fixture, "datagrams are dealt out to threads, too") {
    struct Echo final : private bufio::DatagramSocket::User {
        explicit Echo(ev::Loop& loop) : socket(loop, test::any_loopback_port(), *this) {}
        void datagrams_received(std::span<const bufio::Datagram> datagrams) override {
            for (const bufio::Datagram& each : datagrams)
                socket.send(each.bytes, each.peer, each.local);
            count += datagrams.size();
        }
        bufio::DatagramSocket socket;
        std::size_t count = 0;
    } echo(loop);
    Crowd::Options options = this->options();
    options.session.endpoint.service = std::to_string(echo.socket.address().port());
    options.session.endpoint.datagrams = true;
    options.session.framing = datagram_framing();
    options.count = 1000;
    const RunResult& result = run(options, 3);
    CHECK(result.tally.sent == 1000);
    CHECK(result.tally.echoed == 1000);
    CHECK(echo.count == 1000);
    REQUIRE(result.tally.datagrams);
    CHECK(result.tally.datagrams->twice == 0);
}
