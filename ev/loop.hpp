// An event loop for one thread: descriptors, signals and timers.
//
//     #include "ev/loop.hpp"
//     #include <unistd.h>
//     #include <csignal>
//     #include <cstdio>
//
//     int main() {
//         using namespace std::chrono_literals;
//         ev::Loop loop;
//         ev::Signal interrupt(loop, SIGINT, [&] { loop.stop(); });
//         ev::Timer idle(loop, [&] {
//             std::puts("nothing typed for 5 seconds");
//             loop.stop();
//         });
//         ev::Watch keyboard(loop, STDIN_FILENO, ev::readable, [&](ev::Events) {
//             char bytes[512];
//             const auto count = read(STDIN_FILENO, bytes, sizeof bytes);
//             if (count <= 0) return loop.stop();
//             std::printf("%d bytes\n", static_cast<int>(count));
//             idle.start(5s);
//         });
//         idle.start(5s);
//         loop.run();
//     }
//
// What waits for an event is an object: it owns its callback, can be moved, and ends the
// waiting when destroyed.  All of it, destroying the object whose callback is running included,
// is legal inside any callback; only running a turn inside a turn is not.  The loop outlives
// its objects.
//
// One turn: wait, never past the nearest deadline; signals; descriptors; timers that are due.
// What is started during a turn is served from the next one on, so a timer of zero length can't
// starve descriptors.  An exception from a callback passes through step() and run(); the rest
// of the turn is served by the next one.
//
// A loop and its objects belong to one thread.  Where there are other threads, they block
// signals.  A fork shares the loop's descriptors: the child leaves the loop alone.
#pragma once

#include "ev/timer_queue.hpp"
#include "ev/wait.hpp"

#include <functional>
#include <memory>
#include <string_view>

namespace ev {

namespace detail {
struct Core;   // what a loop is made of
struct Entry;  // what stands in it for an object
struct Release {
    void operator()(Entry* entry) const;
};
}  // namespace detail

class Loop {
public:
    using ReadClock = Time (*)();

    // The backend is the system's call that waits: "poll", "epoll" (Linux) or "select" (which
    // refuses descriptors from FD_SETSIZE on); by default what the environment's EV_BACKEND
    // names, or poll. Throws std::invalid_argument for any other name.
    explicit Loop(ReadClock clock = Clock::now, std::string_view backend = {});
    ~Loop();

    // Turns until stop() is called or nothing is left to wait for. May be called again.
    void run();
    // One turn, which waits for at most `longest`. False once stop() was called, in this turn
    // or before it, or when there was nothing to wait for; the call for a stop is then used up.
    bool step(Duration longest = Duration::max());
    void stop();

    // The monotonic time. Within a turn it is read once, at the first need after the wait.
    Time now() const;
    Time after(Duration delay) const;  // now() + delay, a negative delay being none

private:
    friend class Handle;
    std::unique_ptr<detail::Core> core_;
};

// What the three kinds of objects have in common: an empty one waits for nothing.
class Handle {
public:
    explicit operator bool() const { return entry_ != nullptr; }

protected:
    Handle() = default;
    Handle(Loop& loop, int fd, std::function<void(Events)> callback);
    template <class Call>
    Handle(Loop& loop, Call call)
        : Handle(loop, -1, [call = std::move(call)](Events) mutable { call(); }) {}

    std::unique_ptr<detail::Entry, detail::Release> entry_;
};

// Tells when a descriptor can be read or written without blocking. It does not own the
// descriptor, which stays open for as long as it is watched, by one Watch.  Where it is closed
// too early, poll and select tell an error; epoll falls silent until want() finds it out.
//
// An error or hang-up is told whatever was asked for, together with what was asked for, so that
// the callback's own read or write meets it.  Where the system says nothing else, it is told
// once: the watch then wants nothing until want() is called.
class Watch : public Handle {
public:
    using Callback = std::function<void(Events)>;

    Watch() = default;
    Watch(Loop& loop, int fd, Events interest, Callback callback);

    void want(Events interest);  // `none`: asleep, nothing is told
    Events wanted() const;
};

// Calls back once when its time has come: never early, and in the order of starting where
// deadlines are equal.  Periods without drift: timer.start_at(timer.deadline() + period).
class Timer : public Handle {
public:
    using Callback = std::function<void()>;  // or what it could hold

    Timer() = default;
    template <class Call>
    Timer(Loop& loop, Call callback) : Handle(loop, std::move(callback)) {
        enter();
    }

    void start(Duration delay);  // from Loop::now() on; restarts a pending one
    void start_at(Time deadline);
    void cancel();
    bool pending() const;
    Time deadline() const;  // as last started

private:
    void enter();
};

// Calls back, in the loop, after the process got the signal; several may be told as one.
// Several Signals, in one loop or in several, may stand for the same number. The disposition
// that stood before the first of them comes back with the end of the last.
class Signal : public Handle {
public:
    using Callback = std::function<void()>;  // or what it could hold

    Signal() = default;
    template <class Call>
    Signal(Loop& loop, int signo, Call callback) : Handle(loop, std::move(callback)) {
        enter(signo);
    }

private:
    void enter(int signo);  // throws std::system_error
};

}  // namespace ev
