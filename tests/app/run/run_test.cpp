// Runs on one thread, in virtual time.

#include "app/text/exit_status.hpp"
#include "bufio/packets.hpp"
#include "tests/app/run/run_fixture.hpp"
#include "tests/bufio/system.hpp"
#include "tests/support/allocations.hpp"
#include "tests/support/text.hpp"
#include "tests/support/virtual_time.hpp"

#include <future>
#include <span>

using namespace std::chrono_literals;
using namespace yodel;
using test::contains;
using test::counts;
using Mode = test::Server::Mode;

namespace {

const ev::Time begin = test::VirtualLoop::start;
const Pace per_ms = Pace::per_1000_seconds(1'000'000);
const Pace per_second = Pace::per_1000_seconds(1'000);
const std::optional<Pace> closed_loop;
const std::optional<Pace> paces[] = {closed_loop, per_ms};

struct Fixture : test::RunFixture<test::VirtualLoop> {
    // Keeps the server silent until the connection has sent its messages, and for `after`
    // longer.
    void send_without_replies(RunOptions options, ev::Duration after) {
        options.pace = per_ms;
        server.mode = Mode::ignores;
        start(options);
        until_sent(options.churn);
        loop.pass(after);
        CHECK(run->results().sent == options.churn);
    }
};

// Records the events of a run: "opened 1, sent 1, echoed 1".
class Diary final : public Lane::Owner {
public:
    void lane_opened(std::size_t connection, const Session&) override {
        add("opened", connection);
        if (handshake) handshake();
    }
    void lane_ended(std::size_t connection, const Session&, bool) override {
        add("ended", connection);
    }
    void lane_event(const Event& event) override {
        add(word_of(event.fate), event.connection);
        const auto us = [](ev::Duration time) { return std::to_string(time / 1us); };
        const Message& message = event.message;
        if (!has_message(event.fate) || event.fate == Fate::sent) return;
        times += us(message.planned_at - begin) + " " + us(message.sent_at - begin);
        if (event.reply.round_trip) times += " " + us(*event.reply.round_trip);
        times += "; ";
        payloads.emplace_back(message.payload);
    }

    std::string text;
    std::string times;  // planned, sent and round-trip time of each message, in microseconds
    std::vector<std::string> payloads;
    std::function<void()> handshake;

private:
    void add(const std::string& what, std::size_t connection) {
        text += (text.empty() ? "" : ", ") + what + " " + std::to_string(connection);
    }
};

Session::Options datagrams_to(const bufio::PacketSocket& peer) {
    return {.endpoint = {.service = std::to_string(peer.address().port()), .is_udp = true},
            .framing = datagram_framing()};
}

struct Row {
    const char* name;
    RunOptions options;
    std::string counts;
    Mode mode = Mode::answers;
};

void check(const Row& row) {
    INFO(row.name << " with " << row.options.connections << " connections");
    Fixture fixture;
    fixture.server.mode = row.mode;
    const RunResults& results = fixture.run_to_end(row.options);
    CHECK(counts(results) == row.counts);
    CHECK(results.in_flight() == 0);
    CHECK(results.round_trips.count() == results.echoed + results.bad);
    CHECK(results.connect_times.count() == results.opened);
    CHECK(results.planned_rate.has_value() == (row.options.pace && results.opened > 0));
    CHECK(results.reply_problem_sentence.empty() == (results.bad == 0));
    CHECK(results.lost_sentence.empty() == (results.lost == 0));
    CHECK(results.unsent_sentence.empty() == (results.unsent == 0));
}

}  // namespace

TEST_CASE("a run counts the same with any number of connections") {
    const Row rows[] = {
        {"closed loop", {.count = 60}, "60 sent, 60 echoed"},
        {"open loop", {.pace = per_ms, .count = 60}, "60 sent, 60 echoed"},
        {"large window", {.window = {}, .count = 60}, "60 sent, 60 echoed"},
        {"length of the run", {.pace = per_ms, .length = 20ms}, "20 sent, 20 echoed"},
        {"warm-up before the count",
         {.pace = per_ms, .count = 20, .warm_up = 50ms},
         "50 warm-up, 20 sent, 20 echoed"},
        {"warm-up before the length",
         {.pace = per_ms, .length = 20ms, .warm_up = 50ms},
         "50 warm-up, 20 sent, 20 echoed"},
        {"bad replies", {.count = 60}, "60 sent, 35 echoed, 25 bad, status 1", Mode::damages},
        {"bad replies in the open loop",
         {.pace = per_ms, .count = 60},
         "60 sent, 35 echoed, 25 bad, status 1",
         Mode::damages},
        {"no replies",
         {.session = {.reply_timeout = 100ms}, .pace = per_ms, .count = 60},
         "60 sent, 60 lost, status 1",
         Mode::drops},
    };
    for (Row row : rows)
        for (const std::size_t connections : {1U, 2U, 7U}) {
            Row with = row;
            with.options.connections = connections;
            with.counts = std::to_string(connections) + " opened, " + row.counts;
            check(with);
        }
}

TEST_CASE("a run counts its connections and messages") {
    const std::string unused = [] {
        test::VirtualLoop loop;
        return std::to_string(test::unused_port(loop));
    }();
    const Row rows[] = {
        {"connections are replaced after their messages",
         {.connections = 2, .churn = 3, .pace = Pace::per_1000_seconds(500'000), .count = 20},
         "8 opened, 20 sent, 20 echoed"},
        {"connections are replaced after their messages in the closed loop",
         {.connections = 2, .churn = 3, .count = 20},
         "8 opened, 20 sent, 20 echoed"},
        {"connections are replaced at the end of their lifetime",
         {.connections = 2, .lifetime = 10ms, .pace = per_ms, .length = 45ms},
         "10 opened, 45 sent, 45 echoed"},
        {"no connection is replaced before the run begins",
         {.connections = 2,
          .lifetime = 10ms,
          .pace = per_ms,
          .length = 15ms,
          .start_at = begin + 1005ms},
         "4 opened, 15 sent, 15 echoed"},
        {"a refusal is one failure for all connections",
         {.session = {.endpoint = {.service = unused}}, .connections = 3},
         "3 failed, status 7"},
        {"a refusal is one failure for all connections of an open loop",
         {.session = {.endpoint = {.service = unused}}, .connections = 3, .pace = per_ms},
         "3 failed, status 7"},
        {"each failed try is counted",
         {.session = {.endpoint = {.service = unused}, .retries = 2, .retry_delay = 1ms},
          .connections = 3},
         "9 failed, status 7"},
        {"a wait for a retry ends with the time of the run",
         {.session = {.endpoint = {.service = unused}, .retries = 9, .retry_delay = 1s},
          .connections = 3,
          .length = 100ms},
         "3 failed, status 28"},
        {"messages that are too long are unsent",
         {.session = {.max_frame = 3}, .pace = per_ms, .count = 2, .size = 5},
         "1 opened, 2 unsent, status 1"},
        {"messages are unsent while 8 MiB are in flight",
         {.session = {.reply_timeout = 60s}, .pace = per_second, .count = 12, .size = 1 << 20},
         "1 opened, 8 sent, 8 lost, 4 unsent, status 1",
         Mode::drops},
    };
    for (const Row& row : rows) check(row);
}

TEST_CASE("a target that is not found fails all connections in one sentence") {
    struct Row {
        bufio::Endpoint endpoint;
        std::optional<ev::Duration> length;
        std::string sentence;
        int status;
    };
    const Row rows[] = {
        {{.service = "no-such-service"},
         {},
         "cannot resolve 127.0.0.1:no-such-service: ",
         lookup_failed},
        {{.host = "slow.example"}, 1ns, " (--max-time): still resolving", timed_out},
    };
    for (const Row& row : rows)
        for (const std::size_t connections : {1U, 3U}) {
            CAPTURE(row.sentence, connections);
            std::promise<void> started;
            std::promise<void> answer;  // is never given, but its end wakes the thread
            test::Faults faults;
            if (row.length)
                faults.resolve = [&started,
                                  answered = answer.get_future().share()](const std::string&) {
                    started.set_value();
                    answered.wait();
                    return std::vector<bufio::Address>{};
                };
            test::RunFixture<ev::Loop> fixture;  // in real time, because the resolver needs it
            const RunResults& results =
                fixture.run_to_end({.session = {.endpoint = row.endpoint},
                                    .connections = connections,
                                    .length = row.length});
            CHECK(counts(results) == std::to_string(connections) + " failed, status " +
                                         std::to_string(row.status));
            REQUIRE(results.failures.size() == 1);
            CHECK(contains(results.failures[0].text, row.sentence));
            CHECK(results.failures[0].count == connections);
            if (row.length) started.get_future().wait();
        }
}

TEST_CASE_METHOD(Fixture, "messages overdue at the end are still sent") {
    start({.connections = 3, .pace = per_ms, .length = 40ms});
    until_sent(10);
    loop.time += 50ms;
    const RunResults& results = wait_for_end();
    CHECK(counts(results) == "3 opened, 40 sent, 40 echoed");
    REQUIRE(results.planned_rate);
    CHECK(*results.planned_rate == 1000);
    CHECK(results.reached_rate < 1000);
}

TEST_CASE_METHOD(Fixture, "overdue messages that can't be sent in time are unsent") {
    const std::optional<Pace> fast = Pace::per_1000_seconds(10'000'000'000);
    for (const int caught_up : {1, 20}) {  // milliseconds
        Fixture fixture;
        fixture.start(
            {.session = {.reply_timeout = caught_up * 1ms}, .pace = fast, .length = 200ms});
        fixture.loop.until([&] { return fixture.run->has_ended(); }, 1ms);
        const RunResults& results = fixture.run->results();
        CHECK(results.sent + results.unsent == 2'000'000);
        CHECK(results.sent == 256 * (200 + static_cast<std::uint64_t>(caught_up)));
        CHECK(*results.planned_rate == 10'000'000);
        CHECK(results.reached_rate < 10'000'000);
        CHECK(results.unsent_sentence ==
              "an overdue message was not sent before the run ended");
    }
}

TEST_CASE_METHOD(Fixture,
                 "an early end counts overdue messages as unsent, except the most recent") {
    send_without_replies({.churn = 10}, 20ms + tolerated_lateness);
    server.resume();
    CHECK(counts(finish()) == "1 opened, 10 sent, 10 echoed, 20 unsent, status 1");
}

TEST_CASE_METHOD(Fixture, "a message that waits for a new connection is timed from its plan") {
    send_without_replies({.churn = 4, .count = 5}, 50ms);
    server.resume();
    const RunResults& results = wait_for_end();
    CHECK(counts(results) == "2 opened, 5 sent, 5 echoed");
    CHECK(results.lateness.max() == 49ms);
    CHECK(results.round_trips.min() == 49ms);
}

TEST_CASE_METHOD(Fixture, "messages that wait for a connection that never opens are unsent") {
    send_without_replies({.churn = 4, .count = 100}, 50ms);
    server.close();
    server.resume();
    CHECK(counts(wait_for_end()) ==
          "1 opened, 1 failed, 4 sent, 4 echoed, 50 unsent, status 7");
}

TEST_CASE("an early end fails no connection being replaced, and counts the planned rate once") {
    for (const auto end : {&Run::close, &Run::finish})
        for (const auto& pace : paces) {
            Fixture fixture;
            fixture.start({.connections = 3, .churn = 1, .pace = pace});
            test::turn_until(fixture.loop,
                             [&] { return fixture.run->results().attempts >= 5; });
            ((*fixture.run).*end)();
            const RunResults& results = fixture.wait_for_end();
            CHECK(results.failures.empty());
            CHECK(results.failed == 0);
            if (end == &Run::finish) CHECK(results.opened == results.attempts);
            CHECK(fixture.run->results().open == 0);
            CHECK(results.planned_rate == (pace ? std::optional(1000.0) : std::nullopt));
        }
}

TEST_CASE_METHOD(Fixture, "new connections open at their pace, before the first message") {
    Diary diary;
    start({.connections = 3,
           .connect_pace = Pace::per_1000_seconds(100'000),
           .pace = per_ms,
           .count = 3},
          &diary);
    for (std::size_t open : {1U, 2U, 3U}) {
        until_open(open);
        CHECK(loop.now() == begin + (open - 1) * 10ms);
    }
    CHECK(*wait_for_end().first_sent_at == begin + 20ms);
    CHECK(contains(diary.text, "opened 3, sent 1, echoed 1, sent 2"));
}

TEST_CASE("the length counts from the first message, once all connections are open") {
    // The last connection opens more than the length after the first one, and after the
    // requested start.
    for (const std::uint64_t pace : {30'000U, 60'000U})
        for (const std::optional<ev::Time> requested :
             {std::optional<ev::Time>(), {begin + 5ms}}) {
            Fixture fixture;
            const RunResults& results =
                fixture.run_to_end({.connections = 3,
                                    .connect_pace = Pace::per_1000_seconds(pace),
                                    .pace = per_ms,
                                    .length = 20ms,
                                    .start_at = requested});
            CHECK(counts(results) == "3 opened, 20 sent, 20 echoed");
        }
}

TEST_CASE("no message is sent before the requested start") {
    for (const auto& pace : paces) {
        Fixture fixture;
        const RunResults& results = fixture.run_to_end(
            {.connections = 3, .pace = pace, .count = 3, .start_at = begin + 30ms});
        CHECK(*results.first_sent_at == begin + 30ms);
        CHECK(results.echoed == 3);
        CHECK(results.late_start == 0ms);
    }
}

TEST_CASE("a reset loses unanswered messages, and other connections continue") {
    for (const auto& pace : paces) {
        Fixture fixture;
        fixture.start({.connections = 3, .pace = pace});
        fixture.until_echoed(100);
        fixture.server.reset(1);
        fixture.until_open(2);
        fixture.until_echoed(fixture.run->results().echoed + 100);
        const RunResults& results = fixture.finish();
        CHECK(results.failures.size() == 1);
        CHECK(results.unsent == 0);
        CHECK(results.lost <= 1);
        CHECK(results.sent == results.echoed + results.lost);
        CHECK(contains(counts(results), "3 opened, "));
        CHECK(contains(counts(results), "status 56"));
    }
}

TEST_CASE_METHOD(Fixture, "a connection that is lost with the last message is not retried") {
    server.mode = Mode::drops;
    start({.session = {.retries = Session::forever}, .count = 1});
    until_sent(1);
    server.reset(0);
    CHECK(counts(wait_for_end()) == "1 opened, 1 sent, 1 lost, status 56");
    CHECK(run->results().lost_sentence.empty());  // the reset explains it
}

TEST_CASE("messages due while no connection is open are unsent") {
    for (const std::size_t connections : {1U, 3U}) {
        Fixture fixture;
        fixture.start({.session = {.retries = Session::forever, .retry_delay = 50ms},
                       .connections = connections,
                       .pace = per_ms});
        fixture.until_echoed(20);
        for (std::size_t i = 0; i < connections; ++i) fixture.server.reset(i);
        fixture.until_open(0);
        fixture.loop.pass(20ms);
        CHECK(fixture.run->results().unsent == 20);
        CHECK(fixture.run->results().unsent_sentence ==
              "a message was not sent, because no connection was open");
        fixture.until_open(connections);
        fixture.until_echoed(40);
        const RunResults& results = fixture.finish();
        CHECK(results.sent == results.echoed + results.lost);
    }
}

TEST_CASE("an open loop waits for all connections to a server that starts late") {
    for (const std::size_t connections : {1U, 8U}) {
        Fixture fixture;
        fixture.server.close();
        fixture.start({.session = {.retries = 5, .retry_delay = 10s},
                       .connections = connections,
                       .pace = per_ms,
                       .count = 20});
        turn_until(fixture.loop, [&] { return fixture.run->results().attempts > connections; });
        fixture.server.listen();
        const std::string each = std::to_string(connections);
        CHECK(counts(fixture.wait_for_end()) ==
              each + " opened, " + each + " failed, 20 sent, 20 echoed");
    }
}

TEST_CASE("messages still due when the length is over are unsent") {
    Fixture fixture;
    fixture.start({.session = {.retries = Session::forever, .retry_delay = 1min},
                   .pace = per_second,
                   .length = 10s});
    fixture.until_echoed(3);
    fixture.server.close();
    fixture.server.reset(0);
    CHECK(counts(fixture.wait_for_end()) == "1 opened, 3 sent, 3 echoed, 7 unsent, status 56");
}

TEST_CASE("a message is unsent while the peer is blocked") {
    for (const std::size_t connections : {1U, 2U}) {
        Fixture fixture;
        fixture.server.mode = Mode::ignores;
        const RunResults& results = fixture.run_to_end(
            {.connections = connections, .pace = per_ms, .count = 40, .size = 1 << 20});
        CHECK(results.unsent > 0);
        CHECK(results.sent + results.unsent == 40);
        CHECK(results.sent == results.lost);
    }
}

TEST_CASE_METHOD(Fixture,
                 "an unsent message is reported with its planned time and its payload") {
    Diary diary;
    server.mode = Mode::drops;
    start({.session = {.reply_timeout = 1h}, .pace = per_second, .count = 10, .size = 5 << 20},
          &diary);
    until_sent(2);
    loop.pass(1s);
    CHECK(diary.text == "opened 1, sent 1, sent 1, unsent 1");
    CHECK(diary.times == "2000000 2000000; ");
    CHECK(diary.payloads.at(0).starts_with("3bcdefg"));
    CHECK(run->results().unsent_sentence ==
          "a message was not sent, because 10485762 bytes were waiting for the server");
}

TEST_CASE("an early end does not wait for connections to open") {
    for (const bool is_probe : {false, true}) {
        Fixture fixture;
        fixture.start({.session = {.framing = find_framing("smtp")},  // the server never greets
                       .connections = 3,
                       .is_probe = is_probe});
        test::turn_until(fixture.loop, [&] { return fixture.server.streams.size() == 3; });
        fixture.loop.settle();
        CHECK(counts(fixture.finish()).empty());
        CHECK(fixture.loop.time < begin + Session::Options().connect_timeout);
    }
}

TEST_CASE("generated messages allocate nothing in the steady state") {
    for (const std::size_t connections : {1U, 3U})
        for (const std::optional<unsigned> window : {std::optional(1U), {}})
            for (const auto& pace : {closed_loop, std::optional(Pace(1, 50us))}) {
                Fixture fixture;
                fixture.start({.connections = connections, .pace = pace, .window = window});
                const auto until = [&](std::uint64_t count) {
                    fixture.loop.until([&] { return fixture.run->results().echoed >= count; },
                                       50us);
                };
                until(1000);
                test::allocations.count = 0;
                until(3000);
                CHECK(test::allocations.count == 0);
            }
}

TEST_CASE_METHOD(Fixture, "messages due during a delay are late, and sent in turn") {
    Diary diary;
    start({.pace = per_ms, .count = 6}, &diary);
    until_echoed(1);
    loop.time += 3500us;
    const RunResults& results = wait_for_end();
    CHECK(diary.times ==
          "0 0 0; 1000 3500 2500; 2000 3500 1500; 3000 3500 500; 4000 4000 0; 5000 5000 0; ");
    CHECK(results.lateness.max() == 2500us);
    CHECK(results.lateness.min() == 0us);
}

TEST_CASE_METHOD(Fixture,
                 "a suspension of the program counts as lateness, but in no round trip") {
    Diary diary;
    start({.pace = per_ms, .count = 5}, &diary);
    until_echoed(2);
    run->suspending();
    loop.time += 2500us;
    until_echoed(4);  // a thread may be faster than the signal
    run->continued();
    const RunResults& results = wait_for_end();
    CHECK(diary.times == "0 0 0; 1000 1000 0; 2000 3500; 3000 3500; 4000 4000 0; ");
    CHECK(results.lateness.max() == 1500us);
    CHECK(results.round_trips.count() == 3);
}

TEST_CASE(
    "a retried connection begins to send when it opens, and the length is measured from then") {
    for (const auto& pace : {closed_loop, std::optional(per_second)}) {
        Fixture fixture;
        fixture.server.close();
        fixture.start({.session = {.retries = Session::forever, .retry_delay = 2s},
                       .pace = pace,
                       .count = pace ? 0U : 10U,
                       .length = pace ? std::optional<ev::Duration>(10s) : std::nullopt});
        test::turn_until(fixture.loop, [&] { return fixture.run->results().failed >= 2; });
        CHECK(fixture.run->results().unsent == 0);
        fixture.server.listen();
        fixture.until_open(1);
        const ev::Time opened = fixture.loop.time;
        const RunResults& results = fixture.wait_for_end();
        CHECK(*results.first_sent_at == opened);
        CHECK(results.lateness.max() == 0ns);
        CHECK(contains(counts(results), "1 opened, 2 failed, 10 sent, 10 echoed"));
    }
}

TEST_CASE("a run begins when the last handshake is over") {
    for (const auto& pace : paces) {
        Fixture fixture;
        Diary diary;
        diary.handshake = [&] { fixture.loop.time += 50ms; };  // takes time within a turn
        fixture.start({.pace = pace, .count = 10}, &diary);
        const RunResults& results = fixture.wait_for_end();
        CHECK(results.echoed == 10);
        CHECK(*results.first_sent_at == begin + 50ms);
        CHECK(results.lateness.max() == 0ns);
        CHECK(results.round_trips.max() < 50ms);
    }
}

TEST_CASE_METHOD(Fixture, "a closed loop begins in the turn after a connection has opened") {
    Diary diary;
    start({.count = 1}, &diary);
    while (run->results().open == 0) loop.step();
    CHECK(diary.text == "opened 1");
    loop.step();
    CHECK(diary.text.starts_with("opened 1, sent 1"));
    CHECK(run->results().sent == 1);
    wait_for_end();
    CHECK(diary.text == "opened 1, sent 1, echoed 1, ended 1");
}

TEST_CASE_METHOD(Fixture, "a replacement keeps the number of its connection") {
    Diary diary;
    start({.connections = 2, .churn = 1, .pace = per_second, .count = 4}, &diary);
    wait_for_end();
    CHECK(diary.text ==
          "opened 1, opened 2, sent 1, echoed 1, ended 1, opened 1, sent 2, echoed 2, "
          "ended 2, opened 2, sent 1, echoed 1, ended 1, opened 1, sent 2, echoed 2, "
          "ended 1, ended 2");
}

TEST_CASE_METHOD(Fixture, "a connection is not replaced while it awaits a reply") {
    server.mode = Mode::ignores;
    start({.lifetime = 10ms, .pace = per_ms, .count = 15});
    loop.pass(12ms);
    CHECK(run->results().attempts == 1);
    server.resume();
    CHECK(counts(wait_for_end()) == "2 opened, 15 sent, 15 echoed");
}

TEST_CASE_METHOD(Fixture, "a probe times its connections, and replaces them") {
    const RunResults& results =
        run_to_end({.connections = 2, .lifetime = 10ms, .length = 45ms, .is_probe = true});
    CHECK(results.is_probe);
    CHECK(counts(results) == "10 opened");
    CHECK(results.elapsed() == 40ms);
    CHECK(results.connect_times.count() == 10);
}

TEST_CASE_METHOD(Fixture, "a paused run reads nothing, and lets no reply become late") {
    start({.connections = 3});
    for (const std::uint64_t echoed : {0U, 100U}) {
        until_echoed(echoed);
        run->pause(true);
        loop.settle();
        const std::uint64_t before = run->results().echoed;
        loop.pass(10s);
        CHECK(run->results().echoed == before);
        run->pause(false);
    }
    until_echoed(200);
    CHECK(counts(finish()).starts_with("3 opened, 2"));
    CHECK(run->results().lost == 0);
}

TEST_CASE_METHOD(Fixture,
                 "the jitter of datagrams excludes the client's own delay in sending") {
    bufio::PacketSocket datagrams(bufio::bound_datagram_socket(test::any_loopback_port()));
    const ev::Watch echoes(loop, datagrams.descriptor(), ev::readable, [&](ev::Events) {
        for (const bufio::Datagram& each : datagrams.receive()) {
            const bufio::Packet echo{each.bytes, &each.peer};
            datagrams.send({&echo, 1});
        }
    });
    start({.session = datagrams_to(datagrams), .connections = 2, .pace = per_ms, .count = 8});
    until_echoed(2);
    loop.time += 3500us;
    const RunResults& results = wait_for_end();
    CHECK(counts(results) == "2 opened, 8 sent, 8 echoed");
    CHECK(results.uses_datagrams);
    CHECK(results.lateness.max() == 2500us);
    CHECK(results.jitter() == 0ns);
    CHECK_FALSE(results.jitters.empty());
}

TEST_CASE("without replies a window limits the messages in flight") {
    const bufio::PacketSocket peer(bufio::bound_datagram_socket(test::any_loopback_port()));
    const Session::Options silent = datagrams_to(peer);
    struct Row {
        const char* name;
        RunOptions options;
        std::uint64_t sent;
    };
    const Row rows[] = {
        {"a given window", {.window = 5}, 5},
        {"lines", {.window = {}}, 64},
        {"bytes without frames",
         {.session = {.framing = find_framing("raw")}, .window = {}},
         64},
        {"long messages", {.window = {}, .size = 1 << 20}, 8},
        {"long messages, most connections to open later",
         {.connections = 500,
          .connect_pace = Pace::per_1000_seconds(500),
          .window = {},
          .size = 700'000},
         2},
        {"datagrams", {.session = silent, .window = {}}, 64},
        {"long datagrams", {.session = silent, .window = {}, .size = 1400}, 55},
    };
    for (const Row& row : rows) {
        INFO(row.name);
        Fixture fixture;
        fixture.server.mode = Mode::drops;
        fixture.start(row.options);
        fixture.loop.pass(1s);
        CHECK(fixture.run->results().sent == row.sent);
    }
}

TEST_CASE_METHOD(Fixture,
                 "a server whose replies are overdue gets more messages, until it is blocked") {
    server.mode = Mode::ignores;
    start({.window = {}, .length = 1min});
    loop.pass(6s);
    CHECK(run->results().lost == 64);
    CHECK(run->results().sent > 10'000);
    server.resume();
    until_echoed(20'000);
    server.mode = Mode::drops;
    run->close();
    wait_for_end();
}
