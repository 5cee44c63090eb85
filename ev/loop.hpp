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
//         ev::Timer idle(loop, [&] { loop.stop(); });
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
// of the turn is served by the next one.  What throws for want of memory leaves all as it was,
// and to end an object takes none.
//
// A loop and its objects belong to one thread.  Where there are other threads, they block
// signals.  A fork shares the loop's descriptors: the child leaves the loop alone.
#pragma once

#include "ev/backend.hpp"
#include "ev/timer_queue.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace ev {

class Loop {
public:
    using ReadClock = Time (*)();

    // The backend is the system's call that waits: "poll", "epoll" (Linux) or "select" (which
    // refuses descriptors from FD_SETSIZE on); by default what the environment's EV_BACKEND
    // names, or else poll for few descriptors, and epoll from the first time that they are
    // many. Throws std::invalid_argument for any other name.
    explicit Loop(ReadClock clock = Clock::now, std::string_view backend = {});
    ~Loop();

    // Turns until stop() is called or nothing is left to wait for. May be called again.
    void run();
    // One turn, which waits for at most `longest`. False once stop() was called, in this turn
    // or before it, or when there was nothing to wait for; the call for a stop is then used up.
    bool step(Duration longest = Duration::max());
    // Ends run() and makes step() return false once the turn is over: the calls that the turn
    // has still to make, of signals, descriptors and due timers, are made first. Between turns,
    // or where an exception ends the turn, it makes the next step() return false at once,
    // without waiting and without any call.
    void stop() { stopping_ = true; }

    // The monotonic time. Within a turn it is read once, at the first need after the wait.
    Time now() const;
    // The clock read now, also within a turn: for times that must be exact.
    Time read_clock() const { return clock_(); }
    Time after(Duration delay) const;  // now() + delay, a negative delay being none

private:
    template <class>
    friend class Handle;
    friend class Watch;
    friend class Timer;
    friend class Signal;
    struct Entry;
    struct Pipe;

    void grow();
    void wait(Duration longest);
    bool signalled() const;
    void deliver_signals();
    void deliver(const Readiness& told);
    void fire_timers();
    Entry* enter(std::function<void(Events)> callback);
    void leave(Entry* entry);
    void leave(TimerQueue::Slot* timer);
    void sweep();

    const ReadClock clock_;
    std::unique_ptr<Backend> backend_;
    bool may_grow_;  // from poll to epoll
    TimerQueue timers_;
    std::vector<Entry*> signals_;       // in order of creation
    std::unique_ptr<Pipe> pipe_;        // while there are any
    std::vector<Readiness> ready_;      // what the turn's wait has found
    Entry* ended_ = nullptr;            // the last that its object ended in this turn
    std::size_t objects_ = 0;           // but timers
    Time deadline_{};                   // no timer comes due before, as the turn began
    mutable std::optional<Time> time_;  // this turn's, once it was read
    bool in_turn_ = false;
    bool stopping_ = false;
    bool busy_ = false;      // the last turn had something ready
    unsigned stride_ = 1;    // of so many busy turns one looks
    unsigned unlooked_ = 0;  // busy turns since the last that did
};

// What the three kinds of objects have in common: an empty one waits for nothing.
template <class Waiting>
class Handle {
public:
    explicit operator bool() const { return waiting_ != nullptr; }

protected:
    Handle() = default;
    Handle(Loop& loop, Waiting* waiting) : waiting_(waiting, {&loop}) {}
    Loop& loop() const { return *waiting_.get_deleter().loop; }

    struct Leave {
        Loop* loop;
        void operator()(Waiting* waiting) const { loop->leave(waiting); }
    };
    std::unique_ptr<Waiting, Leave> waiting_;
};

// Reports when a descriptor can be read or written without blocking. It does not own the
// descriptor, which must stay open while it is watched.  Where it is closed too early, poll and
// select report an error; epoll falls silent until want() finds it out.
//
// Several watches may share a descriptor, and each is notified of what it wants itself. With
// epoll each of them but the first holds a duplicate of the descriptor while it wants anything.
//
// An error or hang-up is reported whatever was asked for, together with what was asked for, so
// that the callback's own read or write meets it.  Where the system reports nothing else, this
// happens once: the watch then wants nothing until want() is called.  A negative descriptor is
// such an error, with every backend.
//
// The constructor and want() throw std::system_error where the system refuses the descriptor
// (EMFILE or ENOSPC: no more of them), and leave all as it was.
class Watch : public Handle<Loop::Entry> {
public:
    using Callback = std::function<void(Events)>;

    Watch() = default;
    Watch(Loop& loop, int fd, Events interest, Callback callback);

    // `none`: asleep, nothing is told; `hangup`: nothing but errors and hang-ups, which select
    // can't tell.
    void want(Events interest);
    Events wanted() const;
};

// Calls back once when its time has come: never early, and in the order of starting where
// deadlines are equal.  Periods without drift: timer.start_at(timer.deadline() + period).
class Timer : public Handle<TimerQueue::Slot> {
public:
    using Callback = std::function<void()>;

    Timer() = default;
    Timer(Loop& loop, Callback callback)
        : Handle(loop, loop.timers_.create(std::move(callback))) {}

    void start(Duration delay) { start_at(loop().after(delay)); }  // restarts a pending one
    void start_at(Time deadline) {
        loop().timers_.start(*waiting_, std::max(deadline, Time{}));
    }
    void cancel() { waiting_->cancel(); }
    bool pending() const { return waiting_->pending(); }
    Time deadline() const { return waiting_->deadline(); }  // as last started
};

// Calls back, in the loop, after the process got the signal; several may be told as one.
// Several Signals, in one loop or in several, may stand for the same number. The disposition
// that stood before the first of them comes back with the end of the last.
class Signal : public Handle<Loop::Entry> {
public:
    using Callback = std::function<void()>;

    Signal() = default;
    Signal(Loop& loop, int signo, Callback callback);  // throws std::system_error
};

}  // namespace ev
