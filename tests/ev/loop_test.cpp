#include "tests/ev/fixture.hpp"
#include "tests/support/catch.hpp"

#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <stdexcept>
#include <string>

using namespace std::chrono_literals;

TEST_CASE("run() returns when there is nothing to wait for", "[loop]") {
    ev::Loop loop;
    loop.run();
    CHECK_FALSE(loop.step());
}

TEST_CASE("run() continues until the timers have fired", "[loop]") {
    ev::Loop loop;
    int fired = 0;
    ev::Timer timer(loop, [&] {
        if (++fired < 3) timer.start(0ms);
    });
    timer.start(0ms);
    loop.run();
    CHECK(fired == 3);
}

TEST_CASE("a loop runs again after it was stopped", "[loop]") {
    FakeLoop loop;
    int fired = 0;
    ev::Timer timer(loop, [&] {
        ++fired;
        timer.start(0ms);
        loop.stop();
    });
    timer.start(0ms);
    loop.run();
    CHECK(fired == 1);
    loop.run();
    CHECK(fired == 2);
}

TEST_CASE("a stop before run() ends only that run", "[loop]") {
    FakeLoop loop;
    int fired = 0;
    ev::Timer timer(loop, [&] { ++fired; });
    timer.start(0ms);
    loop.stop();
    loop.run();
    CHECK(fired == 0);
    CHECK(loop.turn());
    CHECK(fired == 1);
}

TEST_CASE("a turn with a stop still makes all its other callbacks", "[loop]") {
    const char stops = GENERATE('s', 'd', 't');
    FakeLoop loop;
    std::string calls;
    const auto note = [&](char call) {
        calls += call;
        if (call == stops) loop.stop();
    };
    auto one = make_pipe(), other = make_pipe();
    one.put();
    other.put();
    ev::Signal signal(loop, SIGUSR1, [&] { note('s'); });
    ev::Watch watches[] = {{loop, one.out, ev::readable, [&](ev::Events) { note('d'); }},
                           {loop, other.out, ev::readable, [&](ev::Events) { note('d'); }}};
    ev::Timer timers[] = {{loop, [&] { note('t'); }}, {loop, [&] { note('t'); }}};
    for (ev::Timer& timer : timers) timer.start(0ms);
    std::raise(SIGUSR1);
    loop.run();
    std::sort(calls.begin(), calls.end());
    CHECK(calls == "ddstt");
}

TEST_CASE("a stop between turns makes no callback and is consumed", "[loop]") {
    FakeLoop loop;
    auto pipe = make_pipe();
    pipe.put();
    int calls = 0;
    ev::Signal signal(loop, SIGUSR1, [&] { ++calls; });
    ev::Watch watch(loop, pipe.out, ev::readable, [&](ev::Events) { ++calls; });
    ev::Timer timer(loop, [&] { ++calls; });
    timer.start(0ms);
    std::raise(SIGUSR1);
    loop.stop();
    loop.stop();
    CHECK_FALSE(loop.turn());
    CHECK(calls == 0);
    CHECK(loop.turn());
    CHECK(calls == 3);
}

TEST_CASE("a stop outlives the exception that ends its turn", "[loop]") {
    FakeLoop loop;
    int calls = 0;
    ev::Timer stops(loop, [&] { loop.stop(); });
    ev::Timer throws(loop, [] { throw std::runtime_error("after the stop"); });
    ev::Timer last(loop, [&] { ++calls; });
    for (ev::Timer* const timer : {&stops, &throws, &last}) timer->start(0ms);
    CHECK_THROWS_AS(loop.turn(), std::runtime_error);
    CHECK_FALSE(loop.turn());
    CHECK(calls == 0);
    CHECK(loop.turn());
    CHECK(calls == 1);
}

TEST_CASE("two loops live in one process", "[loop]") {
    FakeLoop first, second;
    int fired_first = 0, fired_second = 0;
    ev::Timer one(first, [&] { ++fired_first; });
    ev::Timer two(second, [&] { ++fired_second; });
    one.start(1ms);
    two.start(1ms);
    first.turn_after(1ms);
    CHECK(fired_first == 1);
    CHECK(fired_second == 0);
    second.turn();
    CHECK(fired_second == 1);
}

