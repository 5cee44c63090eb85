// An event loop for one thread: descriptors, signals and timers.
//
//     #include "ev/loop.hpp"
//     #include <unistd.h>
//     #include <cstdio>
//
//     int main() {
//         ev::Loop loop;
//         ev::Timer idle(loop, [&] { loop.stop(); });
//         ev::Watch keyboard(loop, STDIN_FILENO, ev::readable, [&](ev::Events) {
//             char bytes[512];
//             const auto count = read(STDIN_FILENO, bytes, sizeof bytes);
//             if (count <= 0) return loop.stop();
//             std::printf("%d bytes\n", static_cast<int>(count));
//             idle.start(std::chrono::seconds(5));
//         });
//         loop.run();
//     }
//
// Watches, timers and signals own their callbacks, and stop waiting when they are destroyed. A
// callback may create, change, move and destroy any of them, including its own; it must not
// call run() or step(). The loop must outlive its objects. A default-constructed or moved-from
// object may only be tested by operator bool, assigned to and destroyed.
//
// Each turn waits until the nearest deadline at the latest. It then calls back for signals
// that have arrived, for ready descriptors in any order, and for due timers. Watches and timers
// that are started during a turn are served from the next turn on.
//
// An exception from a callback passes through step() and run(); the next turn makes the
// remaining calls. An operation that throws std::bad_alloc has no effect, and destroying an
// object never allocates.
//
// A loop and its objects belong to one thread. Other threads reach it through a Mailbox and
// must block signals (ev/threads). The child of a fork() must not use or destroy its parent's
// loops and objects, so it must end by _exit() or exec(). It may create loops of its own.
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
    // The state of a watch, timer or signal. If destroyed in a turn, freed when that turn ends.
    struct Object {
        explicit Object(Loop& parent) : loop(parent) {}
        virtual ~Object() = default;
        virtual void stop() = 0;  // no callback afterwards, unless a timer is started again

        struct Bury {
            void operator()(Object* object) const noexcept;
        };
        Loop& loop;
        Object* next_dead = nullptr;
    };

    // Throws as make_backend() does.
    explicit Loop(ReadClock clock = Clock::now,
                  std::unique_ptr<Backend> backend = make_backend())
        : clock_(clock), backend_(std::move(backend)) {}
    ~Loop() { assert(watches_ == 0 && timers_.empty() && "a loop must outlive its objects"); }

    // Runs turns until stop() is called, or until no watch, signal or pending timer is left.
    void run() {
        while (step()) {
        }
    }
    // Runs one turn, which may end early without a callback. Returns false if run() must end.
    bool step(Duration max_wait = Duration::max());
    // Makes the current step() return false at the end of its turn. If called between turns, or
    // if an exception ends the turn, the next step() returns false without any callback.
    void stop() { is_stopping_ = true; }

    Time now() const;  // all callbacks of a turn see the same time
    Time read_clock() const { return clock_(); }
    Time after(Duration delay) const;  // now() + delay, within [now(), Time::max()]

private:
    friend class Watch;
    friend class Timer;
    friend class Signal;

    void serve_signals();
    void delete_destroyed();

    const ReadClock clock_;
    const std::unique_ptr<Backend> backend_;
    TimerQueue timers_;
    std::size_t watches_ = 0;                  // number of watches and signals
    std::shared_ptr<struct Signals> signals_;  // null before the first Signal
    Object* graveyard_ = nullptr;              // objects destroyed in this turn
    std::vector<Readiness> ready_;             // found by the turn's wait
    mutable std::optional<Time> read_at_;      // the turn's time, once the clock has been read
    bool is_in_turn_ = false;
    bool is_stopping_ = false;
};

auto& state_of(const auto& owner) {
    assert(owner && "a default-constructed or moved-from object was used");
    return *owner;
}

// Reports when a descriptor can be read or written without blocking. The descriptor must stay
// open while it is watched; epoll does not report that it was closed. Several watches may share
// a descriptor, of which epoll then makes duplicates.
//
// A watch with the interest `none` sleeps: it reports nothing. Any other watch also reports an
// error or hang-up, together with its whole interest, so that the callback's own read or write
// encounters the error. If no wanted event is ready as well, the interest becomes `none`. To
// continue watching, for example after an error of a datagram socket, call want() again. A
// negative descriptor reports an error.
//
// If the system refuses the descriptor, the constructor and want() throw std::system_error and
// change nothing. poll and select accept at most RLIMIT_NOFILE watches that do not sleep. If
// that limit is lowered later, the excess watches report an error.
class Watch {
public:
    using Callback = std::function<void(Events)>;

    Watch() = default;
    Watch(Loop& loop, int fd, Events interest, Callback callback)
        : state_(new State(loop, {std::move(callback), fd < 0 ? invalid_descriptor : fd})) {
        ++loop.watches_;
        want(interest);
    }
    explicit operator bool() const { return state_ != nullptr; }

    // With `none` the watch sleeps and reports nothing. With `hangup` it reports only errors
    // and hang-ups; select can't wait for these alone.
    void want(Events interest) { state_of(state_).loop.backend_->set(*state_, interest); }
    Events wanted() const { return state_of(state_).interest; }

private:
    struct State final : Loop::Object, Registration {
        State(Loop& parent, Registration&& it) : Object(parent), Registration(std::move(it)) {}
        void stop() override {
            loop.backend_->set(*this, none);
            --loop.watches_;
        }
    };
    std::unique_ptr<State, Loop::Object::Bury> state_;
};

// Calls back once, at its deadline or later. Equal deadlines fire in starting order.
class Timer {
public:
    using Callback = std::function<void()>;

    Timer() = default;
    Timer(Loop& loop, Callback callback) : state_(new State(loop, std::move(callback))) {}
    explicit operator bool() const { return state_ != nullptr; }

    void start(Duration delay) { start_at(state_of(state_).loop.after(delay)); }
    void start_at(Time deadline) { state_of(state_).loop.timers_.start(*state_, deadline); }
    void cancel() { state_of(state_).stop(); }
    bool pending() const { return state_of(state_).pending(); }
    Time deadline() const { return state_of(state_).deadline(); }  // set by the last start

private:
    struct State final : Loop::Object, TimerQueue::Item {
        State(Loop& parent, Callback&& call) : Object(parent) { callback = std::move(call); }
        void stop() override { loop.timers_.remove(*this); }
    };
    std::unique_ptr<State, Loop::Object::Bury> state_;
};

// Calls back after the process has received the signal. Signals that arrive close together may
// cause a single call. A second Signal for a number throws std::system_error (EBUSY). The
// destructor, and fork() in the child, restore the previous disposition.
class Signal {
public:
    using Callback = std::function<void()>;

    Signal() = default;
    Signal(Loop& loop, int signo, Callback callback);
    explicit operator bool() const { return state_ != nullptr; }

private:
    struct State;
    std::unique_ptr<Loop::Object, Loop::Object::Bury> state_;
};

}  // namespace ev
