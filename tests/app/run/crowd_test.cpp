// Crowds against an echo server of the test's own, on one loop.

#include "app/run/crowd.hpp"

#include "app/text/exit_status.hpp"
#include "bufio/listen.hpp"
#include "tests/app/run/echo_server.hpp"
#include "tests/support/allocations.hpp"
#include "tests/support/catch.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <vector>

using namespace std::chrono_literals;
using namespace yodel;

using test::EchoServer;
using test::turn_until;

namespace {

struct Fixture {
    ev::Loop loop;
    EchoServer server{loop};
    std::optional<Crowd> crowd;
    bool done = false;

    Crowd::Options options() const {
        Crowd::Options to;
        to.session.endpoint.host = "127.0.0.1";
        to.session.endpoint.service = std::to_string(server.port());
        to.connections = 3;
        return to;
    }
    void start(Crowd::Options options) {
        crowd.emplace(loop, std::move(options), [this] { done = true; });
    }
    // The server is silent while the connection takes all of its messages, and so long after.
    void wear_out(Crowd::Options options, std::uint64_t messages, ev::Duration after) {
        options.churn = messages;
        options.pace = Pace::per_second(1'000'000);
        server.answers = false;
        start(std::move(options));
        turn_until(loop, [&] { return crowd->result().tally.sent == messages; });
        const ev::Time due = loop.now() + after;
        turn_until(loop, [&] { return loop.now() >= due; });
    }
    const RunResult& run(Crowd::Options options) {
        start(std::move(options));
        turn_until(loop, [&] { return done; });
        return crowd->result();
    }
};

const RunResult::Connections all_three{.asked = 3, .opened = 3, .failed = 0};

}  // namespace

TEST_CASE_METHOD(Fixture, "a closed loop sends its count over all connections") {
    Crowd::Options options = this->options();
    options.count = 1000;
    const RunResult& result = run(options);
    CHECK(result.tally.sent == 1000);
    CHECK(result.tally.echoed == 1000);
    CHECK(result.tally.round_trips.count() == 1000);
    CHECK(result.connections == all_three);
    CHECK(result.status == success);
    CHECK(result.lateness.count() == 0);
    CHECK(result.rate > 0);
    CHECK(server.streams.size() == 3);
}

TEST_CASE_METHOD(Fixture, "an open loop sends its count by the pace") {
    Crowd::Options options = this->options();
    options.count = 30;
    options.pace = Pace::per_second(1'000'000);
    const RunResult& result = run(options);
    CHECK(result.tally.sent == 30);
    CHECK(result.tally.echoed == 30);
    CHECK(result.lateness.count() == 30);
    CHECK(result.connections == all_three);
    CHECK(result.status == success);
    // The time runs from the first message, which may leave late.
    CHECK(result.elapsed + result.lateness.max() >= 29ms);
    for (const auto& stream : server.streams) CHECK(stream->bytes_read() == 10 * 65);
}

TEST_CASE_METHOD(Fixture, "the length ends a run in both loops, in order") {
    Crowd::Options options = this->options();
    options.length = 20ms;
    options.pace = GENERATE(std::optional<Pace>(), std::optional(Pace::per_second(1'000'000)));
    const RunResult& result = run(options);
    if (options.pace) CHECK(result.tally.sent == 20);
    CHECK(result.tally.sent > 0);
    CHECK(result.tally.echoed == result.tally.sent);
    CHECK(result.status == success);
    for (const auto& stream : server.streams)
        CHECK(stream->end().reason == bufio::Reason::clean);
}

TEST_CASE_METHOD(Fixture, "messages that are overdue at the end are caught up with") {
    Crowd::Options options = this->options();
    options.length = 40ms;
    options.pace = Pace::per_second(1'000'000);
    start(options);
    turn_until(loop, [&] { return crowd->result().tally.sent > 10; });
    const ev::Time end = ev::Clock::now() + 50ms;
    while (ev::Clock::now() < end) {
    }
    turn_until(loop, [&] { return done; });
    const RunResult& result = crowd->result();
    CHECK(result.tally.sent == 40);
    CHECK(result.tally.echoed == 40);
    CHECK(result.tally.unsent == 0);
    CHECK(result.status == success);
    REQUIRE(result.planned_rate);
    CHECK(result.planned_rate->planned == 1000);
    CHECK(result.planned_rate->reached < 1000);
}

