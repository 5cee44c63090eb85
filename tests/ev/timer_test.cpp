#include "ev/system.hpp"
#include "tests/ev/fixture.hpp"
#include "tests/support/catch.hpp"

using namespace std::chrono_literals;
using ev::Timer;

// A wait rounded up to milliseconds for poll(2) is late by up to 900 us here.
static ev::Duration max_lateness(const std::string& backend) {
    return EV_HAS_PPOLL || backend == "select" ? 500us : 1500us;
}

TEST_CASE("a wait ends neither early nor a millisecond late, and after few turns") {
    const struct {
        ev::Duration max_wait;
        int turns;  // from 20 ms on, one for the shortened wait and one for the rest
    } rows[] = {{0ns, 1},      {1ns, 1},     {999'999ns, 1},    {1'000'001ns, 1},
                {200us, 1},    {1500us, 1},  {19'999'999ns, 1}, {20'000'001ns, 2},
                {20'100us, 2}, {21'300us, 2}};
    for (const std::string& backend : backends())
        for (const auto& row : rows) {
            CAPTURE(backend, row.max_wait.count());
            ev::Loop loop(ev::Clock::now, ev::make_backend(backend));
            ev::Time fired{};
            Timer timer(loop, [&] { fired = ev::Clock::now(); });
            auto min_lateness = ev::Duration::max();
            for (int tries = 0; tries < 200 && min_lateness >= max_lateness(backend); ++tries) {
                fired = {};
                timer.start(row.max_wait);
                int turns = 0;
                for (; fired == ev::Time{}; ++turns) loop.step();
                REQUIRE(fired >= timer.deadline());
                REQUIRE(turns <= row.turns);
                min_lateness = std::min(min_lateness, fired - timer.deadline());
            }
            CHECK(min_lateness < max_lateness(backend));
        }
}

TEST_CASE(
    "the largest durations neither overflow nor fire, and negative ones are due immediately") {
    const std::pair<ev::Duration, bool> rows[] = {{ev::Duration::max(), false},
                                                  {ev::Duration::max() - 1ns, false},
                                                  {-1h, true},
                                                  {ev::Duration::min(), true}};
    for (const auto& row : rows) {
        CAPTURE(row.first.count());
        FakeLoop loop;
        bool fired = false;
        Timer timer(loop, [&] { fired = true; });
        timer.start(row.first);
        CHECK(timer.deadline() == (row.second ? loop.time : ev::Time::max()));
        loop.turn_after(row.second ? 0h : 24h);
        CHECK(fired == row.second);
        timer.start_at(ev::Time::min());
        fired = false;
        loop.turn();
        CHECK(fired);
    }
}

TEST_CASE("a pending timer may be moved and assigned over") {
    FakeLoop loop;
    int first = 0, second = 0;
    Timer timer(loop, [&] { ++first; });
    timer.start(1ms);
    Timer moved = std::move(timer);
    CHECK_FALSE(timer);
    CHECK(moved.pending());
    loop.turn_after(1ms);
    CHECK(first == 1);
    moved.start(1ms);
    moved = Timer(loop, [&] { ++second; });
    moved.start(1ms);
    loop.turn_after(1ms);
    CHECK(first == 1);
    CHECK(second == 1);
}

TEST_CASE("a turn with a pending timer reads the clock once") {
    TickingLoop loop;
    loop.log->polls_find_nothing = GENERATE(false, true);
    auto pipe = make_pipe();
    pipe.put();
    ev::Watch watch(loop, pipe.out, ev::readable, [](ev::Events) {});
    Timer timer(loop, [] {});
    timer.start(1h);
    loop.clock_reads = 0;
    for (int turns = 0; turns < 100; ++turns) loop.step();
    CHECK(loop.clock_reads == 100);
}

TEST_CASE("a timer that becomes due while the loop sleeps waits one turn if few descriptors "
          "are ready") {
    const std::size_t ready = GENERATE(1U, 4U, 5U);
    TickingLoop loop;
    loop.log->before = [&](ev::Duration max_wait) {
        if (max_wait > 0ns) loop.time += 1s;
    };
    std::vector<Channel> pipes;
    std::vector<ev::Watch> watches;
    for (std::size_t i = 0; i < ready; ++i) {
        pipes.push_back(make_pipe());
        pipes.back().put();
        watches.emplace_back(loop, pipes.back().out, ev::readable, [](ev::Events) {});
    }
    int fired = 0;
    Timer timer(loop, [&] { ++fired; });
    timer.start(1ms);
    loop.step();
    CHECK(fired == (ready > 4));
    loop.step();
    CHECK(fired == 1);
    if (ready <= 4) CHECK(loop.waits()[1] <= 0ns);  // the second turn did not sleep
}

TEST_CASE("a timer is due in the turn in which a callback has read the time") {
    TickingLoop loop;
    loop.log->before = [&](ev::Duration) { loop.time += 1s; };
    auto pipe = make_pipe();
    pipe.put();
    bool fired = false;
    ev::Watch watch(loop, pipe.out, ev::readable,
                    [&](ev::Events) { CHECK(loop.now() == loop.time); });
    Timer timer(loop, [&] { fired = true; });
    timer.start(1ms);
    loop.step();
    CHECK(fired);
}
