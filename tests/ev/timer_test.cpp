#include "ev/system.hpp"
#include "tests/ev/fixture.hpp"
#include "tests/support/catch.hpp"

#include <sys/time.h>

#include <algorithm>
#include <csignal>
#include <optional>
#include <random>

using namespace std::chrono_literals;
using ev::Timer;

TEST_CASE("a timer never fires early, whatever wakes the loop", "[timer]") {
    FakeLoop loop;
    auto pipe = make_pipe();
    pipe.put();
    int woken = 0, fired = 0, later_fired = 0;
    ev::Watch watch(loop, pipe.out, ev::readable, [&](ev::Events) { ++woken; });
    Timer timer(loop, [&] { ++fired; });
    Timer later(loop, [&] { ++later_fired; });
    timer.start(80ms);
    later.start(900ms);
    loop.turn();
    loop.turn_after(80ms - 1ns);
    CHECK(woken == 2);
    CHECK(fired == 0);
    loop.turn_after(1ns);
    CHECK(fired == 1);
    CHECK(later_fired == 0);
}

TEST_CASE("turns without waiting fire a timer in the first turn after its deadline",
          "[timer]") {
    ev::Loop loop;
    bool fired = false;
    Timer timer(loop, [&] { fired = true; });
    timer.start(130ms);
    while (!fired) {
        const bool due = ev::Clock::now() >= timer.deadline();
        loop.step(0ms);
        REQUIRE(fired >= due);
        if (fired) REQUIRE(ev::Clock::now() >= timer.deadline());
    }
}

TEST_CASE("a wait with the real clock does not end early", "[timer]") {
    ev::Loop loop;
    ev::Time fired{};
    Timer timer(loop, [&] { fired = ev::Clock::now(); });
    timer.start(1500us);
    loop.step();  // one turn suffices: the wait does not end early
    CHECK(fired >= timer.deadline());
}

// A wait rounded up to milliseconds for poll(2) is late by up to 900 us here.
static ev::Duration max_lateness() {
    const bool fine = EV_HAS_PPOLL || backend_is("select");
    return fine ? 500us : 1500us;
}

TEST_CASE("a short wait is not rounded to milliseconds if the system supports finer waits",
          "[timer]") {
    ev::Loop loop;
    ev::Time fired{};
    Timer timer(loop, [&] { fired = ev::Clock::now(); });
    auto min_lateness = ev::Duration::max();
    for (int tries = 0; tries < 1000 && min_lateness >= max_lateness(); ++tries) {
        timer.start(200us);
        loop.step();
        REQUIRE(fired >= timer.deadline());
        min_lateness = std::min(min_lateness, fired - timer.deadline());
    }
    CHECK(min_lateness < max_lateness());
}

