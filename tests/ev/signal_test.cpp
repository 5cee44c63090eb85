#include "ev/fd.hpp"
#include "tests/ev/fixture.hpp"
#include "tests/support/catch.hpp"

#include <sys/wait.h>

#include <system_error>

using namespace std::chrono_literals;
using ev::Signal;

namespace {

auto disposition(int signo) {
    struct sigaction now {};
    ::sigaction(signo, nullptr, &now);
    return now.sa_handler;
}

}  // namespace

TEST_CASE("a turn calls back for each signal of its own loop that has arrived") {
    FakeLoop loop, other;
    std::string calls;
    const Signal one(loop, SIGUSR1, [&] { calls += '1'; });
    const Signal two(loop, SIGUSR2, [&] { calls += '2'; });
    const Signal third(other, SIGTERM, [&] { calls += '3'; });
    for (const int signo : {SIGUSR2, SIGUSR1, SIGTERM}) std::raise(signo);
    loop.turn();
    std::sort(calls.begin(), calls.end());
    CHECK(calls == "12");
    std::raise(SIGUSR2);
    for (int turns = 0; turns < 2; ++turns) loop.turn();
    CHECK(calls == "122");
    other.turn();
    CHECK(calls == "1223");
}

TEST_CASE("interrupted system calls are restarted") {
    ev::Loop loop;
    Signal signal(loop, SIGUSR1, [] {});
    struct sigaction now {};
    ::sigaction(SIGUSR1, nullptr, &now);
    CHECK((now.sa_flags & SA_RESTART) != 0);
}

TEST_CASE("a flood of one signal does not lose another") {
    FakeLoop loop;
    int usr1 = 0, term = 0;
    Signal flood(loop, SIGUSR1, [&] { ++usr1; });
    Signal end(loop, SIGTERM, [&] { ++term; });
    errno = 0;
    for (int i = 0; i < 70'000; ++i) std::raise(SIGUSR1);  // a pipe holds fewer bytes
    std::raise(SIGTERM);
    CHECK(errno == 0);
    loop.step();
    loop.step();
    CHECK(term == 1);
    CHECK(usr1 == 1);
    loop.turn();
    CHECK(term + usr1 == 2);
}

TEST_CASE("a signal ends a wait without limit") {
    for (const std::string& backend : backends()) {
        INFO(backend);
        ev::Loop loop(ev::Clock::now, ev::make_backend(backend));
        const pid_t parent = ::getpid();
        bool called = false;
        Signal signal(loop, SIGUSR1, [&] { called = true; });
        const pid_t child = ::fork();
        if (child == 0) {
            ::kill(parent, SIGUSR1);
            ::_exit(0);
        }
        while (!called) loop.step();
        ::waitpid(child, nullptr, 0);
    }
}

TEST_CASE("a signal that arrives during the wait is served before descriptors") {
    struct RaisesAfterPolling final : ev::Backend {
        void wait(ev::Duration max_wait, std::vector<ev::Readiness>& ready) override {
            Backend::wait(max_wait, ready);
            std::raise(SIGUSR1);  // after the system has collected the ready descriptors
        }
    };
    ev::Loop loop(ev::Clock::now, std::make_unique<RaisesAfterPolling>());
    const ev::Pipe pipe;
    pipe.wake();
    std::string order;
    const ev::Watch watch(loop, pipe.fd(), ev::readable, [&](ev::Events) { order += 'w'; });
    const Signal signal(loop, SIGUSR1, [&] { order += 's'; });
    loop.step();
    CHECK(order == "sw");
}

TEST_CASE("a process can have only one signal object for each number") {
    FakeLoop loop, other;
    FakeLoop& second_loop = GENERATE(true, false) ? loop : other;
    int calls = 0, second_calls = 0;
    Signal signal(loop, SIGUSR1, [&] { ++calls; });
    try {
        const Signal second(second_loop, SIGUSR1, [&] { ++second_calls; });
        FAIL("a second one was made");
    } catch (const std::system_error& refused) {
        CHECK(refused.code() == std::errc::device_or_resource_busy);
    }
    std::raise(SIGUSR1);
    loop.step();
    CHECK(calls == 1);
    signal = {};
    const Signal second(second_loop, SIGUSR1, [&] { ++second_calls; });
    std::raise(SIGUSR1);
    second_loop.step();
    CHECK(calls == 1);
    CHECK(second_calls == 1);
}

TEST_CASE("destroying a signal object restores the disposition immediately") {
    const auto before = std::signal(SIGUSR1, SIG_IGN);
    FakeLoop loop;
    std::optional<Signal> signal;
    bool restored = false;
    signal.emplace(loop, SIGUSR1, [&] {
        signal.reset();
        restored = disposition(SIGUSR1) == SIG_IGN;
    });
    CHECK(disposition(SIGUSR1) != SIG_IGN);
    std::raise(SIGUSR1);
    CHECK(loop.step());
    CHECK(restored);
    CHECK_FALSE(loop.step());
    std::signal(SIGUSR1, before);
}

TEST_CASE("a signal object owned by another's callback is destroyed with it") {
    FakeLoop loop;
    Signal ends(loop, SIGTERM, [] {});  // makes the loop's pipe
    const auto before = open_descriptors();
    auto owned = std::make_shared<Signal>(loop, SIGUSR2, [] {});
    std::optional<Signal> owner(std::in_place, loop, SIGUSR1, [held = std::move(owned)] {});
    const bool in_turn = GENERATE(false, true);
    ends = {};
    ends = Signal(loop, SIGTERM, [&] { owner.reset(); });
    if (in_turn) {
        std::raise(SIGTERM);
        loop.turn();
    } else {
        owner.reset();
    }
    CHECK(disposition(SIGUSR2) == SIG_DFL);
    ends = {};
    CHECK_FALSE(loop.turn());
    CHECK(open_descriptors() == before);
}

TEST_CASE("a signal number that another loop used before reaches its new loop") {
    FakeLoop first_loop, second_loop;
    int first = 0, second = 0;
    Signal stays(first_loop, SIGUSR2, [&] { ++first; });
    Signal moved(first_loop, SIGUSR1, [&] { ++first; });
    std::raise(SIGUSR1);  // wakes the first loop
    moved = {};
    moved = Signal(second_loop, SIGUSR1, [&] { ++second; });
    first_loop.turn();
    second_loop.turn();
    CHECK(first + second == 0);
    std::raise(SIGUSR1);
    first_loop.turn();
    second_loop.turn();
    CHECK(first == 0);
    CHECK(second == 1);
}

TEST_CASE("a forked child has signals of its own") {
    enum Result { right, kept, refused, not_called };
    FakeLoop loop;
    int calls = 0;
    const Signal signal(loop, SIGUSR1, [&] { ++calls; });
    const Signal other(loop, SIGUSR2, [&] { ++calls; });
    const auto child = [] {
        if (disposition(SIGUSR1) != SIG_DFL || disposition(SIGUSR2) != SIG_DFL) return kept;
        FakeLoop own;
        bool called = false;
        try {
            const Signal again(own, SIGUSR1, [&] { called = true; });
            std::raise(SIGUSR1);
            own.turn();
            return called ? right : not_called;
        } catch (const std::system_error&) {
            return refused;
        }
    };
    const pid_t pid = ::fork();
    if (pid == 0) ::_exit(child());
    int status = -1;
    ::waitpid(pid, &status, 0);
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == right));
    loop.turn();
    CHECK(calls == 0);
    std::raise(SIGUSR1);
    loop.turn();
    CHECK(calls == 1);
}