TEST_CASE("a callback may run another loop", "[loop]") {
    ev::Loop outer, inner;
    int fired = 0;
    ev::Timer deep(inner, [&] { ++fired; });
    ev::Timer timer(outer, [&] {
        deep.start(0ms);
        inner.run();
    });
    timer.start(0ms);
    outer.run();
    CHECK(fired == 1);
}

TEST_CASE("reads the time once a turn", "[loop]") {
    FakeLoop loop;
    ev::Time times[2];
    ev::Timer timer(loop, [&] {
        times[0] = loop.now();
        loop.time += 1h;
        times[1] = loop.now();
    });
    timer.start(0ms);
    loop.turn();
    CHECK(times[0] == times[1]);
    CHECK(loop.now() == loop.time);
}

TEST_CASE("a step waits no longer than its limit", "[loop]") {
    ev::Loop loop;
    auto pipe = make_pipe();
    ev::Watch watch(loop, pipe.out, ev::readable, [](ev::Events) {});
    const auto start = ev::Clock::now();
    CHECK(loop.step(2ms));
    CHECK(ev::Clock::now() - start >= 2ms);
}

TEST_CASE("an exception leaves the rest of the turn to the next turn", "[loop]") {
    FakeLoop loop;
    auto one = make_pipe(), other = make_pipe();
    one.put();
    other.put();
    int calls = 0, fired = 0;
    const auto fail_first = [&](Channel& pipe) {
        pipe.take();
        if (++calls == 1) throw std::runtime_error("first");
    };
    ev::Watch first(loop, one.out, ev::readable, [&](ev::Events) { fail_first(one); });
    ev::Watch second(loop, other.out, ev::readable, [&](ev::Events) { fail_first(other); });
    ev::Timer timer(loop, [&] { ++fired; });
    timer.start(0ms);
    CHECK_THROWS_AS(loop.turn(), std::runtime_error);
    CHECK(fired == 0);
    loop.turn();
    CHECK(calls == 2);
    CHECK(fired == 1);
}

TEST_CASE("objects of all kinds can be destroyed in each other's callbacks", "[loop]") {
    FakeLoop loop;
    auto pipe = make_pipe();
    pipe.put();
    ev::Timer timer;
    ev::Signal signal;
    ev::Watch watch;
    int called = 0;
    const auto end_all = [&] {
        ++called;
        timer = {};
        signal = {};
        watch = {};
    };
    timer = ev::Timer(loop, end_all);
    timer.start(0ms);
    watch = ev::Watch(loop, pipe.out, ev::readable, [&](ev::Events) { end_all(); });
    signal = ev::Signal(loop, SIGUSR1, end_all);
    if (GENERATE(true, false)) std::raise(SIGUSR1);
    loop.turn();
    CHECK(called == 1);
    CHECK_FALSE(loop.turn());
}

TEST_CASE("an object owned by its own callback is destroyed with it", "[loop]") {
    FakeLoop loop;
    struct Connection {
        ev::Timer timer;
        ev::Watch watch;
    };
    auto pipe = make_pipe();
    pipe.put();
    auto connection = std::make_shared<Connection>();
    connection->timer = ev::Timer(loop, [] {});
    connection->timer.start(1h);
    connection->watch = ev::Watch(loop, pipe.out, ev::readable, [connection](ev::Events) {
        connection->watch = {};  // now only the callback owns the connection
    });
    connection.reset();
    loop.turn();
    CHECK_FALSE(loop.turn());
}

TEST_CASE("a member of an empty object is a bug") {
    const auto aborts = [](auto call) {
        const pid_t child = ::fork();
        if (child == 0) {
            std::signal(SIGABRT, SIG_DFL);
            ::close(STDERR_FILENO);
            call();
            ::_exit(0);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
    };
    CHECK(aborts([] { ev::Watch().want(ev::readable); }));
    CHECK(aborts([] { [[maybe_unused]] const auto unused = ev::Watch().wanted(); }));
    CHECK(aborts([] { ev::Timer().start(1s); }));
    CHECK(aborts([] { ev::Timer().start_at({}); }));
    CHECK(aborts([] { ev::Timer().cancel(); }));
    CHECK(aborts([] { [[maybe_unused]] const auto unused = ev::Timer().pending(); }));
    CHECK(aborts([] { [[maybe_unused]] const auto unused = ev::Timer().deadline(); }));
}