TEST_CASE("a long wait ends neither early nor a millisecond late", "[timer]") {
    ev::Loop loop;
    ev::Time fired{};
    Timer timer(loop, [&] { fired = ev::Clock::now(); });
    auto min_lateness = ev::Duration::max();
    int turns = 0;
    for (int tries = 0; tries < 100 && min_lateness >= max_lateness(); ++tries) {
        fired = {};
        timer.start(20'100us);
        for (turns = 0; fired == ev::Time{}; ++turns) loop.step();
        REQUIRE(fired >= timer.deadline());
        min_lateness = std::min(min_lateness, fired - timer.deadline());
    }
    CHECK(min_lateness < max_lateness());
    CHECK(turns <= 2);  // one for the milliseconds, one for the rest
}

TEST_CASE("time spent in callbacks counts for all timers", "[timer]") {
    FakeLoop loop;
    int slow = 0;
    bool fired = false;
    Timer busy(loop, [&] {
        loop.time += 200ms;
        if (++slow < 10) busy.start(0ms);
    });
    Timer timer(loop, [&] { fired = true; });
    busy.start(0ms);
    timer.start(1500ms);
    const auto deadline = timer.deadline();
    while (!fired) loop.turn();
    CHECK(timer.deadline() == deadline);
    CHECK(slow == 9);  // the ninth turn is the first to begin after the deadline
}

TEST_CASE("a descriptor that is always ready does not delay timers", "[timer]") {
    FakeLoop loop;
    auto pipe = make_pipe();
    pipe.put();
    ev::Watch watch(loop, pipe.out, ev::readable, [](ev::Events) {});
    bool fired = false;
    Timer timer(loop, [&] { fired = true; });
    timer.start(1ms);
    int turns = 0;
    while (!fired) {
        loop.turn_after(100ns);
        ++turns;
    }
    CHECK(turns == 10'000);
}

TEST_CASE("a timer of sixty days waits for sixty days", "[timer]") {
    FakeLoop loop;
    auto pipe = make_pipe();
    pipe.put();
    ev::Watch watch(loop, pipe.out, ev::readable, [](ev::Events) {});
    int fired = 0;
    Timer timer(loop, [&] { ++fired; });
    timer.start(60 * 24h);
    loop.step();  // its limit is sixty days, and the pipe ends the wait
    loop.turn_after(60 * 24h - 1ns);
    CHECK(fired == 0);
    loop.turn_after(1ns);
    CHECK(fired == 1);
}

TEST_CASE("a wait of more milliseconds than an int holds does not end early", "[timer]") {
    FakeLoop loop;
    bool called = false;
    ev::Signal alarm(loop, SIGALRM, [&] { called = true; });
    Timer timer(loop, [] {});
    timer.start(std::chrono::milliseconds(1LL << 32));
    const itimerval soon{{}, {0, 10'000}};
    ::setitimer(ITIMER_REAL, &soon, nullptr);
    int turns = 0;
    do {
        loop.step();
        ++turns;
    } while (!called);
    CHECK(turns <= 2);  // the signal ends one, the other calls back
}

TEST_CASE("the longest durations neither overflow nor fire", "[timer]") {
    FakeLoop loop;
    int fired = 0;
    Timer timer(loop, [&] { ++fired; });
    for (const auto longest : {ev::Duration::max(), ev::Duration::max() - 1ns}) {
        timer.start(longest);
        CHECK(timer.deadline() == ev::Time::max());
        loop.turn_after(24h);
    }
    CHECK(fired == 0);
}

TEST_CASE("a negative duration or a deadline long past is due at once", "[timer]") {
    FakeLoop loop;
    int fired = 0;
    Timer timer(loop, [&] { ++fired; });
    timer.start(-1h);
    loop.step();
    CHECK(fired == 1);
    timer.start(ev::Duration::min());
    loop.step();
    CHECK(fired == 2);
    timer.start_at(ev::Time::min());
    loop.step();
    CHECK(fired == 3);
}

TEST_CASE("timers with equal deadlines fire in the order of starting", "[timer]") {
    FakeLoop loop;
    std::vector<int> fired;
    std::vector<Timer> timers;
    for (int i = 0; i < 8; ++i) timers.emplace_back(loop, [&fired, i] { fired.push_back(i); });
    for (Timer& timer : timers) timer.start(7ms);
    loop.turn_after(7ms);
    CHECK(fired == std::vector{0, 1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("a periodic timer keeps its phase", "[timer]") {
    FakeLoop loop;
    int fired = 0;
    Timer timer(loop, [&] {
        ++fired;
        timer.start_at(timer.deadline() + 2ms);
    });
    timer.start(2ms);
    const auto first = timer.deadline();
    for (int i = 0; i < 1000; ++i) loop.turn_after(2ms + 1us * (i % 3 - 1));
    CHECK(timer.deadline() == first + fired * 2ms);
    CHECK(fired >= 999);
}

TEST_CASE("time between two steps counts for timers", "[timer]") {
    FakeLoop loop;
    bool fired = false;
    Timer timer(loop, [&] { fired = true; });
    timer.start(1200ms);
    int steps = 0;
    while (!fired) {
        loop.turn_after(100ms);
        ++steps;
    }
    CHECK(steps == 12);
}

TEST_CASE("a zero timer that restarts itself does not starve descriptors", "[timer]") {
    FakeLoop loop;
    auto pipe = make_pipe();
    int fired = 0, calls = 0;
    Timer timer(loop, [&] {
        ++fired;
        timer.start(0ms);
        pipe.put();
    });
    ev::Watch watch(loop, pipe.out, ev::readable, [&](ev::Events) { ++calls; });
    timer.start(0ms);
    for (int i = 0; i < 10; ++i) loop.turn();
    CHECK(fired == 10);
    CHECK(calls == 9);
}

TEST_CASE("a timer started by a descriptor's callback waits for the next turn", "[timer]") {
    FakeLoop loop;
    auto pipe = make_pipe();
    pipe.put();
    int fired = 0;
    Timer timer(loop, [&] { ++fired; });
    ev::Watch watch(loop, pipe.out, ev::readable, [&](ev::Events) {
        pipe.take();
        timer.start(0ms);
    });
    loop.turn();
    CHECK(fired == 0);
    loop.turn();
    CHECK(fired == 1);
}

TEST_CASE("a timer knows whether it is pending", "[timer]") {
    FakeLoop loop;
    bool within = true;
    Timer timer(loop, [&] { within = timer.pending(); });
    CHECK_FALSE(timer.pending());
    timer.start(1ms);
    CHECK(timer.pending());
    timer.cancel();
    timer.cancel();
    CHECK_FALSE(timer.pending());
    timer.start(1ms);
    loop.turn_after(1ms);
    CHECK_FALSE(within);
    CHECK_FALSE(timer.pending());
}

TEST_CASE("a timer cancels, restarts or destroys another that is due in the same turn",
          "[timer]") {
    FakeLoop loop;
    int fired = 0;
    Timer cancelled(loop, [&] { ++fired; });
    Timer restarted(loop, [&] { ++fired; });
    std::optional<Timer> ended(std::in_place, loop, [&] { ++fired; });
    Timer first(loop, [&] {
        cancelled.cancel();
        restarted.start(1ms);
        ended.reset();
    });
    first.start(1ms);
    cancelled.start(2ms);
    restarted.start(2ms);
    ended->start(2ms);
    loop.turn_after(5ms);
    CHECK(fired == 0);
    loop.turn_after(1ms);
    CHECK(fired == 1);
}

TEST_CASE("a timer may be destroyed in its own callback, which keeps what it owns", "[timer]") {
    FakeLoop loop;
    auto owned = std::make_shared<int>(1);
    std::weak_ptr<int> watched = owned;
    std::optional<Timer> timer;
    timer.emplace(loop, [&timer, held = std::move(owned)] {
        timer.reset();
        CHECK(*held == 1);
    });
    timer->start(0ms);
    loop.turn();
    CHECK(watched.expired());
}

TEST_CASE("a pending timer may be moved and assigned over", "[timer]") {
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

TEST_CASE("timers made, restarted and destroyed at random inside callbacks fire in time",
          "[timer]") {
    FakeLoop loop;
    std::mt19937 random(2026);
    std::vector<Timer> timers(50);
    std::vector<ev::Time> expected(timers.size(), ev::Time::max());
    int fired = 0;
    const std::function<void()> operate = [&] {
        const std::size_t i = random() % timers.size();
        if (random() % 8 == 0 || !timers[i]) {
            timers[i] = Timer(loop, [&, i] {
                ++fired;
                const bool in_time = expected[i] <= loop.time;
                if (!in_time) CHECK(in_time);
                expected[i] = ev::Time::max();
                for (auto left = random() % 3; left > 0; --left) operate();
            });
            expected[i] = ev::Time::max();
        }
        timers[i].start((random() % 40) * 1us);
        expected[i] = timers[i].deadline();
    };
    for (int turns = 0; turns < 5'000; ++turns) {
        operate();
        loop.turn_after((random() % 10) * 1us);
    }
    CHECK(fired > 1000);
    for (std::size_t i = 0; i < timers.size(); ++i)
        CHECK((timers[i] && timers[i].pending()) == (expected[i] != ev::Time::max()));
}

TEST_CASE("a turn with a pending timer reads the clock once", "[timer]") {
    TickingLoop loop;
    loop.log->looks_find_nothing = GENERATE(false, true);
    auto pipe = make_pipe();
    pipe.put();
    ev::Watch watch(loop, pipe.out, ev::readable, [](ev::Events) {});
    Timer timer(loop, [] {});
    timer.start(1h);
    loop.clock_reads = 0;
    for (int turns = 0; turns < 100; ++turns) loop.step();
    CHECK(loop.clock_reads == 100);
}

TEST_CASE("a timer that comes due in a sleep ended by few descriptors waits one turn",
          "[timer]") {
    const std::size_t ready = GENERATE(1U, 20U);
    TickingLoop loop;
    loop.log->before = [&](ev::Duration longest) {
        if (longest > 0ns) loop.time += 1s;
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

TEST_CASE("a timer is due in the turn in which a callback has read the time", "[timer]") {
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

TEST_CASE("rounding causes no needless turns", "[timer]") {
    WaitRecorder::Log log;
    ev::Loop loop(ev::Clock::now, std::make_unique<WaitRecorder>(log));
    int fired = 0;
    Timer timer(loop, [&] { ++fired; });
    timer.start(GENERATE(0ns, 1ns, 999ns, 999'999ns, 1'000'001ns, 19'999'999ns, 20'000'001ns,
                         21'300'000ns));
    loop.run();
    CHECK(fired == 1);
    CHECK(log.longest.size() <= 2);  // for the milliseconds and the rest
}

TEST_CASE("a period shorter than the clock's resolution is served once a turn", "[timer]") {
    FakeLoop loop;
    auto pipe = make_pipe();
    pipe.put();
    int fired = 0, calls = 0;
    ev::Watch watch(loop, pipe.out, ev::readable, [&](ev::Events) { ++calls; });
    Timer timer(loop, [&] {
        ++fired;
        timer.start_at(timer.deadline() + 1ns);
    });
    timer.start(1ns);
    for (int turns = 0; turns < 100; ++turns) loop.turn_after(1ms);
    CHECK(fired == 100);
    CHECK(calls == 100);
}