TEST_CASE("both ends of a pipe are non-blocking, closed on exec and closed with it") {
    const auto before = open_descriptors();
    {
        const ev::Pipe pipe;
        const auto after = open_descriptors();
        std::vector<int> ends;
        std::set_difference(after.begin(), after.end(), before.begin(), before.end(),
                            std::back_inserter(ends));
        CHECK(ends.size() == 2);
        for (const int end : ends) {
            CHECK((::fcntl(end, F_GETFD) & FD_CLOEXEC));
            CHECK((::fcntl(end, F_GETFL) & O_NONBLOCK));
        }
    }
    CHECK(open_descriptors() == before);
}

TEST_CASE("a signal that could not be set up works at the next attempt") {
    FakeLoop loop;
    std::optional<DescriptorLimit> limit(0);
    int calls = 0;
    const auto make = [&] { return Signal(loop, SIGHUP, [&] { ++calls; }); };
    CHECK_THROWS_AS(make(), std::system_error);
    limit.reset();
    const Signal signal = make();
    std::raise(SIGHUP);
    loop.step();
    CHECK(calls == 1);
}

TEST_CASE("reports that the system no longer watches signals") {
    ev::Loop loop(ev::Clock::now, std::make_unique<BrokenBackend>());
    const Signal signal(loop, SIGUSR1, [] {});
    CHECK_THROWS_AS(loop.step(0ms), std::system_error);
}

TEST_CASE("refuses an invalid signal number and a signal that can't be caught") {
    FakeLoop loop;
    for (const int signo : {-1, 0, SIGKILL, 65, 100'000})
        CHECK_THROWS_AS(Signal(loop, signo, [] {}), std::system_error);
    CHECK_FALSE(loop.turn());
}
