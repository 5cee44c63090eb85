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
// A turn waits, but not past the nearest deadline; then it calls back for all signals that have
// come, for all descriptors that are ready, in any order, and for all timers that are due.
// Anything started during a turn is served from the next one on, so that a timer of zero length
// can't starve descriptors; a signal is served once a turn at most.  A timer that comes due
// while its turn sleeps or calls back may be left to the next turn, which does not sleep.
//
// An exception from a callback passes through step() and run(); the next turn serves the rest.
// An operation that throws std::bad_alloc has no effect, and destroying an object never
// allocates.
//
// A loop and its objects belong to one thread; another one reaches it by a Mailbox
// (ev/threads/mailbox.hpp), and must block signals (ev/threads/loop_thread.hpp starts such
// threads).
//
// The child of a fork shares the descriptors of its parent's loops: it must not use these loops
// and their objects, not even destroy them, and so ends by _exit() or exec().  It may make
// loops and objects of its own, also Signals of the numbers that its parent has: in the child
// all signals do again what they did before the parent's Signals.
//
// The environment: EV_BACKEND names the backend of loops that are made without a name for it;
// with EV_TRACE=1 each loop writes a line about each of its turns to standard error (turn
// number, time waited, ready descriptors: r readable, w writable, h hang-up, e error).
#pragma once

#include "ev/backend.hpp"
#include "ev/timer_queue.hpp"

#include <cassert>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace ev {

class Loop {
public:
    // The part of a watch, a timer or a signal that outlasts it until the end of the turn,
    // which may still refer to it.
    struct Object {
        explicit Object(Loop& of) : loop(of) {}
        virtual ~Object() = default;
        virtual void stop() = 0;  // from now on its loop calls it no more

        struct Bury {
            void operator()(Object* object) const noexcept;
        };
        Loop& loop;
        Object* next_dead = nullptr;
    };

    // The backend is the system call that waits: "poll", "epoll" (Linux), "select" (which
    // refuses descriptors from FD_SETSIZE on), or "auto": poll or epoll, by how many
    // descriptors are watched and how many of them are usually ready. By default EV_BACKEND of
    // the environment decides, or else it is "auto". Throws std::invalid_argument for any other
    // name, and std::system_error if the system has no descriptor left for epoll.
    explicit Loop(ReadClock clock = Clock::now, std::string_view backend = {})
        : Loop(clock, make_backend(backend, clock)) {}
    // With a backend that is not one of these.
    Loop(ReadClock clock, std::unique_ptr<Backend> backend)
        : clock_(clock), backend_(std::move(backend)) {}
    ~Loop() { assert(watches_ == 0 && timers_.empty() && "a loop outlives its objects"); }

    // Makes turns until stop() is called or nothing is left to wait for. May be called again.
    void run() {
        while (step()) {
        }
    }
    // Makes one turn, which waits for at most `longest`; it may return earlier without any
    // call, for example for a signal. Returns false if stop() was called, in this turn or
    // before it, or if there is nothing to wait for; the stop is then used up.
    bool step(Duration longest = Duration::max());
    // Ends run() and makes step() return false once the turn is over: the calls that the turn
    // has still to make, for descriptors and due timers, are made first. Between turns, or if
    // an exception ends the turn, it makes the next step() return false at once, without
    // waiting and without any call.
    void stop() { stopping_ = true; }

    // A busy loop never sleeps: where another one sleeps, it asks the backend again and again
    // until a descriptor is ready, a signal has come, or the nearest deadline or the limit of
    // the step has passed. This spares the time of waking up and takes a whole processor, also
    // while only timers, signals or sleeping watches are left. All else stays as it is, the end
    // of run() included. May be called at any time; counts from the next wait on. Without
    // effect on a backend of your own, unless it implements this.
    void set_busy(bool busy) { backend_->set_busy(busy); }

    // The monotonic time. A turn reads it once, when it is first needed after the wait.
    Time now() const;
    // The clock read now, also within a turn: for times that must be exact.
    Time read_clock() const { return clock_(); }
    Time after(Duration delay) const;  // now() + delay, a negative delay being none

private:
    friend class Watch;
    friend class Timer;
    friend struct Signals;