TEST_CASE_METHOD(Fixture, "what can't be caught up with is unsent, and no success") {
    Crowd::Options options = this->options();
    options.length = 20ms;
    options.session.reply_timeout = GENERATE(1ms, 20ms);
    options.pace = Pace::per_second(10'000'000'000);
    const RunResult& result = run(options);
    CHECK(result.tally.unsent > 0);
    CHECK(result.tally.sent + result.tally.unsent == 200'000);
    CHECK(result.status == reply_wrong_or_lost);
    REQUIRE(result.planned_rate);
    CHECK(result.planned_rate->planned == 10'000'000);
    CHECK(result.planned_rate->reached < 10'000'000);
}

TEST_CASE_METHOD(Fixture, "an end before the planned one counts what was due until then") {
    Crowd::Options options = this->options();
    options.connections = 1;
    wear_out(options, 10, 20ms + tolerated_lateness);
    crowd->finish();
    server.resume();
    turn_until(loop, [&] { return done; });
    CHECK(crowd->result().tally.echoed == 10);
    CHECK(crowd->result().tally.unsent >= 10);
    CHECK(crowd->result().tally.unsent < 100'000);
}

TEST_CASE_METHOD(Fixture, "a round trip of the open loop counts from the planned time") {
    Crowd::Options options = this->options();
    options.connections = 1;
    options.count = 50;
    options.pace = Pace::per_second(1'000'000);
    server.answers = false;
    start(options);
    turn_until(loop, [&] { return crowd->result().tally.sent == 50; });
    const ev::Time thawed = loop.now();
    server.answers = true;
    server.streams.front()->write(server.streams.front()->received());
    server.streams.front()->consume(server.streams.front()->received().size());
    turn_until(loop, [&] { return done; });
    const RunResult& result = crowd->result();
    CHECK(result.tally.echoed == 50);
    CHECK(result.tally.round_trips.max() >= 49ms);
    CHECK(result.tally.round_trips.max() - result.tally.round_trips.min() >= 49ms);
    CHECK(thawed > ev::Time{});
}

TEST_CASE_METHOD(Fixture, "a connection is replaced after its number of messages") {
    Crowd::Options options = this->options();
    options.connections = 2;
    options.count = 20;
    options.churn = 3;
    options.pace = GENERATE(std::optional<Pace>(), std::optional(Pace::per_second(500'000)));
    const RunResult& result = run(options);
    CHECK(result.tally.sent == 20);
    CHECK(result.tally.echoed == 20);
    CHECK(result.tally.lost == 0);
    CHECK(result.connections.asked >= 7);
    CHECK(result.connections.opened == result.connections.asked);
    CHECK(server.streams.size() == result.connections.opened);
    for (const auto& stream : server.streams) CHECK(stream->bytes_read() <= 3 * 65);
}

TEST_CASE_METHOD(Fixture, "a message that waits for a new connection counts from its plan") {
    Crowd::Options options = this->options();
    options.connections = 1;
    options.count = 5;
    wear_out(options, 4, 50ms);
    CHECK(crowd->result().tally.sent == 4);
    server.resume();
    turn_until(loop, [&] { return done; });
    const RunResult& result = crowd->result();
    CHECK(result.tally.echoed == 5);
    CHECK(result.tally.lost == 0);
    CHECK(result.lateness.max() >= 40ms);
    CHECK(result.tally.round_trips.min() >= 40ms);
    CHECK(result.connections == RunResult::Connections{.asked = 2, .opened = 2, .failed = 0});
    CHECK(result.status == success);
}

TEST_CASE_METHOD(Fixture, "messages that wait for a connection that never opens are lost") {
    Crowd::Options options = this->options();
    options.connections = 1;
    options.count = 100;
    wear_out(options, 4, 50ms);
    server.close();
    server.resume();
    turn_until(loop, [&] { return done; });
    const RunResult& result = crowd->result();
    CHECK(result.tally.echoed == 4);
    CHECK(result.tally.lost >= 40);
    CHECK(result.tally.sent == result.tally.echoed + result.tally.lost);
    CHECK(result.connections == RunResult::Connections{.asked = 2, .opened = 1, .failed = 1});
    CHECK(result.status == connect_failed);
}

TEST_CASE_METHOD(Fixture, "a connection that is being replaced at the end has not failed") {
    Crowd::Options options = this->options();
    options.length = 20ms;
    options.churn = 1;
    const RunResult& result = run(options);
    CHECK(result.status == success);
    CHECK(result.failures.empty());
    CHECK(result.connections.failed == 0);
    CHECK(result.connections.opened == result.connections.asked);
    CHECK(result.tally.echoed == result.tally.sent);
}

TEST_CASE_METHOD(Fixture, "a run ends while a connection is about to be replaced") {
    Crowd::Options options = this->options();
    options.connections = 1;
    options.churn = 1;
    start(options);
    turn_until(loop, [&] { return crowd->result().connections.asked == 2; });
    const auto end = GENERATE(&Crowd::leave, &Crowd::finish);
    ((*crowd).*end)();
    turn_until(loop, [&] { return done; });
    CHECK(crowd->open() == 0);
}

TEST_CASE_METHOD(Fixture, "new connections come at their pace") {
    Crowd::Options options = this->options();
    options.count = 3;
    options.pace = Pace::per_second(1'000'000);
    options.connect_pace = Pace::per_second(100'000);
    const ev::Time begin = loop.now();
    start(options);
    turn_until(loop, [&] { return done; });
    CHECK(loop.now() - begin >= 20ms);
    CHECK(crowd->result().connections == all_three);
}

TEST_CASE_METHOD(Fixture, "the length counts from the first message, when all have come") {
    Crowd::Options options = this->options();
    options.length = 20ms;
    options.pace = Pace::per_second(1'000'000);
    // The last one comes after the length, also that from the start on.
    options.connect_pace = Pace::per_second(GENERATE(as<std::uint64_t>{}, 30'000, 60'000));
    if (GENERATE(false, true)) options.start = loop.now() + 5ms;
    const RunResult& result = run(options);
    CHECK(result.tally.sent == 20);
    CHECK(result.tally.echoed == 20);
    CHECK(result.connections == all_three);
    CHECK(result.status == success);
}

TEST_CASE_METHOD(Fixture, "no message is sent before the start that was asked for") {
    Crowd::Options options = this->options();
    options.count = 3;
    options.start = loop.now() + 30ms;
    options.pace = GENERATE(std::optional<Pace>(), std::optional(Pace::per_second(1'000'000)));
    start(options);
    turn_until(loop, [&] { return crowd->open() == 3; });
    CHECK((crowd->result().tally.sent == 0 || loop.now() >= *options.start));
    turn_until(loop, [&] { return crowd->result().tally.sent > 0; });
    CHECK(loop.now() >= *options.start);
    turn_until(loop, [&] { return done; });
    CHECK(crowd->result().tally.echoed == 3);
}

TEST_CASE_METHOD(Fixture, "a target that refuses is one failure of all connections") {
    Crowd::Options options = this->options();
    {
        bufio::Listener closed(loop, test::any_loopback_port(), [](auto, auto&) {});
        options.session.endpoint.service = std::to_string(closed.address().port());
    }
    options.pace = GENERATE(std::optional<Pace>(), std::optional(Pace::per_second(1'000'000)));
    const RunResult& result = run(options);
    CHECK(result.connections == RunResult::Connections{.asked = 3, .opened = 0, .failed = 3});
    REQUIRE(result.failures.size() == 1);
    CHECK(result.failures[0].count == 3);
    CHECK(result.failures[0].status == connect_failed);
    CHECK(result.status == connect_failed);
    CHECK(result.tally.sent == 0);
}

TEST_CASE_METHOD(Fixture, "a run whose look-up takes longer than it has failed") {
    Crowd::Options options = this->options();
    options.session.endpoint.host = "name.invalid";
    options.length = 1ns;
    const RunResult& result = run(options);
    CHECK(result.connections == RunResult::Connections{.asked = 3, .opened = 0, .failed = 3});
    REQUIRE(result.failures.size() == 1);
    CHECK(result.failures[0].text.ends_with(" (--max-time): still resolving"));
    CHECK(result.failures[0].count == 3);
    CHECK(result.status == timed_out);
}

TEST_CASE_METHOD(Fixture, "each failed try is counted, and the last one is the status") {
    Crowd::Options options = this->options();
    {
        bufio::Listener closed(loop, test::any_loopback_port(), [](auto, auto&) {});
        options.session.endpoint.service = std::to_string(closed.address().port());
    }
    options.session.retries = 2;
    options.session.retry_delay = 1ms;
    const RunResult& result = run(options);
    CHECK(result.connections == RunResult::Connections{.asked = 9, .opened = 0, .failed = 9});
    REQUIRE(result.failures.size() == 1);
    CHECK(result.failures[0].count == 9);
    CHECK(result.status == connect_failed);
}

TEST_CASE_METHOD(Fixture, "what a reset leaves unanswered is lost, and the others go on") {
    Crowd::Options options = this->options();
    start(options);
    turn_until(loop, [&] { return crowd->result().tally.echoed > 100; });
    server.streams[1]->abort();
    server.streams[1].reset();
    turn_until(loop, [&] { return crowd->open() == 2; });
    const std::uint64_t echoed = crowd->result().tally.echoed;
    turn_until(loop, [&] { return crowd->result().tally.echoed > echoed + 100; });
    crowd->finish();
    turn_until(loop, [&] { return done; });
    const RunResult& result = crowd->result();
    CHECK(result.status == receive_failed);
    CHECK(result.connections == all_three);
    CHECK(result.tally.lost <= 1);
    CHECK(result.tally.sent == result.tally.echoed + result.tally.lost);
}

TEST_CASE_METHOD(Fixture, "messages that are due while no connection is open are lost") {
    Crowd::Options options = this->options();
    options.pace = Pace::per_second(1'000'000);
    options.session.retries = AnySession::forever;
    options.session.retry_delay = 50ms;
    start(options);
    turn_until(loop, [&] { return crowd->result().tally.echoed > 20; });
    for (const auto& stream : server.streams) stream->abort();
    server.streams.clear();
    turn_until(loop, [&] { return crowd->open() == 0; });
    const std::uint64_t lost = crowd->result().tally.lost;
    const std::uint64_t echoed = crowd->result().tally.echoed;
    turn_until(loop, [&] { return crowd->result().tally.lost > lost; });
    turn_until(loop, [&] { return crowd->open() == 3; });
    turn_until(loop, [&] { return crowd->result().tally.echoed > echoed + 20; });
    crowd->finish();
    turn_until(loop, [&] { return done; });
    const Tally& tally = crowd->result().tally;
    CHECK(tally.sent == tally.echoed + tally.lost);
}

TEST_CASE_METHOD(Fixture, "leaving counts nothing as lost") {
    server.answers = false;
    start(options());
    turn_until(loop, [&] { return crowd->result().tally.sent == 3; });
    crowd->leave();
    turn_until(loop, [&] { return done; });
    CHECK(crowd->result().tally.lost == 0);
}

TEST_CASE_METHOD(Fixture, "leaving before the first connection ends it, too") {
    start(options());
    crowd->leave();
    CHECK_FALSE(done);
    turn_until(loop, [&] { return done; });
    CHECK(crowd->result().connections.asked == 0);
}

TEST_CASE_METHOD(Fixture, "a crowd calls back once, whatever is asked of it later") {
    Crowd::Options options = this->options();
    options.count = 3;
    run(options);
    done = false;
    crowd->leave();
    crowd->finish();
    for (int i = 0; i < 3; ++i) loop.step(1ms);
    CHECK_FALSE(done);
}

TEST_CASE_METHOD(Fixture, "messages of a crowd allocate nothing once it runs") {
    Crowd::Options options = this->options();
    options.pace = GENERATE(std::optional<Pace>(), std::optional(Pace::per_second(20'000'000)));
    start(options);
    turn_until(loop, [&] { return crowd->result().tally.echoed > 1000; });
    const std::uint64_t echoed = crowd->result().tally.echoed;
    test::allocations.count = 0;
    const std::function<bool()> more = [&] {
        return crowd->result().tally.echoed > echoed + 2000;
    };
    while (!more()) loop.step(1ms);
    // In the open loop a delay of this machine may bring a queue that is longer than any
    // before.
    CHECK(test::allocations.count <= (options.pace ? 200U : 0U));
    crowd->finish();
    turn_until(loop, [&] { return done; });
    CHECK(crowd->result().status == success);
}

TEST_CASE_METHOD(Fixture, "a stop of the program itself is in no round trip") {
    Crowd::Options options = this->options();
    options.count = 1000;
    options.pace = Pace::per_second(1'000'000);
    start(options);
    turn_until(loop, [&] { return crowd->result().tally.echoed > 10; });
    const ev::Time end = ev::Clock::now() + 300ms;
    while (ev::Clock::now() < end) {
    }
    crowd->void_round_trips();
    turn_until(loop, [&] { return done; });
    CHECK(crowd->result().tally.echoed == 1000);
    CHECK(crowd->result().tally.round_trips.count() <= 710);
    CHECK(crowd->result().tally.round_trips.max() < 300ms);
}
