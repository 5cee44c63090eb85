// Runs on several threads in real time, against a server on the test's loop.

#include "app/text/exit_status.hpp"
#include "tests/app/run/run_fixture.hpp"

#include <numeric>

using namespace std::chrono_literals;
using namespace yodel;
using test::counts;
using test::turn_until;

namespace {

using Fixture = test::RunFixture<ev::Loop>;

const std::optional<Pace> closed_loop;
const std::optional<Pace> open_loop = Pace::per_1000_seconds(20'000'000);

}  // namespace

TEST_CASE("threads send exactly the requested messages, each on its own connection") {
    struct Row {
        std::optional<Pace> pace;
        std::uint64_t count;
        const char* counts;
        std::vector<std::uint64_t> sent = {};  // on each connection; not known in a closed loop
    };
    const Row rows[] = {
        {closed_loop, 3, "3 sent, 3 echoed"},
        {closed_loop, 1000, "1000 sent, 1000 echoed"},
        {open_loop, 3, "40 warm-up, 3 sent, 3 echoed", {8, 8, 9, 9, 9}},
        {open_loop, 502, "40 warm-up, 502 sent, 502 echoed", {108, 108, 108, 109, 109}},
    };
    for (const Row& row : rows)
        for (const std::size_t threads : {1U, 2U, 3U, 5U}) {
            CAPTURE(threads);
            Fixture fixture;
            RunOptions options{
                .connections = 5, .threads = threads, .pace = row.pace, .count = row.count};
            if (row.pace) options.warm_up = 2ms;
            const RunResults& results = fixture.run_to_end(options);
            CHECK(counts(results) == std::string("5 opened, ") + row.counts);
            std::vector<std::uint64_t> sent = fixture.server.bytes_read();
            for (std::uint64_t& each : sent) each /= 65;  // 64 bytes and a newline
            std::sort(sent.begin(), sent.end());
            CHECK(sent.size() == 5);
            CHECK(std::accumulate(sent.begin(), sent.end(), std::uint64_t{0}) ==
                  row.count + results.warm_up.sent);
            if (row.pace) CHECK(sent == row.sent);
        }
}

// The connections of the first thread are open long before the last connection of another
// thread.
TEST_CASE_METHOD(Fixture, "the threads begin together, and the length is measured from then") {
    const ev::Time begun = ev::Clock::now();
    const RunResults& results = run_to_end({.connections = 4,
                                            .threads = 3,
                                            .connect_pace = Pace::per_1000_seconds(20'000),
                                            .pace = Pace::per_1000_seconds(200'000),
                                            .length = 200ms});
    CHECK(counts(results) == "4 opened, 40 sent, 40 echoed");
    CHECK(*results.first_sent_at - begun >= 150ms);
    CHECK(*results.planned_rate == Approx(200));
}

TEST_CASE("a thread whose connections have failed does not delay the others") {
    Fixture none;
    none.server.close();
    CHECK(counts(none.run_to_end({.connections = 5, .threads = 2, .pace = open_loop})) ==
          "5 failed, status 7");
    Fixture one;
    one.start({.connections = 2,
               .threads = 2,
               .connect_pace = Pace::per_1000_seconds(20'000),  // one connection in 50 ms
               .pace = open_loop,
               .count = 40});
    turn_until(one.loop, [&] { return one.server.streams.size() == 1; });
    one.server.reset(0);
    CHECK(counts(one.wait_for_end()) == "2 opened, 20 sent, 20 echoed, status 56");
}

TEST_CASE("closing ends all threads once and counts nothing as lost, at any time") {
    for (const std::size_t threads : {1U, 2U})
        for (const std::uint64_t sent : {0U, 5U}) {
            Fixture fixture;
            fixture.server.mode = test::Server::Mode::drops;
            fixture.start({.connections = 5, .threads = threads});
            fixture.until_sent(sent);
            fixture.run->close();
            CHECK(!fixture.run->has_ended());
            const RunResults& results = fixture.wait_for_end();
            CHECK(results.sent == sent);
            CHECK(results.lost == 0);
            fixture.run->close();
            fixture.run->finish();
            fixture.loop.step(0ms);
            CHECK(fixture.run->has_ended());
        }
}

TEST_CASE_METHOD(Fixture, "destroying a run ends its threads") {
    start({.connections = 5, .threads = 3});
    turn_until(loop, [&] { return server.streams.size() == 5; });
    run.reset();
}

TEST_CASE_METHOD(Fixture, "threads report while they run, and end gracefully") {
    start({.connections = 5, .threads = 2});
    for (int i = 0; i < 3; ++i) {
        until_echoed(run->results().echoed + 1);
        CHECK(run->results().open == 5);
        CHECK(run->results().opened == 5);
        CHECK(run->results().round_trips.count() == run->results().echoed);
    }
    const RunResults& results = finish();
    CHECK(results.sent == results.echoed);
    CHECK(run->results().open == 0);
    for (const auto& stream : server.streams)
        CHECK(stream->end().reason == bufio::Reason::clean);
}
