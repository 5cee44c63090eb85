// Runs on one thread, against an echo server inside the test on the same loop. VirtualFixture
// makes the time virtual.

#include "app/text/exit_status.hpp"
#include "tests/app/run/run_fixture.hpp"
#include "tests/support/allocations.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/virtual_time.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

using namespace std::chrono_literals;
using namespace yodel;
using test::Connections;
using test::connections;
using test::status;
using test::turn_until;

namespace {

const Connections all_three{.attempts = 3, .opened = 3, .failed = 0};
const std::optional<Pace> closed_loop;
const std::optional<Pace> open_loop = Pace::per_second(1'000'000);

struct Fixture : test::RunFixture<> {
    RunOptions options() const { return RunFixture::options(3); }
    // Keeps the server silent until the connection has sent all its messages, and for `after`
    // more.
    void wear_out(RunOptions options, std::uint64_t messages, ev::Duration after) {
        options.churn = messages;
        options.pace = open_loop;
        server.answers = false;
        start(std::move(options));
        turn_until(loop, [&] { return run->results().sent == messages; });
        const ev::Time due = loop.now() + after;
        turn_until(loop, [&] { return loop.now() >= due; });
    }
};

struct VirtualFixture : test::RunFixture<test::VirtualLoop> {};

// Never has a message.
class Silence final : public Source {
public:
    std::optional<Outgoing> next() override { return std::nullopt; }
    bool over() const override { return false; }
};

// Records the events of a run: "opened 1, sent 1, answered 1".
class Diary final : public RunObserver {
public:
    void opened(std::size_t connection, const Session&) override {
        add("opened", connection);
        if (handshake) handshake();
    }
    void ended(std::size_t connection, const Session&) override { add("ended", connection); }
    void sent(std::size_t connection, const Session&, const Outgoing&, Queued) override {
        add("sent", connection);
    }
    void resolved(std::size_t connection, Fate fate, const Message* message,
                  const Reply* reply) override {
        if (message) add(reply ? "answered" : word_of(fate), connection);
        if (fate != Fate::unsent) return;
        missed_messages.emplace_back(message->payload);
        missed_times.push_back(message->planned);
    }
    void echoed(std::size_t, const Batch&) override {}
    void received(std::size_t, std::string_view) override {}
    void flush() override { ++flushes; }

