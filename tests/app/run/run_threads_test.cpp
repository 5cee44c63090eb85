// Runs on several threads, against an echo server on the test's loop.

#include "app/text/exit_status.hpp"
#include "bufio/datagram.hpp"
#include "bufio/listen.hpp"
#include "bufio/stream.hpp"
#include "tests/app/run/run_fixture.hpp"
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
using test::Connections;
using test::connections;
using test::status;
using test::turn_until;

namespace {

struct Fixture : test::RunFixture<> {
    RunOptions options(std::size_t connections = 5) const {
        return RunFixture::options(connections);
    }
    void start(RunOptions options, std::size_t threads) {
        options.threads = threads;
        RunFixture::start(std::move(options));
    }
    const Results& run_to_end(RunOptions options, std::size_t threads) {
        options.threads = threads;
        return RunFixture::run_to_end(std::move(options));
    }
};

const std::optional<Pace> closed_loop;
const std::optional<Pace> open_loop = Pace::per_second(2'000'000);

}  // namespace

TEST_CASE_METHOD(Fixture,
                 "threads send exactly the count of messages, over their own connections") {
    const std::size_t threads = GENERATE(as<std::size_t>{}, 1, 2, 3, 5);
    RunOptions options = this->options();
    options.pace = GENERATE(closed_loop, open_loop);
    options.count = GENERATE(as<std::uint64_t>{}, 3, 1000);
    options.warm_up = 2ms;
    const Results& results = run_to_end(options, threads);
    CHECK(results.sent == options.count);
    CHECK(results.echoed == options.count);
    if (options.pace) CHECK(results.warm_up.echoed == 4);
    CHECK(results.warm_up.echoed == results.warm_up.sent);
    CHECK(results.round_trips.count() == options.count);
    CHECK(results.lateness.count() == (options.pace ? options.count : 0));
    CHECK(connections(results) == Connections{.attempts = 5, .opened = 5, .failed = 0});
    CHECK(status(results) == success);
    const double seconds = std::chrono::duration<double>(results.elapsed()).count();
    CHECK(results.rate() == static_cast<double>(options.count) / seconds);
    CHECK(server.streams.size() == 5);
    CHECK(server.bytes_read() == (options.count + results.warm_up.sent) * 65);
}

TEST_CASE_METHOD(Fixture, "each connection sends the same messages as with one thread") {
    const std::size_t threads = GENERATE(as<std::size_t>{}, 1, 2, 3, 4);
    RunOptions options = this->options(4);
    options.fixed_connections = GENERATE(false, true);
    options.pace = open_loop;
    options.count = 42;
    run_to_end(options, threads);
    std::multiset<std::uint64_t> messages;
    for (const auto& stream : server.streams) messages.insert(stream->bytes_read() / 65);
    CHECK(messages == std::multiset<std::uint64_t>{10, 10, 11, 11});
}

