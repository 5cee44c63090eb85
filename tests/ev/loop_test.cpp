#include "tests/ev/fixture.hpp"
#include "tests/support/catch.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

using namespace std::chrono_literals;

TEST_CASE("run() continues until a stop, or until there is nothing to wait for") {
    FakeLoop loop;
    loop.run();
    int fired = 0;
    ev::Timer timer(loop, [&] {
        if (++fired < 5) timer.start(0ms);
        if (fired == 2) loop.stop();
    });
    timer.start(0ms);
    loop.run();
    CHECK(fired == 2);
    loop.run();
    CHECK(fired == 5);
    CHECK_FALSE(loop.step());
}

TEST_CASE("a turn with a stop still makes all its other callbacks") {
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

TEST_CASE("a stop between turns makes no callback and is consumed") {
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

TEST_CASE("a stop outlives the exception that ends its turn") {
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

TEST_CASE("reads the time once a turn") {
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

TEST_CASE("a step waits until the nearest deadline, or its limit") {
    TickingLoop loop;
    auto pipe = make_pipe();
    ev::Watch watch(loop, pipe.out, ev::readable, [](ev::Events) {});
    CHECK(loop.step(2ms));
    CHECK(loop.waits().back() == 2ms);
    ev::Timer timer(loop, [] {});
    timer.start(1h);
    CHECK(loop.step(2ms));
    CHECK(loop.waits().back() == 2ms);
    timer.start(1ms);
    CHECK(loop.step(1h));
    CHECK(loop.waits().back() == 1ms - 1us);  // the clock has moved since the start
}

TEST_CASE("an exception leaves the rest of the turn to the next turn") {
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

TEST_CASE("objects of all kinds can be destroyed in each other's callbacks") {
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

TEST_CASE("an object owned by its own callback is destroyed with it") {
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
    CHECK(aborts([] { return ev::Watch().wanted(); }));
    CHECK(aborts([] { ev::Timer().start(1s); }));
    CHECK(aborts([] { ev::Timer().start_at({}); }));
    CHECK(aborts([] { ev::Timer().cancel(); }));
    CHECK(aborts([] { return ev::Timer().pending(); }));
    CHECK(aborts([] { return ev::Timer().deadline(); }));
}