    std::string text;
    std::map<std::string, std::uint64_t> counts;
    std::vector<std::string> missed_messages;
    std::vector<ev::Time> missed_times;
    std::function<void()> handshake;
    int flushes = 0;

private:
    void add(const std::string& what, std::size_t connection) {
        ++counts[what];
        text += (text.empty() ? "" : ", ") + what + " " + std::to_string(connection);
    }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a closed loop sends the count of messages over all connections") {
    RunOptions options = this->options();
    options.count = 1000;
    const Results& results = run_to_end(options);
    CHECK(results.sent == 1000);
    CHECK(results.echoed == 1000);
    CHECK(results.round_trips.count() == 1000);
    CHECK(connections(results) == all_three);
    CHECK(status(results) == success);
    CHECK(results.lateness.count() == 0);
    CHECK(results.rate() > 0);
    CHECK(server.streams.size() == 3);
}

TEST_CASE_METHOD(Fixture, "an open loop sends the count of messages at the pace") {
    RunOptions options = this->options();
    options.count = 30;
    options.pace = open_loop;
    const Results& results = run_to_end(options);
    CHECK(results.sent == 30);
    CHECK(results.echoed == 30);
    CHECK(results.lateness.count() == 30);
    CHECK(connections(results) == all_three);
    CHECK(status(results) == success);
    // Time is measured from the first message, which may be sent late.
    CHECK(results.elapsed() + results.lateness.max() >= 29ms);
    for (const auto& stream : server.streams) CHECK(stream->bytes_read() == 10 * 65);
}

TEST_CASE_METHOD(Fixture, "a warm-up comes before the count and the length") {
    struct Row {
        std::optional<Pace> pace;
        std::uint64_t count;
        std::optional<ev::Duration> length;
    };
    const Row row = GENERATE(values<Row>({{open_loop, 0, 20ms},
                                          {open_loop, 20, {}},
                                          {closed_loop, 0, 20ms},
                                          {closed_loop, 20, {}}}));
    RunOptions options = RunFixture::options(GENERATE(as<std::size_t>{}, 1, 3));
    options.pace = row.pace;
    options.count = row.count;
    options.length = row.length;
    options.warm_up = 50ms;
    Diary diary;
    start(options, &diary);
    const Results& results = wait_for_end();
    if (row.pace) CHECK(results.warm_up.sent == 50);
    CHECK(results.warm_up.sent > 0);
    CHECK(results.warm_up.echoed == results.warm_up.sent);
    if (row.pace || row.count > 0) CHECK(results.sent == 20);
    CHECK(results.sent > 0);
    CHECK(results.echoed == results.sent);
    CHECK(results.round_trips.count() == results.sent);
    CHECK(results.lateness.count() == (row.pace ? 20 : 0));
    CHECK(status(results) == success);
    CHECK(diary.counts["answered"] == results.sent);
    CHECK(diary.counts["sent"] == results.sent);
}

TEST_CASE_METHOD(Fixture, "the length ends a run gracefully, in both loops") {
    RunOptions options = this->options();
    options.length = 20ms;
    options.pace = GENERATE(closed_loop, open_loop);
    const Results& results = run_to_end(options);
    if (options.pace) CHECK(results.sent == 20);
    CHECK(results.sent > 0);
    CHECK(results.echoed == results.sent);
    CHECK(status(results) == success);
    for (const auto& stream : server.streams)
        CHECK(stream->end().reason == bufio::Reason::clean);
}

TEST_CASE_METHOD(Fixture, "messages overdue at the end are still sent") {
    RunOptions options = this->options();
    options.length = 40ms;
    options.pace = open_loop;
    start(options);
    turn_until(loop, [&] { return run->results().sent > 10; });
    const ev::Time end = ev::Clock::now() + 50ms;
    while (ev::Clock::now() < end) {
    }
    const Results& results = wait_for_end();
    CHECK(results.sent == 40);
    CHECK(results.echoed == 40);
    CHECK(results.unsent == 0);
    CHECK(status(results) == success);
    REQUIRE(results.planned_rate);
    CHECK(results.planned_rate->planned == 1000);
    CHECK(results.planned_rate->reached < 1000);
}

TEST_CASE_METHOD(Fixture,
                 "overdue messages that can't be sent count as unsent, and fail the run") {
    RunOptions options = this->options();
    options.length = 20ms;
    options.session.reply_timeout = GENERATE(1ms, 20ms);
    options.pace = Pace::per_second(10'000'000'000);
    const Results& results = run_to_end(options);
    CHECK(results.unsent > 0);
    CHECK(results.sent + results.unsent == 200'000);
    CHECK(status(results) == reply_wrong_or_lost);
    REQUIRE(results.planned_rate);
    CHECK(results.planned_rate->planned == 10'000'000);
    CHECK(results.planned_rate->reached < 10'000'000);
}

TEST_CASE_METHOD(Fixture, "an early end counts the messages due until then") {
    RunOptions options = this->options();
    options.connections = 1;
    wear_out(options, 10, 20ms + tolerated_lateness);
    run->finish();
    server.resume();
    wait_for_end();
    CHECK(run->results().echoed == 10);
    CHECK(run->results().unsent >= 10);
    CHECK(run->results().unsent < 100'000);
}

TEST_CASE_METHOD(Fixture, "the open loop measures round trips from the planned time") {
    RunOptions options = this->options();
    options.connections = 1;
    options.count = 50;
    options.pace = open_loop;
    server.answers = false;
    start(options);
    turn_until(loop, [&] { return run->results().sent == 50; });
    server.resume();
    const Results& results = wait_for_end();
    CHECK(results.echoed == 50);
    CHECK(results.round_trips.max() >= 49ms);
    CHECK(results.round_trips.max() - results.round_trips.min() >= 49ms);
}

TEST_CASE_METHOD(Fixture, "a connection is replaced after its number of messages") {
    RunOptions options = this->options();
    options.connections = 2;
    options.count = 20;
    options.churn = 3;
    options.pace = GENERATE(std::optional<Pace>(), std::optional(Pace::per_second(500'000)));
    const Results& results = run_to_end(options);
    CHECK(results.sent == 20);
    CHECK(results.echoed == 20);
    CHECK(results.lost == 0);
    CHECK(results.attempts >= 7);
    CHECK(results.opened == results.attempts);
    CHECK(server.streams.size() == results.opened);
    for (const auto& stream : server.streams) CHECK(stream->bytes_read() <= 3 * 65);
}

TEST_CASE_METHOD(Fixture,
                 "a message that waits for a new connection is timed from its planned time") {
    RunOptions options = this->options();
    options.connections = 1;
    options.count = 5;
    wear_out(options, 4, 50ms);
    CHECK(run->results().sent == 4);
    server.resume();
    const Results& results = wait_for_end();
    CHECK(results.echoed == 5);
    CHECK(results.lost == 0);
    CHECK(results.lateness.max() >= 40ms);
    CHECK(results.round_trips.min() >= 40ms);
    CHECK(connections(results) == Connections{.attempts = 2, .opened = 2, .failed = 0});
    CHECK(status(results) == success);
}

TEST_CASE_METHOD(Fixture, "messages that wait for a connection that never opens are unsent") {
    RunOptions options = this->options();
    options.connections = 1;
    options.count = 100;
    wear_out(options, 4, 50ms);
    server.close();
    server.resume();
    const Results& results = wait_for_end();
    CHECK(results.echoed == 4);
    CHECK(results.sent == 4);
    CHECK(results.lost == 0);
    CHECK(results.unsent >= 40);
    CHECK(connections(results) == Connections{.attempts = 2, .opened = 1, .failed = 1});
    CHECK(status(results) == connect_failed);
}

TEST_CASE_METHOD(Fixture, "a connection that is being replaced at the end has not failed") {
    RunOptions options = this->options();
    options.length = 20ms;
    options.churn = 1;
    const Results& results = run_to_end(options);
    CHECK(status(results) == success);
    CHECK(results.failures.empty());
    CHECK(results.failed == 0);
    CHECK(results.opened == results.attempts);
    CHECK(results.echoed == results.sent);
}

TEST_CASE_METHOD(Fixture, "a run ends while a connection is about to be replaced") {
    RunOptions options = this->options();
    options.connections = 1;
    options.churn = 1;
    start(options);
    turn_until(loop, [&] { return run->results().attempts == 2; });
    const auto end = GENERATE(&Run::close, &Run::finish);
    ((*run).*end)();
    wait_for_end();
    CHECK(run->open() == 0);
}

TEST_CASE_METHOD(Fixture, "new connections open at their pace") {
    RunOptions options = this->options();
    options.count = 3;
    options.pace = open_loop;
    options.connect_pace = Pace::per_second(100'000);
    const ev::Time begin = loop.now();
    start(options);
    wait_for_end();
    CHECK(loop.now() - begin >= 20ms);
    CHECK(connections(run->results()) == all_three);
}

TEST_CASE_METHOD(Fixture,
                 "the length counts from the first message, once all connections are open") {
    RunOptions options = this->options();
    options.length = 20ms;
    options.pace = open_loop;
    // The last connection opens after the length, even counted from the start.
    options.connect_pace = Pace::per_second(GENERATE(as<std::uint64_t>{}, 30'000, 60'000));
    if (GENERATE(false, true)) options.start = loop.now() + 5ms;
    const Results& results = run_to_end(options);
    CHECK(results.sent == 20);
    CHECK(results.echoed == 20);
    CHECK(connections(results) == all_three);
    CHECK(status(results) == success);
}

TEST_CASE_METHOD(Fixture, "no message is sent before the requested start") {
    RunOptions options = this->options();
    options.count = 3;
    options.start = loop.now() + 30ms;
    options.pace = GENERATE(closed_loop, open_loop);
    start(options);
    turn_until(loop, [&] { return run->open() == 3; });
    CHECK((run->results().sent == 0 || loop.now() >= *options.start));
    turn_until(loop, [&] { return run->results().sent > 0; });
    CHECK(loop.now() >= *options.start);
    wait_for_end();
    CHECK(run->results().echoed == 3);
}

TEST_CASE_METHOD(Fixture, "a target that refuses is one failure for all connections") {
    RunOptions options = this->options();
    options.session.endpoint.service = std::to_string(test::unused_port(loop));
    options.pace = GENERATE(closed_loop, open_loop);
    const Results& results = run_to_end(options);
    CHECK(connections(results) == Connections{.attempts = 3, .opened = 0, .failed = 3});
    REQUIRE(results.failures.size() == 1);
    CHECK(results.failures[0].count == 3);
    CHECK(results.failures[0].status == connect_failed);
    CHECK(status(results) == connect_failed);
    CHECK(results.sent == 0);
}

TEST_CASE_METHOD(Fixture, "a run fails if its look-up takes longer than its length") {
    const std::uint64_t count = GENERATE(as<std::uint64_t>{}, 1, 3);
    RunOptions options = RunFixture::options(count);
    options.session.endpoint.host = "name.invalid";
    options.length = 1ns;
    const Results& results = run_to_end(options);
    CHECK(connections(results) == Connections{.attempts = count, .opened = 0, .failed = count});
    REQUIRE(results.failures.size() == 1);
    CHECK(results.failures[0].text.ends_with(" (--max-time): still resolving"));
    CHECK(results.failures[0].count == count);
    CHECK(status(results) == timed_out);
}

TEST_CASE_METHOD(Fixture, "each failed try is counted, and the last one decides the status") {
    RunOptions options = this->options();
    options.session.endpoint.service = std::to_string(test::unused_port(loop));
    options.session.retries = 2;
    options.session.retry_delay = 1ms;
    const Results& results = run_to_end(options);
    CHECK(connections(results) == Connections{.attempts = 9, .opened = 0, .failed = 9});
    REQUIRE(results.failures.size() == 1);
    CHECK(results.failures[0].count == 9);
    CHECK(status(results) == connect_failed);
}

TEST_CASE_METHOD(Fixture,
                 "a reset loses its unanswered messages, and other connections continue") {
    RunOptions options = this->options();
    start(options);
    turn_until(loop, [&] { return run->results().echoed > 100; });
    server.streams[1]->abort();
    server.streams[1].reset();
    turn_until(loop, [&] { return run->open() == 2; });
    const std::uint64_t echoed = run->results().echoed;
    turn_until(loop, [&] { return run->results().echoed > echoed + 100; });
    run->finish();
    const Results& results = wait_for_end();
    CHECK(status(results) == receive_failed);
    CHECK(connections(results) == all_three);
    CHECK(results.lost <= 1);
    CHECK(results.sent == results.echoed + results.lost);
}

TEST_CASE_METHOD(Fixture, "messages due while no connection is open are unsent") {
    RunOptions options = RunFixture::options(GENERATE(as<std::size_t>{}, 1, 3));
    options.pace = open_loop;
    options.session.retries = Session::forever;
    options.session.retry_delay = 50ms;
    start(options);
    turn_until(loop, [&] { return run->results().echoed > 20; });
    for (const auto& stream : server.streams) stream->abort();
    server.streams.clear();
    turn_until(loop, [&] { return run->open() == 0; });
    const std::uint64_t unsent = run->results().unsent;
    const std::uint64_t echoed = run->results().echoed;
    turn_until(loop, [&] { return run->results().unsent > unsent; });
    turn_until(loop, [&] { return run->open() == options.connections; });
    turn_until(loop, [&] { return run->results().echoed > echoed + 20; });
    run->finish();
    const Results& results = wait_for_end();
    CHECK(results.sent == results.echoed + results.lost);
}

TEST_CASE_METHOD(VirtualFixture, "an early end does not wait for connections to open") {
    RunOptions options = this->options(3);
    options.session.framing = find_framing("smtp");  // the server never greets
    options.probe = GENERATE(false, true);
    start(options);
    turn_until(loop, [&] { return server.streams.size() == 3; });
    loop.settle();
    CHECK(run->open() == 0);
    run->finish();
    const Results& results = wait_for_end();
    CHECK(loop.time < loop.start + options.session.connect_timeout);
    CHECK(status(results) == success);
    CHECK(connections(results) == Connections{});
}

TEST_CASE_METHOD(Fixture, "closing counts nothing as lost") {
    server.answers = false;
    start(options());
    turn_until(loop, [&] { return run->results().sent == 3; });
    run->close();
    wait_for_end();
    CHECK(run->results().lost == 0);
}

TEST_CASE_METHOD(Fixture, "closing before the first connection ends the run") {
    start(options());
    run->close();
    CHECK(done == 0);
    wait_for_end();
    CHECK(run->results().attempts == 0);
}

TEST_CASE_METHOD(Fixture, "a run calls back once, even if it is ended again later") {
    RunOptions options = this->options();
    options.count = 3;
    run_to_end(options);
    done = 0;
    run->close();
    run->finish();
    for (int i = 0; i < 3; ++i) loop.step(1ms);
    CHECK(done == 0);
}

TEST_CASE_METHOD(Fixture, "generated messages allocate nothing in the steady state") {
    RunOptions options = RunFixture::options(GENERATE(as<std::size_t>{}, 1, 3));
    options.window = GENERATE(std::optional<unsigned>(1), std::optional<unsigned>());
    options.pace = GENERATE(std::optional<Pace>(), std::optional(Pace::per_second(20'000'000)));
    start(options);
    turn_until(loop, [&] { return run->results().echoed > 1000; });
    const std::uint64_t echoed = run->results().echoed;
    test::allocations.count = 0;
    const std::function<bool()> more = [&] { return run->results().echoed > echoed + 2000; };
    while (!more()) loop.step(1ms);
    // In the open loop a delay of this machine may make a queue longer than ever before.
    CHECK(test::allocations.count <= (options.pace ? 200U : 0U));
    run->finish();
    wait_for_end();
    CHECK(status(run->results()) == success);
}

TEST_CASE_METHOD(Fixture, "a suspension of the program is in no round trip") {
    RunOptions options = this->options();
    options.count = 1000;
    options.pace = open_loop;
    start(options);
    turn_until(loop, [&] { return run->results().echoed > 10; });
    const ev::Time end = ev::Clock::now() + 300ms;
    while (ev::Clock::now() < end) {
    }
    run->void_round_trips();
    wait_for_end();
    CHECK(run->results().echoed == 1000);
    CHECK(run->results().round_trips.count() <= 710);
    CHECK(run->results().round_trips.max() < 300ms);
}

TEST_CASE_METHOD(VirtualFixture, "a run leaves a message unsent while too much is in flight") {
    RunOptions options = this->options(1);
    options.size = 1024 * 1024;
    options.count = 12;
    options.pace = Pace::per_second(1'000);
    test::ManualServer sink(loop);  // reads everything, answers nothing
    options.session.endpoint.service = std::to_string(sink.port());
    options.session.reply_timeout = 60s;
    Diary diary;
    start(options, &diary);
    const ev::Time begin = loop.time;
    const Results& results = wait_for_end();
    CHECK(results.sent == 8);  // 8 MiB
    CHECK(results.lost == 8);
    CHECK(results.unsent == 4);
    CHECK(results.lateness.count() == 8);
    CHECK(status(results) == reply_wrong_or_lost);
    REQUIRE(diary.missed_times.size() == 4);
    for (std::size_t i = 0; i < 4; ++i) {
        CHECK(diary.missed_times[i] == begin + static_cast<int>(8 + i) * 1s);
        CHECK(diary.missed_messages[i].size() == options.size);
        CHECK(diary.missed_messages[i].find(i == 0 ? "9" : std::to_string(9 + i)) <
              options.size);
    }
}

TEST_CASE_METHOD(VirtualFixture, "a run leaves a message unsent while the peer is blocked") {
    RunOptions options = this->options(GENERATE(as<std::size_t>{}, 1, 2));
    options.size = 1024 * 1024;
    options.count = 40;
    options.pace = Pace::per_second(1'000'000);
    options.session.reply_timeout = 5s;
    server.answers = false;  // reads no more than its buffer takes
    const Results& results = run_to_end(options);
    CHECK(results.unsent > 0);
    CHECK(results.sent + results.unsent == options.count);
    CHECK(results.sent == results.lost);
}

TEST_CASE_METHOD(VirtualFixture, "only a message whose own connection has failed is unsent") {
    RunOptions options = this->options(2);
    options.count = 40;
    options.pace = Pace::per_second(1'000'000);
    options.fixed_connections = GENERATE(false, true);
    start(options);
    turn_until(loop, [&] { return run->results().echoed == 20; });
    server.streams.front()->abort();
    server.streams.front().reset();
    const Results& results = wait_for_end();
    CHECK(results.unsent == (options.fixed_connections ? 10 : 0));
    CHECK(results.sent + results.unsent == 40);
    CHECK(results.lost <= 1);
    CHECK(results.echoed + results.lost == results.sent);
}

TEST_CASE_METHOD(VirtualFixture, "messages still due when the length is over are unsent") {
    RunOptions options = this->options(1);
    options.length = 10s;
    options.pace = Pace::per_second(1'000);
    options.session.retries = Session::forever;
    options.session.retry_delay = 1min;
    start(options);
    turn_until(loop, [&] { return run->results().echoed == 3; });
    server.close();
    server.streams.front()->abort();
    server.streams.clear();
    const Results& results = wait_for_end();
    CHECK(results.sent == 3);
    CHECK(results.unsent == 7);
    CHECK(results.lost == 0);
    CHECK(status(results) == receive_failed);
}

TEST_CASE_METHOD(VirtualFixture, "a run counts the same with one connection and with several") {
    struct Row {
        bool paced;
        bool damaged;
        bool silent;
        std::uint64_t echoed;
        std::uint64_t lost;
    };
    const Row row = GENERATE(Row{false, false, false, 60, 0}, Row{true, false, false, 60, 0},
                             Row{false, true, false, 35, 0}, Row{true, true, false, 35, 0},
                             Row{true, false, true, 0, 60});
    RunOptions options = this->options(GENERATE(as<std::size_t>{}, 1, 2, 3, 7));
    options.window = GENERATE(std::optional<unsigned>(1), std::optional<unsigned>());
    options.count = 60;
    if (row.paced) options.pace = Pace::per_second(1'000'000);
    options.session.reply_timeout = 100ms;
    server.damages = row.damaged;
    server.answers = !row.silent;
    const Results& results = run_to_end(options);
    CHECK(results.sent == 60);
    CHECK(results.echoed == row.echoed);
    CHECK(results.lost == row.lost);
    CHECK(results.bad == 60 - row.echoed - row.lost);
    CHECK(results.late == 0);
    CHECK(results.unsent == 0);
    CHECK(results.unsolicited == 0);
    CHECK(results.duplicates == 0);
    CHECK(results.in_flight() == 0);
    CHECK(results.round_trips.count() == 60 - row.lost);
    CHECK(results.lateness.count() == (row.paced ? 60 : 0));
    CHECK(results.planned_rate.has_value() == row.paced);
    const std::uint64_t count = options.connections;
    CHECK(connections(results) == Connections{.attempts = count, .opened = count, .failed = 0});
    CHECK(results.connect_times.count() == count);
    CHECK(status(results) == (row.echoed == 60 ? success : reply_wrong_or_lost));
    CHECK(results.bad_sentence.empty() == !row.damaged);
    CHECK(results.lost_sentence.empty() == !row.silent);
}

TEST_CASE_METHOD(VirtualFixture, "a retried connection begins to send when it opens") {
    RunOptions options = this->options(1);
    options.count = 10;
    options.pace = GENERATE(std::optional<Pace>(), std::optional(Pace::per_second(1'000)));
    options.session.retries = Session::forever;
    options.session.retry_delay = 3s;
    server.close();
    start(options);
    turn_until(loop, [&] { return run->results().failed >= 3; });
    CHECK(run->results().unsent == 0);
    server.listen();
    turn_until(loop, [&] { return run->open() == 1; });
    const ev::Time opened = loop.time;
    const Results& results = wait_for_end();
    REQUIRE(results.first_sent);
    CHECK(*results.first_sent == opened);
    CHECK(results.echoed == 10);
    CHECK(results.sent == 10);
    CHECK(results.unsent == 0);
    CHECK(results.lateness.max() == 0ns);
    CHECK(results.opened == 1);
    CHECK(results.attempts == results.failed + 1);
}

TEST_CASE_METHOD(VirtualFixture, "a run begins when the last handshake is over") {
    Diary diary;
    diary.handshake = [this] {  // takes time within a turn
        CHECK(loop.now() <= loop.time);
        loop.time += 50ms;
    };
    RunOptions options = this->options(1);
    options.count = 10;
    options.pace = GENERATE(std::optional<Pace>(), std::optional(Pace::per_second(1'000)));
    start(options, &diary);
    const Results& results = wait_for_end();
    CHECK(results.echoed == 10);
    REQUIRE(results.first_sent);
    CHECK(*results.first_sent == loop.start + 50ms);
    CHECK(results.lateness.max() == 0ns);
    CHECK(results.round_trips.max() < 50ms);
}

TEST_CASE_METHOD(VirtualFixture, "the length of a run begins when its only connection opens") {
    RunOptions options = this->options(1);
    options.length = 10s;
    options.pace = Pace::per_second(1'000);
    options.session.retries = Session::forever;
    options.session.retry_delay = 2s;
    options.session.retry_seed = 1;
    server.close();
    start(options);
    turn_until(loop, [&] { return run->results().failed >= 2; });
    REQUIRE(loop.time > loop.start);
    server.listen();
    const Results& results = wait_for_end();
    CHECK(results.echoed == 10);
    CHECK(results.unsent == 0);
}

TEST_CASE_METHOD(Fixture, "a closed loop begins in the turn in which a connection opens") {
    RunOptions options = RunFixture::options(1);
    options.count = 1;
    Diary diary;
    start(options, &diary);
    while (run->open() == 0) loop.step(1ms);
    CHECK(diary.text.starts_with("opened 1, sent 1"));
    CHECK(run->results().sent == 1);
    wait_for_end();
    CHECK(diary.text == "opened 1, sent 1, answered 1, ended 1");
}

TEST_CASE_METHOD(VirtualFixture, "a replacement keeps the number of its connection") {
    RunOptions options = this->options(2);
    options.count = 4;
    options.churn = 1;
    options.pace = Pace::per_second(1'000);
    Diary diary;
    start(options, &diary);
    wait_for_end();
    CHECK(diary.text ==
          "opened 1, opened 2, sent 1, answered 1, ended 1, opened 1, sent 2, answered 2, "
          "ended 2, opened 2, sent 1, answered 1, ended 1, opened 1, sent 2, answered 2, "
          "ended 1, ended 2");
    CHECK(diary.flushes > 0);
}

TEST_CASE_METHOD(VirtualFixture, "a connection is replaced at the end of its lifetime") {
    RunOptions options = this->options(2);
    options.length = 45ms;
    options.lifetime = 10ms;
    options.pace = open_loop;
    const Results& results = run_to_end(options);
    CHECK(connections(results) == Connections{.attempts = 10, .opened = 10, .failed = 0});
    CHECK(results.sent > 0);
    CHECK(results.echoed == results.sent);
    CHECK(status(results) == success);
    for (const auto& stream : server.streams)
        CHECK(stream->end().reason == bufio::Reason::clean);
}

TEST_CASE_METHOD(VirtualFixture, "no connection is replaced before the run begins") {
    RunOptions options = this->options(2);
    options.length = 15ms;
    options.lifetime = 10ms;
    options.pace = Pace::per_second(1'000'000);
    options.start = loop.now() + 1005ms;
    const Results& results = run_to_end(options);
    CHECK(results.opened == 4);
    CHECK(results.unsent == 0);
}

TEST_CASE_METHOD(VirtualFixture, "a connection is not replaced while it awaits a reply") {
    RunOptions options = this->options(1);
    options.count = 15;
    options.pace = open_loop;
    options.lifetime = 10ms;
    server.answers = false;
    start(options);
    loop.pass(12ms);
    CHECK(run->results().attempts == 1);
    server.resume();
    const Results& results = wait_for_end();
    CHECK(results.opened == 2);
    CHECK(results.echoed == 15);
}

TEST_CASE_METHOD(VirtualFixture, "a probe times its connections, and replaces them") {
    RunOptions options = this->options(2);
    options.source = [](auto&, auto&, auto&) { return std::make_unique<Silence>(); };
    options.probe = true;
    options.length = 45ms;
    options.lifetime = 10ms;
    const Results& results = run_to_end(options);
    CHECK(results.probe);
    CHECK(connections(results) == Connections{.attempts = 10, .opened = 10, .failed = 0});
    CHECK((results.elapsed() >= 40ms));
    CHECK(results.connect_times.count() == 10);
    CHECK(status(results) == success);
}

TEST_CASE_METHOD(Fixture, "an unknown service is one failure for one connection or several") {
    const std::uint64_t count = GENERATE(as<std::uint64_t>{}, 1, 3);
    RunOptions options = RunFixture::options(count);
    options.session.endpoint.service = "no-such-service";
    const Results& results = run_to_end(options);
    CHECK(connections(results) == Connections{.attempts = count, .opened = 0, .failed = count});
    REQUIRE(results.failures.size() == 1);
    CHECK(results.failures[0].text.starts_with("cannot resolve 127.0.0.1:no-such-service: "));
    CHECK(results.failures[0].count == count);
    CHECK(status(results) == lookup_failed);
}