TEST_CASE_METHOD(Fixture, "the threads of an open loop begin together, once all are ready") {
    RunOptions options = this->options(3);
    options.pace = open_loop;
    options.count = 60;
    options.connect_pace = Pace::per_second(50'000);  // the last one opens after 40 ms
    const Results& results = run_to_end(options, 3);
    CHECK(results.echoed == 60);
    for (const auto& stream : server.streams) CHECK(stream->bytes_read() == 20 * 65);
    CHECK(results.elapsed() + results.lateness.max() >= 29ms);
    CHECK(results.elapsed() < 20s);
}

// The connections of the first thread are open long before the other's last one.
TEST_CASE_METHOD(Fixture, "the length counts from when the threads begin together") {
    RunOptions options = this->options(4);
    options.pace = open_loop;
    options.length = 20ms;
    options.connect_pace = Pace::per_second(20'000);
    const Results& results = run_to_end(options, 3);
    CHECK(results.sent == 40);
    CHECK(results.echoed == 40);
    CHECK(status(results) == success);
    REQUIRE(results.planned_rate);
    CHECK(results.planned_rate->planned == Approx(2000));
}

TEST_CASE_METHOD(Fixture, "the length ends a run gracefully on all threads") {
    RunOptions options = this->options();
    options.length = 300ms;  // also the limit for connecting
    options.pace = GENERATE(closed_loop, open_loop);
    const Results& results = run_to_end(options, 2);
    if (options.pace) CHECK(results.sent == 600);
    CHECK(results.sent > 0);
    CHECK(results.echoed == results.sent);
    CHECK(status(results) == success);
    for (const auto& stream : server.streams)
        CHECK(stream->end().reason == bufio::Reason::clean);
}

TEST_CASE_METHOD(Fixture, "connections of all threads are replaced after their messages") {
    RunOptions options = this->options(4);
    options.count = 40;
    options.churn = 3;
    const Results& results = run_to_end(options, 2);
    CHECK(results.echoed == 40);
    CHECK(results.attempts >= 14);
    CHECK(server.streams.size() == results.opened);
}

TEST_CASE_METHOD(Fixture, "bad replies are counted exactly, and the first one is described") {
    server.damages = true;
    RunOptions options = this->options();
    options.count = 500;
    const Results& results = run_to_end(options, 3);
    CHECK(results.sent == 500);
    CHECK(results.bad > 0);
    CHECK(results.echoed + results.bad == 500);
    CHECK(status(results) == reply_wrong_or_lost);
    CHECK(results.bad_sentence.find("differs from its message at byte 1") != std::string::npos);
}

TEST_CASE_METHOD(Fixture,
                 "resets lose their unanswered messages, and other connections continue") {
    start(options(), 3);
    turn_until(loop, [&] { return run->results().echoed > 100; });
    for (const std::size_t i : {0U, 2U}) {
        server.streams[i]->abort();
        server.streams[i].reset();
    }
    turn_until(loop, [&] { return run->open() == 3; });
    const std::uint64_t echoed = run->results().echoed;
    turn_until(loop, [&] { return run->results().echoed > echoed + 100; });
    run->finish();
    const Results& results = wait_for_end();
    CHECK(status(results) == receive_failed);
    CHECK(connections(results) == Connections{.attempts = 5, .opened = 5, .failed = 0});
    CHECK(results.lost <= 2);
    CHECK(results.sent == results.echoed + results.lost);
}

TEST_CASE_METHOD(Fixture, "a target that refuses fails the connections of all threads") {
    RunOptions options = this->options();
    options.session.endpoint.service = std::to_string(test::unused_port(loop));
    options.pace = GENERATE(closed_loop, open_loop);
    const Results& results = run_to_end(options, 2);
    CHECK(connections(results) == Connections{.attempts = 5, .opened = 0, .failed = 5});
    REQUIRE(results.failures.size() == 1);
    CHECK(results.failures[0].count == 5);
    CHECK(status(results) == connect_failed);
    CHECK(results.sent == 0);
}

TEST_CASE_METHOD(Fixture, "a thread whose connections have failed does not delay the others") {
    RunOptions options = this->options(2);
    options.pace = open_loop;
    options.count = 40;
    options.connect_pace = Pace::per_second(20'000);  // the second one opens after 50 ms
    start(options, 2);
    turn_until(loop, [&] { return server.streams.size() == 1; });
    server.streams.front()->abort();
    server.streams.front().reset();
    const Results& results = wait_for_end();
    CHECK(status(results) == receive_failed);
    CHECK(results.sent == 20);  // by the other connection
    CHECK(results.echoed == 20);
}

TEST_CASE_METHOD(Fixture, "closing ends all threads and counts nothing as lost") {
    server.answers = false;
    start(options(), 2);
    turn_until(loop, [&] { return run->results().sent == 5; });
    run->close();
    wait_for_end();
    CHECK(run->results().lost == 0);
    CHECK(run->results().sent == 5);
}

TEST_CASE_METHOD(Fixture, "closing at the very start ends all threads") {
    start(options(), 3);
    run->close();
    CHECK(done == 0);
    wait_for_end();
    CHECK(run->results().sent == 0);
}

TEST_CASE_METHOD(Fixture, "destroying a run ends its threads") {
    start(options(), 3);
    turn_until(loop, [&] { return server.streams.size() == 5; });
    run.reset();
    CHECK(done == 0);
}

TEST_CASE_METHOD(Fixture, "threads report while they run") {
    start(options(), 2);
    for (int i = 0; i < 3; ++i) {
        const std::uint64_t before = run->results().echoed;
        turn_until(loop, [&] { return run->results().echoed > before; });
        CHECK(run->open() == 5);
        CHECK(run->results().opened == 5);
        CHECK(run->results().round_trips.count() == run->results().echoed);
    }
    run->finish();
    wait_for_end();
    CHECK(run->results().sent == run->results().echoed);
    CHECK(run->open() == 0);
}

TEST_CASE_METHOD(Fixture, "paused threads read nothing, so that the peers meet back-pressure") {
    start(options(), 2);
    turn_until(loop, [&] { return run->results().echoed > 100; });
    run->pause(true);
    const auto standing = [&] {
        const std::uint64_t before = run->results().echoed;
        for (const ev::Time end = ev::Clock::now() + 400ms; ev::Clock::now() < end;)
            loop.step(1ms);
        return run->results().echoed == before;
    };
    turn_until(loop, standing);
    run->pause(false);
    const std::uint64_t before = run->results().echoed;
    turn_until(loop, [&] { return run->results().echoed > before + 100; });
    run->finish();
    wait_for_end();
    CHECK(status(run->results()) == success);
}

TEST_CASE_METHOD(Fixture, "datagrams are also spread over threads") {
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
    RunOptions options = this->options();
    options.session.endpoint.service = std::to_string(echo.socket.address().port());
    options.session.endpoint.datagrams = true;
    options.session.framing = datagram_framing();
    options.count = 1000;
    const Results& results = run_to_end(options, 3);
    CHECK(results.sent == 1000);
    CHECK(results.echoed == 1000);
    CHECK(echo.count == 1000);
    CHECK(results.datagrams);
    CHECK(results.duplicates == 0);
}
