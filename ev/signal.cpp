#include "ev/fd.hpp"
#include "ev/loop.hpp"

#include <pthread.h>

#include <atomic>
#include <csignal>

namespace ev {

// The signals of one loop. Each number has a flag of its own, so that a flood of one signal
// can't displace another; the pipe only ends the wait.
struct Signals : std::enable_shared_from_this<Signals> {
    explicit Signals(Loop& parent) : loop(parent) { loop.signals_ = this; }
    ~Signals() { loop.signals_ = nullptr; }
    static std::shared_ptr<Signals> of(Loop& loop) {
        return loop.signals_ ? loop.signals_->shared_from_this()
                             : std::make_shared<Signals>(loop);
    }
    void wake() {
        raised = true;
        pipe.wake();
    }

    Loop& loop;
    std::atomic<bool> raised = false;
    Pipe pipe;
    Watch watch{loop, pipe.fd(), readable, [](Events events) {  // the pipe is drained by now
                    if (events & error) fail(EBADF, "poll");
                }};
};

namespace {

// The state of one signal number, for the handler and all loops of the process. Only the
// thread of its loop uses the members that are not atomic.
struct Slot {
    std::atomic<Signals*> owner = nullptr;  // null if no Signal has this number
    std::atomic<bool> raised = false;
    const Signal::Callback* callback = nullptr;
    struct sigaction before {};  // the disposition to restore
};
Slot slots[65];  // by signal number; 0 is unused

void handle(int signo) {
    const int saved = errno;
    slots[signo].raised = true;
    slots[signo].owner.load()->wake();
    errno = saved;
}

// Restores the dispositions in the child of a fork, which can't use the parent's loops.
void restore_in_child() {
    for (int signo = 1; signo < std::ssize(slots); ++signo)
        if (slots[signo].owner.exchange(nullptr))
            ::sigaction(signo, &slots[signo].before, nullptr);
}
[[maybe_unused]] const int registered = ::pthread_atfork(nullptr, nullptr, restore_in_child);

struct State final : Loop::Object {
    State(Loop& parent, int number, Signal::Callback call)
        : Object(parent), signo(number), callback(std::move(call)), signals(Signals::of(loop)) {
        if (signo < 1 || signo >= std::ssize(slots)) fail(EINVAL, "sigaction");
        Slot& slot = slots[signo];
        Signals* expected = nullptr;
        if (!slot.owner.compare_exchange_strong(expected, signals.get()))
            fail(EBUSY, "another Signal has this number");
        slot.callback = &callback;
        struct sigaction action {};
        action.sa_handler = handle;
        action.sa_flags = SA_RESTART;
        sigfillset(&action.sa_mask);
        if (::sigaction(signo, &action, &slot.before) == 0) return;
        slot.owner = nullptr;
        fail(errno, "sigaction");
    }
    void stop() override {
        ::sigaction(signo, &slots[signo].before, nullptr);
        slots[signo].raised = false;
        slots[signo].owner = nullptr;
    }

    const int signo;
    const Signal::Callback callback;
    const std::shared_ptr<Signals> signals;
};

}  // namespace

void Loop::serve_signals() {
    if (!signals_->raised.exchange(false)) return;
    signals_->pipe.drain();
    for (Slot& slot : slots) {
        if (slot.owner != signals_ || !slot.raised.exchange(false)) continue;
        signals_->wake();  // if the callback throws, the next turn serves the other signals
        (*slot.callback)();
    }
}

Signal::Signal(Loop& loop, int signo, Callback callback)
    : state_(new State(loop, signo, std::move(callback))) {}

}  // namespace ev
