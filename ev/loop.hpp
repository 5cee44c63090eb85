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
// signals.
#pragma once

#include "ev/timer_queue.hpp"
#include "ev/wait.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace ev {

class Loop;
class SignalPort;

namespace detail {
struct Entry;
struct WatchEntry;
struct TimerEntry;
struct SignalEntry;
struct Release {
    void operator()(Entry* entry) const;
};
}  // namespace detail

class Loop {
public:
    using ReadClock = Time (*)();

    explicit Loop(ReadClock clock = Clock::now);
    ~Loop();
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;

    // Turns until stop() is called or nothing is left to wait for. May be called again.
    void run();
    // One turn, which waits for at most `longest`. False once stop() was called, in this turn
    // or before it, or when there was nothing to wait for; the call for a stop is then used up.
    bool step(Duration longest = Duration::max());
    void stop() { stopping_ = true; }

    // The monotonic time. Within a turn it is read once, at the first need after the wait.
    Time now() const;
    Time after(Duration delay) const;  // now() + delay, a negative delay being none

private:
    friend class Watch;
    friend class Timer;
    friend class Signal;
    friend struct detail::Release;
    friend struct detail::Entry;
    friend struct detail::WatchEntry;
    friend struct detail::TimerEntry;
    friend struct detail::SignalEntry;

    bool idle() const;
    void wait(Duration longest);
    bool look();
    void deliver_signals();
    void deliver_descriptors();
    void deliver(const Ready& ready);
    void fire_timers();
    void end_turn();
    void forget_ended_signals();

    ReadClock clock_;
    std::unique_ptr<Waiter> waiter_;
    TimerQueue timers_;
    std::vector<detail::TimerEntry*> timer_entries_;  // by id
    std::unique_ptr<SignalPort> port_;                // made with the first Signal
    Watched wake_{-1};                                // its pipe
    std::vector<detail::SignalEntry*> signals_;       // null: ended during this turn
    std::vector<Ready> ready_;
    std::vector<std::unique_ptr<detail::Entry>> ended_;  // kept until no callback can run
    std::size_t objects_ = 0;                            // of all three kinds, these included
    std::size_t watches_ = 0;                            // that stand, asleep or not
    mutable Time now_{};
    mutable bool now_known_ = false;  // now_ is this turn's
    bool in_turn_ = false;
    bool stopping_ = false;
    bool busy_ = false;         // the last turn had something ready
    unsigned look_stride_ = 0;  // busy turns to pass between two looks
    unsigned look_skip_ = 0;    // of these, still to pass
};

// What the three kinds of objects have in common: an empty one waits for nothing.
class Handle {
public:
    explicit operator bool() const { return entry_ != nullptr; }

protected:
    Handle() = default;
    explicit Handle(detail::Entry* entry) : entry_(entry) {}
    std::unique_ptr<detail::Entry, detail::Release> entry_;
};

// Tells when a descriptor can be read or written without blocking. It does not own the
// descriptor, which stays open for as long as it is watched, by one Watch.
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
    using Callback = std::function<void()>;

    Timer() = default;
    Timer(Loop& loop, Callback callback);

    void start(Duration delay);  // from Loop::now() on; restarts a pending one
    void start_at(Time deadline);
    void cancel();
    bool pending() const;
    Time deadline() const;  // as last started
};

// Calls back, in the loop, after the process got the signal; several may be told as one.
// Several Signals, in one loop or in several, may stand for the same number. The disposition
// that stood before the first of them comes back with the end of the last.
class Signal : public Handle {
public:
    using Callback = std::function<void()>;

    Signal() = default;
    Signal(Loop& loop, int signo, Callback callback);  // throws std::system_error
};

}  // namespace ev
