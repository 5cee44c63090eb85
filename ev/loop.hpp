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
// Watches, timers and signals are objects: each owns its callback, can be moved, and stops
// waiting when it is destroyed.  A callback may do all of this with any of them, and may
// destroy its own; only to run a turn inside a turn is forbidden.  The loop must outlive its
// objects, and no member of a default-constructed or moved-from one may be called.
//
// A turn waits, but not past the nearest deadline; then it calls back for signals, for
// descriptors, and for timers that are due.  Anything started during a turn is served from the
// next one on, so that a timer of zero length can't starve descriptors.  A timer that comes due
// while its turn sleeps or calls back may be left to the next turn, which does not sleep.
//
// An exception from a callback passes through step() and run(); the next turn serves the rest.
// An operation that throws std::bad_alloc has no effect, and destroying an object never
// allocates.
//
// A loop and its objects belong to one thread; another one reaches it by a Mailbox
// (ev/mailbox.hpp), and must block signals (ev/loop_thread.hpp starts such threads).  A fork
// shares the loop's descriptors: the child must not use the loop.
//
// The environment: EV_BACKEND names the backend of loops that are made without a name for it;
// with EV_TRACE=1 each loop writes a line about each of its turns to standard error (turn
// number, time waited, ready descriptors: r readable, w writable, h hang-up, e error).
#pragma once

#include "ev/backend.hpp"
#include "ev/signals.hpp"
#include "ev/timer_queue.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace ev {

// Decides which turns look for events without sleeping before they sleep. After a busy turn the
// next event is often there already or will be soon, and a look spares the kernel the entry and
// removal of a wait-queue hook for every descriptor. Where looks find nothing they become rare,
// so that ping-pong does not pay for them.
class SpinPolicy {
public:
    bool should_look() { return last_turn_busy_ && ++turns_since_look_ >= interval_; }
    bool looked(bool found) {
        turns_since_look_ = 0;
        interval_ = found ? 1 : std::min(2 * interval_, 16U);
        return found;
    }
    void slept(bool found) { last_turn_busy_ = found; }

private:
    bool last_turn_busy_ = false;
    unsigned interval_ = 1;  // one of this many busy turns looks
    unsigned turns_since_look_ = 0;
};

// The part of a watch or a signal that outlasts it until the end of the turn, which may still
// refer to it.
struct Destroyable {
    virtual ~Destroyable() = default;
    Destroyable* next_dead = nullptr;
};
struct WatchObject final : Destroyable, Registration {};
struct SignalObject final : Destroyable, Signals::Subscription {};

class Loop {
public:
    using ReadClock = Time (*)();

    // The backend is the system call that waits: "poll", "epoll" (Linux), "select" (which
    // refuses descriptors from FD_SETSIZE on), or "auto": poll or epoll, by how many
    // descriptors are watched and how many of them are usually ready. By default EV_BACKEND of
    // the environment decides, or else it is "auto". Throws std::invalid_argument for any other
    // name, and std::system_error where the system has no descriptor left for epoll.
    explicit Loop(ReadClock clock = Clock::now, std::string_view backend = {});
    // With a backend that is not one of these.
    Loop(ReadClock clock, std::unique_ptr<Backend> backend);
    ~Loop();

    // Makes turns until stop() is called or nothing is left to wait for. May be called again.
    void run();
    // Makes one turn, which waits for at most `longest`. Returns false if stop() was called, in
    // this turn or before it, or if there is nothing to wait for; the stop is then used up.
    bool step(Duration longest = Duration::max());
    // Ends run() and makes step() return false once the turn is over: the calls that the turn
    // has still to make, of signals, descriptors and due timers, are made first. Between turns,
    // or where an exception ends the turn, it makes the next step() return false at once,
    // without waiting and without any call.
    void stop() { stopping_ = true; }

    // A busy loop never sleeps: where another one sleeps, it asks the backend again and again
    // until a descriptor is ready, a signal has come, or the nearest deadline or the limit of
    // the step has passed. This spares the time of waking up and takes a whole processor, also
    // while only timers, signals or sleeping watches are left. All else stays as it is, the end
    // of run() included. May be called at any time; counts from the next wait on.
    void set_busy(bool busy) { busy_ = busy; }

    // The monotonic time. A turn reads it once, when it is first needed after the wait.
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
    struct TurnScope;

    bool take_stop() { return std::exchange(stopping_, false); }
    bool nothing_to_wait_for() const;
    void wait(Duration longest);
    bool look();
    void look_until(Time end);
    void sleep(Duration longest);
    void deliver(const Readiness& ready);
    void fire_timers();
    void destroy(WatchObject* watch);
    void destroy(SignalObject* signal);
    void destroy(TimerQueue::Slot* timer);
    void bury(Destroyable* object);
    void sweep();

    const ReadClock clock_;
    const std::unique_ptr<Backend> backend_;
    TimerQueue timers_;
    Signals signals_;
    std::size_t objects_ = 0;           // watches and signals
    Destroyable* graveyard_ = nullptr;  // what was destroyed in this turn
    SpinPolicy spin_;
    std::vector<Readiness> ready_;      // found by the turn's wait
    Time deadline_{};                   // no timer comes due before it, as the turn began
    mutable std::optional<Time> time_;  // of this turn, once it has been read after the wait
    std::optional<Time> due_by_;        // read before the wait, if that will do for the timers
    bool in_turn_ = false;
    bool stopping_ = false;
    bool busy_ = false;
};

// The base of the three kinds of objects. An empty one waits for nothing.
template <class Object>
class Handle {
public:
    explicit operator bool() const { return object_ != nullptr; }

protected:
    Handle() = default;
    Handle(Loop& loop, Object* object) : object_(object, {&loop}) {}
    Loop& loop() const { return *object_.get_deleter().loop; }

    struct Destroy {
        Loop* loop;
        void operator()(Object* object) const { loop->destroy(object); }
    };
    std::unique_ptr<Object, Destroy> object_;
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
// The constructor and want() throw std::system_error if the system refuses the descriptor, and
// leave all as it was: EMFILE or ENOSPC if there are too many of them, with poll and select also
// if there would be more watches than the process may have descriptors (RLIMIT_NOFILE). If that
// limit is lowered later, they report an error to each watch beyond it.
class Watch : public Handle<WatchObject> {
public:
    using Callback = std::function<void(Events)>;

    Watch() = default;
    Watch(Loop& loop, int fd, Events interest, Callback callback);

    // With `none` the watch is asleep and reports nothing; with `hangup` it reports only errors
    // and hang-ups, which select can't see.
    void want(Events interest) { loop().backend_->set(*object_, interest); }
    Events wanted() const { return object_->interest; }
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
    void start_at(Time deadline) { loop().timers_.start(*object_, std::max(deadline, Time{})); }
    // The same, but a timer that is due stays as it is: restarted in each turn, it would never
    // fire, because what is started in a turn waits for the next one.
    void start_at_unless_due(Time deadline) {
        if (!pending() || this->deadline() > loop().now()) start_at(deadline);
    }
    void cancel() { object_->cancel(); }
    bool pending() const { return object_->pending(); }
    Time deadline() const { return object_->deadline(); }  // as last started
};

// Calls back, in the loop, after the process got the signal. One call may stand for several of
// them.  A process has at most one Signal of each number, whatever the loop: the constructor
// throws std::system_error (EBUSY) for another one.  Destroying it restores the disposition
// from before.
class Signal : public Handle<SignalObject> {
public:
    using Callback = std::function<void()>;

    Signal() = default;
    Signal(Loop& loop, int signo, Callback callback);  // throws std::system_error
};

}  // namespace ev
