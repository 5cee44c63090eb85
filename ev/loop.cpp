#include "ev/loop.hpp"

#include "ev/fd.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <csignal>

namespace ev {

Time Loop::now() const {
    if (!is_in_turn_) return clock_();
    if (!read_at_) read_at_ = clock_();
    return *read_at_;
}

Time Loop::after(Duration delay) const {
    const Time start = now();
    return start + std::clamp(delay, Duration::zero(), Time::max() - start);
}

bool Loop::step(Duration max_wait) {
    assert(!is_in_turn_ && "step() was called from a callback");
    const Time deadline = timers_.begin_turn();
    if (std::exchange(is_stopping_, false) || (watches_ == 0 && timers_.empty())) return false;

    // If one to four descriptors are ready, the deadline has probably not passed. The timers
    // then use the clock reading from before the wait, unless a callback reads the clock. If
    // the deadline has passed, the next turn fires the timers without sleeping. If no
    // descriptor is ready, the deadline has probably passed. If more than four are ready, their
    // callbacks could delay the timers. In both cases the clock is read again if the wait may
    // have slept.
    std::optional<Time> wait_at;
    if (max_wait > Duration::zero() && deadline != Time::max()) {
        wait_at = clock_();
        max_wait = std::min(max_wait, deadline - *wait_at);
    }
    ready_.clear();
    backend_->wait(max_wait, ready_);
    if (max_wait > Duration::zero() && (ready_.empty() || ready_.size() > 4)) wait_at.reset();

    const auto end = [](Loop* loop) {  // runs even if a callback throws
        loop->is_in_turn_ = false;
        loop->delete_destroyed();
    };
    const std::unique_ptr<Loop, decltype(end)> turn(this, end);
    is_in_turn_ = true;
    read_at_.reset();
    if (signals_) serve_signals();
    for (const auto& [watch, found] : ready_) {
        // An earlier callback of this turn may have destroyed the watch or changed its
        // interest.
        const Events failure = found & (hangup | error);
        const Events wanted = found & watch->interest & ~failure;
        const Events events = failure == none ? wanted : watch->interest | failure;
        if (watch->interest == none || events == none) continue;
        // Otherwise every turn would report the failure.
        if (wanted == none) backend_->set(*watch, none);
        watch->callback(events);
    }
    // Timers are served last, because descriptor callbacks may have restarted or canceled them.
    if (deadline != Time::max()) {
        const Time fire_at = wait_at && !read_at_ ? *wait_at : now();
        while (auto* const timer = timers_.pop_due(fire_at)) timer->callback();
    }
    return !std::exchange(is_stopping_, false);
}

// Frees destroyed objects, but not during a turn, which may still refer to them. Freeing a
// callback can destroy other objects and so call delete_destroyed() again.
void Loop::delete_destroyed() {
    while (graveyard_ && !is_in_turn_) {
        const std::unique_ptr<Object> dead(graveyard_);
        graveyard_ = dead->next_dead;
    }
}

void Loop::Object::Bury::operator()(Object* object) const noexcept {
    object->stop();
    object->next_dead = std::exchange(object->loop.graveyard_, object);
    object->loop.delete_destroyed();
}

// --- Signals.

// The signals of one loop. Each number has a flag of its own, so that a flood of one signal
// can't displace another; the pipe only ends the wait.
struct Signals {
    explicit Signals(Backend& backend) { backend.set(registration, readable); }
    void wake() {
        is_raised = true;
        pipe.wake();
    }

    std::atomic<bool> is_raised = false;
    Pipe pipe;
    Registration registration{[](Events events) {  // serve_signals() drains the pipe
                                  if (events & error) throw_error(EBADF, "poll");
                              },
                              pipe.fd()};
};

namespace {

// The state of one signal number, for the handler and all loops of the process. Apart from
// restore_in_child(), only the thread of the owner's loop uses the members that are not atomic.
struct Slot {
    std::atomic<Signals*> owner = nullptr;  // null if no Signal has this number
    std::atomic<bool> is_raised = false;
    const Signal::Callback* callback = nullptr;
    struct sigaction previous {};  // the disposition to restore
};
Slot slots[65];  // indexed by signal number; 0 is unused

void handle(int signo) {
    const int saved_errno = errno;
    slots[signo].is_raised = true;
    // Null if another thread has just destroyed the Signal.
    if (Signals* const owner = slots[signo].owner) owner->wake();
    errno = saved_errno;
}

// Restores the dispositions in a forked child, which can't use the parent's loops.
void restore_in_child() {
    for (int signo = 1; signo < std::ssize(slots); ++signo)
        if (slots[signo].owner.exchange(nullptr))
            ::sigaction(signo, &slots[signo].previous, nullptr);
}
[[maybe_unused]] const int registered = ::pthread_atfork(nullptr, nullptr, restore_in_child);

}  // namespace

struct Signal::State final : Loop::Object {
    State(Loop& parent, int number, Callback&& call)
        : Object(parent), signo(number), callback(std::move(call)) {
        if (signo < 1 || signo >= std::ssize(slots)) throw_error(EINVAL, "sigaction");
        if (!loop.signals_) loop.signals_ = std::make_shared<Signals>(*loop.backend_);
        Slot& slot = slots[signo];
        Signals* no_owner = nullptr;
        if (!slot.owner.compare_exchange_strong(no_owner, loop.signals_.get()))
            throw_error(EBUSY, "another Signal has this number");
        slot.callback = &callback;
        struct sigaction action {};
        action.sa_handler = handle;
        action.sa_flags = SA_RESTART;
        sigfillset(&action.sa_mask);
        if (::sigaction(signo, &action, &slot.previous) == 0) return;
        slot.owner = nullptr;
        throw_error(errno, "sigaction");
    }
    void stop() override {
        ::sigaction(signo, &slots[signo].previous, nullptr);
        slots[signo].is_raised = false;
        slots[signo].owner = nullptr;
        --loop.watches_;
    }

    const int signo;
    const Callback callback;
};

void Loop::serve_signals() {
    if (!signals_->is_raised.exchange(false)) return;
    signals_->pipe.drain();
    for (Slot& slot : slots) {
        if (slot.owner != signals_.get() || !slot.is_raised.exchange(false)) continue;
        signals_->wake();  // if the callback throws, the next turn serves the other signals
        (*slot.callback)();
    }
}

Signal::Signal(Loop& loop, int signo, Callback callback)
    : state_(new State(loop, signo, std::move(callback))) {
    ++loop.watches_;
}

}  // namespace ev
