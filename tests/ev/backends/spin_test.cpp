#include "ev/backends/backends.hpp"
#include "tests/ev/fixture.hpp"
#include "tests/support/catch.hpp"

#include <sys/time.h>

using namespace std::chrono_literals;

namespace {

// A loop that polls before it sleeps, with recorded waits.
struct SpinningLoop : TickingLoop {
    SpinningLoop() : SpinningLoop(std::make_shared<WaitRecorder::Log>()) {}

private:
    explicit SpinningLoop(const std::shared_ptr<WaitRecorder::Log>& recorded)
        : TickingLoop(recorded,
                      ev::make_spin_backend(std::make_unique<WaitRecorder>(*recorded), tick)) {}
};

bool never_sleeps(const TickingLoop& loop) {
    return std::all_of(loop.waits().begin(), loop.waits().end(),
                       [](ev::Duration max_wait) { return max_wait <= 0ns; });
}

}  // namespace

TEST_CASE("a busy loop polls for a ready descriptor without sleeping") {
    SpinningLoop loop;
    loop.set_busy(true);
    auto pipe = make_pipe();
    pipe.put();
    int calls = 0;
    ev::Watch watch(loop, pipe.out, ev::readable, [&](ev::Events) { calls += pipe.take(); });
    CHECK(loop.step());
    CHECK(calls == 1);
    CHECK(loop.step(100us));  // nothing is ready now
    CHECK(calls == 1);
    CHECK(loop.waits().size() > 50);
    CHECK(never_sleeps(loop));
}

TEST_CASE("a busy loop serves its timers in time, and ends when none is left") {
    SpinningLoop loop;
    loop.set_busy(true);
    ev::Time fired{};
    int turns = 0;
    ev::Timer timer(loop, [&] { fired = loop.time; });
    timer.start(1ms);
    while (loop.step()) ++turns;
    CHECK(turns == 1);
    CHECK(fired >= timer.deadline());
    CHECK(fired <= timer.deadline() + 2us);
    CHECK(loop.waits().size() > 500);
    CHECK(never_sleeps(loop));
}

TEST_CASE("a busy loop serves a signal when nothing else is pending") {
    SpinningLoop loop;
    loop.set_busy(true);
    int calls = 0;
    ev::Signal signal(loop, SIGALRM, [&] { ++calls; });
    const itimerval soon{{}, {0, 2'000}};
    ::setitimer(ITIMER_REAL, &soon, nullptr);
    loop.step();
    CHECK(calls == 1);
    std::raise(SIGALRM);
    loop.step();
    CHECK(calls == 2);
    CHECK(never_sleeps(loop));
}

TEST_CASE("a busy loop with only a sleeping watch continues to the limit of the step") {
    SpinningLoop loop;
    loop.set_busy(true);
    auto pipe = make_pipe();
    pipe.put();
    ev::Watch watch(loop, pipe.out, ev::none, [](ev::Events) {});
    const ev::Time start = loop.time;
    CHECK(loop.step(100us));
    CHECK(loop.time >= start + 100us);
    CHECK(never_sleeps(loop));
    watch = {};
    CHECK_FALSE(loop.step());
}

TEST_CASE("a loop that is no longer busy sleeps again") {
    SpinningLoop loop;
    ev::Timer timer(loop, [&] { loop.set_busy(false); });
    loop.set_busy(true);
    timer.start(3us);
    loop.step();
    CHECK(never_sleeps(loop));
    timer.start(3us);
    loop.step();
    CHECK(loop.waits().back() > 0ns);
}

TEST_CASE("polls before it sleeps after a busy turn, more rarely while that finds nothing") {
    // Follows a script of waits: p is a poll that finds nothing, P a poll that finds an event,
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
    const auto backend =
        ev::make_spin_backend(std::make_unique<Inner>(waits, script), ev::Clock::now);
    while (waits.size() < script.size()) {
        std::vector<ev::Readiness> ready;
        backend->wait(1ms, ready);
    }
}
