#include "ev/loop.hpp"
#include "ev/pipe.hpp"

#include <pthread.h>

#include <atomic>
#include <csignal>

namespace ev {

namespace {

// The pipe that the signals of a loop share. The handler marks its number and wakes the loop:
// the marks, not the bytes, carry the signals, so that a flood of one can't displace another.
struct Wakeup {
    explicit Wakeup(Loop& served) : loop(served) { watch.serve_first(); }
    void deliver();

    Loop& loop;
    Pipe pipe;
    Watch watch{loop, pipe.out(), readable, [this](Events) { deliver(); }};
    int signo = 0;  // the number that was looked at last
};

struct State final : Loop::Object {
    State(Loop& of, int number, Signal::Callback callee);
    void stop() override;

    const int signo;
    const Signal::Callback callback;
    std::shared_ptr<Wakeup> wakeup;
    struct sigaction before {};  // the disposition to restore
};

// Of a number, for the handler and for all loops of the process. The state is used by the
// handler, and otherwise by the thread of its loop alone.
struct Slot {
    std::atomic<const Loop*> loop = nullptr;  // null: the process has no Signal of this number
    std::atomic<bool> raised = false;
    const State* state = nullptr;
};
constexpr int numbers = 65;  // 0 is no signal
Slot slots[numbers];

void handle(int signo) {
    const int saved = errno;
    slots[signo].raised = true;
    slots[signo].state->wakeup->pipe.wake();
    errno = saved;
}

// The child of a fork has none of the loops: its signals do again what they did before.
void leave_to_parent() {
    for (int signo = 1; signo < numbers; ++signo)
        if (slots[signo].loop.exchange(nullptr))
            ::sigaction(signo, &slots[signo].state->before, nullptr);
}
[[maybe_unused]] const int registered = ::pthread_atfork(nullptr, nullptr, leave_to_parent);

// A turn serves one signal, and begins behind the last one, so that none starves another. The
// next turn looks for more.
void Wakeup::deliver() {
    pipe.drain();
    for (int left = numbers; left > 0; --left) {
        signo = (signo + 1) % numbers;
        Slot& slot = slots[signo];
        if (slot.loop != &loop || !slot.raised.exchange(false)) continue;
        pipe.wake();
        return slot.state->callback();
    }
}

State::State(Loop& of, int number, Signal::Callback callee)
    : Object(of), signo(number), callback(std::move(callee)) {
    for (const Slot& slot : slots)
        if (slot.loop == &of) wakeup = slot.state->wakeup;
    if (!wakeup) wakeup = std::make_shared<Wakeup>(of);
    if (signo < 1 || signo >= numbers) fail(EINVAL, "sigaction");
    Slot& slot = slots[signo];
    const Loop* nobody = nullptr;
    if (!slot.loop.compare_exchange_strong(nobody, &of))
        fail(EBUSY, "another Signal has this number");
    slot.state = this;
    struct sigaction action {};
    action.sa_handler = handle;
    action.sa_flags = SA_RESTART;
    sigfillset(&action.sa_mask);
    if (::sigaction(signo, &action, &before) == 0) return;
    slot.loop = nullptr;
    fail(errno, "sigaction");
}

void State::stop() {
    ::sigaction(signo, &before, nullptr);
    slots[signo].raised = false;
    slots[signo].loop = nullptr;
}

}  // namespace

Signal::Signal(Loop& loop, int signo, Callback callback)
    : state_(new State(loop, signo, std::move(callback))) {}

}  // namespace ev