    bool take_stop() { return std::exchange(stopping_, false); }
    void serve_signals();
    void deliver(const Readiness& ready);
    void sweep();

    const ReadClock clock_;
    const std::unique_ptr<Backend> backend_;
    TimerQueue timers_;
    std::size_t watches_ = 0;
    struct Signals* signals_ = nullptr;
    Object* graveyard_ = nullptr;       // what was destroyed in this turn
    std::vector<Readiness> ready_;      // found by the turn's wait
    mutable std::optional<Time> time_;  // of this turn, once it has been read after the wait
    bool in_turn_ = false;
    bool stopping_ = false;
};

// Reports when a descriptor can be read or written without blocking. It does not own the
// descriptor, which must stay open while it is watched.  If it is closed too early, poll and
// select report an error; epoll falls silent until want() finds it out.
//
// Several watches may share a descriptor, and each is notified of what it wants itself. With
// epoll each of them but the first holds a duplicate of the descriptor while it wants anything.
//
// An error or hang-up is reported whatever was asked for, together with what was asked for, so
// that the callback's own read or write meets it.  If the system reports nothing else, this
// happens once: the watch then wants nothing until want() is called.  So a callback that goes
// on after an error calls want() again, above all one for datagrams: an error there says that
// the peer refused one of them, and the socket lives on.  A negative descriptor is an error,
// with every backend.
//
// The constructor and want() throw std::system_error if the system refuses the descriptor, and
// leave all as it was: EMFILE or ENOSPC if there are too many of them, with poll and select
// also if there would be more watches than the process may have descriptors (RLIMIT_NOFILE). If
// that limit is lowered later, they report an error to each watch beyond it.
class Watch {
public:
    using Callback = std::function<void(Events)>;

    Watch() = default;
    Watch(Loop& loop, int fd, Events interest, Callback callback);
    explicit operator bool() const { return state_ != nullptr; }

    // With `none` the watch is asleep and reports nothing; with `hangup` it reports only errors
    // and hang-ups, which select can't see.
    void want(Events interest) { state_->loop.backend_->set(*state_, interest); }
    Events wanted() const { return state_->interest; }

private:
    struct State final : Loop::Object, Registration {
        using Object::Object;
        void stop() override {
            loop.backend_->set(*this, none);
            --loop.watches_;
        }
    };
    std::unique_ptr<State, Loop::Object::Bury> state_;
};

// Calls back once when its time has come: never early, and in the order of starting if
// deadlines are equal.  Periods without drift: timer.start_at(timer.deadline() + period).  One
// that is restarted in each turn never fires, even if it is due.
class Timer {
public:
    using Callback = std::function<void()>;

    Timer() = default;
    Timer(Loop& loop, Callback callback) : state_(new State(loop)) {
        state_->callback = std::move(callback);
    }
    explicit operator bool() const { return state_ != nullptr; }

    void start(Duration delay) { start_at(state_->loop.after(delay)); }  // or restarts
    void start_at(Time deadline) { state_->loop.timers_.start(*state_, deadline); }
    void cancel() { state_->cancel(); }
    bool pending() const { return state_->pending(); }
    Time deadline() const { return state_->deadline(); }  // as last started

private:
    struct State final : Loop::Object, TimerQueue::Item {
        using Object::Object;
        void stop() override { loop.timers_.remove(*this); }
    };
    std::unique_ptr<State, Loop::Object::Bury> state_;
};

// Calls back, in the loop, after the process got the signal. One call may stand for several of
// them.  A process has at most one Signal of each number, whatever the loop: the constructor
// throws std::system_error (EBUSY) for another one.  Destroying it restores the disposition
// from before.
class Signal {
public:
    using Callback = std::function<void()>;

    Signal() = default;
    Signal(Loop& loop, int signo, Callback callback);  // throws std::system_error
    explicit operator bool() const { return state_ != nullptr; }

private:
    std::unique_ptr<Loop::Object, Loop::Object::Bury> state_;
};

}  // namespace ev
