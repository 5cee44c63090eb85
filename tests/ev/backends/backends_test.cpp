#include "ev/backends/backends.hpp"

#include "ev/loop.hpp"
#include "ev/system.hpp"
#include "tests/ev/fixture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/redirected.hpp"

#include <sys/select.h>
#include <unistd.h>

#include <regex>
#include <stdexcept>
#include <system_error>

#if EV_HAS_EPOLL_PWAIT2
#    include <sys/epoll.h>
#endif

using namespace std::chrono_literals;

TEST_CASE("the error for an unknown backend names it") {
    CHECK_THROWS_WITH(
        ev::make_backend("carrier pigeon"),
        Catch::Matchers::StartsWith("EV_BACKEND: unknown backend carrier pigeon"));
}

TEST_CASE("is_ready_now() reports if a pipe accepts bytes, without a loop") {
    auto pipe = make_pipe();
    CHECK(ev::is_ready_now(pipe.in, ev::writable));
    CHECK_FALSE(ev::is_ready_now(pipe.out, ev::readable));
    pipe.fill();
    CHECK_FALSE(ev::is_ready_now(pipe.in, ev::writable));
    CHECK(ev::is_ready_now(pipe.out, ev::readable));
    pipe.out.close();
    CHECK(ev::is_ready_now(pipe.in, ev::writable));  // reports an error
}

TEST_CASE("select refuses a descriptor beyond FD_SETSIZE") {
    const DescriptorLimit limit(FD_SETSIZE + 16);
    auto pipe = make_pipe();
    const Fd high(::fcntl(pipe.out, F_DUPFD, FD_SETSIZE));
    if (high < 0) return;  // the system allows no more
    ev::Loop loop(ev::Clock::now, ev::make_backend("select"));
    CHECK_THROWS_AS(ev::Watch(loop, high, ev::readable, [](ev::Events) {}), std::system_error);
    const Fd last(::fcntl(pipe.out, F_DUPFD, FD_SETSIZE - 1));
    pipe.put();
    int calls = 0;
    ev::Watch watch(loop, last, ev::readable, [&](ev::Events) { ++calls; });
    loop.step(0s);
    CHECK(calls == 1);
}

TEST_CASE(
    "looks before it sleeps after a turn with events, more rarely if that finds nothing") {
    // Follows a script of waits: p is a look that finds nothing, P a look that finds an event,
    // s a sleep that finds an event, - a sleep that finds nothing.
    struct Inner final : ev::Backend {
        Inner(std::string& done, const std::string& coming) : waits(done), script(coming) {}
        void wait(ev::Duration max_wait, std::vector<ev::Readiness>& ready) override {
            const char next = script[waits.size()];
            CHECK((max_wait > 0ns) == (next == 's' || next == '-'));
            waits += next;
            if (next == 's' || next == 'P') ready.push_back({&registration, ev::readable});
        }
        std::string& waits;
        const std::string& script;
        ev::Registration registration;
    };
    const std::string script = "s"
                               "ps"
                               "sps"
                               "sssps"
                               "sssssssps" +
                               std::string(15, 's') + "ps" + std::string(15, 's') +
                               "PPp-"
                               "ssps"
                               "sssP";
    std::string waits;
    const auto backend = ev::make_look_backend(std::make_unique<Inner>(waits, script));
    while (waits.size() < script.size()) {
        std::vector<ev::Readiness> ready;
        backend->wait(1ms, ready);
    }
}

TEST_CASE("EV_TRACE writes each turn to standard error, unless it is empty") {
    const std::string value = GENERATE("1", "");
    auto pair = make_socketpair();
    const test::Redirected output(STDERR_FILENO);
    ::setenv("EV_TRACE", value.c_str(), 1);
    ev::Loop loop;
    ::unsetenv("EV_TRACE");
    ev::Watch watch(loop, pair.out, ev::readable | ev::writable, [](ev::Events) {});
    loop.step();
    watch.want(ev::readable);
    loop.step(0ms);
    pair.put();
    loop.step();
    const auto fd = std::to_string(int{pair.out});
    const std::string waited = " waited [0-9]+\\.[0-9]{3} ms, ready:";
    const std::string turns = "ev: turn 1" + waited + " " + fd + "w\nev: turn 2" + waited +
                              "\nev: turn 3" + waited + " " + fd + "r\n";
    CHECK(std::regex_match(output.text(), std::regex(value.empty() ? "" : turns)));
}

#if EV_HAS_EPOLL_PWAIT2
static bool kernel_is_old = false;
static int refused_calls = 0;

extern "C" {
int __real_epoll_pwait2(int epoll, epoll_event* events, int limit, const timespec* timeout,
                        const sigset_t* mask);
int __wrap_epoll_pwait2(int epoll, epoll_event* events, int limit, const timespec* timeout,
                        const sigset_t* mask) {
    if (!kernel_is_old) return __real_epoll_pwait2(epoll, events, limit, timeout, mask);
    ++refused_calls;
    errno = ENOSYS;
    return -1;
}
}

TEST_CASE("epoll waits in milliseconds if the kernel lacks epoll_pwait2") {
    kernel_is_old = true;
    ev::Loop loop(ev::Clock::now, ev::make_backend("epoll"));
    ev::Time fired{};
    ev::Timer timer(loop, [&] { fired = ev::Clock::now(); });
    int turns = 0;
    for (int tries = 0; tries < 5; ++tries) {
        fired = {};
        timer.start(1200us);
        for (; fired == ev::Time{}; ++turns) loop.step();
        CHECK(fired >= timer.deadline());
    }
    CHECK(turns == 5);
    CHECK(refused_calls == 1);
    kernel_is_old = false;
}
#endif
