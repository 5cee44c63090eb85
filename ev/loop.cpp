#include "ev/loop.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <mutex>
#include <system_error>
#include <utility>

namespace ev {

[[noreturn]] static void fail(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

// One use of a signal. The handler walks them without a lock: they are added and used again,
// never removed. The flags, not the pipes, carry the signals: a flood of one can't displace
// another.
struct SignalUse {
    std::atomic<int> signo;  // 0: this stands for nothing
    std::atomic<int> pipe;   // the writing end of the loop's
    std::atomic<bool> raised;
    struct sigaction before;  // the disposition to give back
    SignalUse* next;
};

static std::atomic<SignalUse*> uses;
static std::mutex changes;  // of these

static void handle(int signo) {
    const int saved = errno;
    for (SignalUse* use = uses; use; use = use->next) {
        if (use->signo != signo) continue;
        use->raised = true;
        [[maybe_unused]] const auto written = ::write(use->pipe, "", 1);  // full, it wakes too
    }
    errno = saved;
}

static SignalUse* find(int signo) {
    SignalUse* use = uses;
    while (use && use->signo != signo) use = use->next;
    return use;
}

static SignalUse* catch_signal(int signo, int pipe) {
    struct sigaction before, action{};
    action.sa_handler = handle;
    action.sa_flags = SA_RESTART;
    sigfillset(&action.sa_mask);
    const std::lock_guard lock(changes);
    SignalUse* use = find(0);
    if (!use) uses = use = new SignalUse{0, 0, false, {}, uses};
    if (::sigaction(signo, &action, &before) != 0) fail("sigaction");
    if (const SignalUse* other = find(signo)) before = other->before;
    use->pipe = pipe;
    use->raised = false;
    use->before = before;
    use->signo = signo;
    return use;
}

static void release_signal(SignalUse* use) {
    const std::lock_guard lock(changes);
    const int signo = use->signo.exchange(0);
    if (!find(signo)) ::sigaction(signo, &use->before, nullptr);
}

// Stands for a watch, or for a signal and watches nothing. It lasts to the end of the turn in
// which its object ends, because the turn may still hold it.
struct Loop::Entry : Registration {
    explicit Entry(std::function<void(Events)> callback)
        : Registration{-1}, call(std::move(callback)) {}
    std::function<void(Events)> call;
    SignalUse* signal = nullptr;
    Entry* ended_before = nullptr;  // in the list of those that ended
};

// Ends the wait. What it held when it was drained is told by the flags.
struct Loop::Pipe {
    Pipe() {
        if (::pipe(ends) != 0) fail("pipe");
        for (const int end : ends) {
            ::fcntl(end, F_SETFD, FD_CLOEXEC);
            ::fcntl(end, F_SETFL, O_NONBLOCK);
        }
    }
    explicit Pipe(Loop& loop) : Pipe() {  // if this throws, the destructor closes them
        watch = Watch(loop, ends[0], readable, [this](Events) {
            char bytes[512];
            while (::read(ends[0], bytes, sizeof bytes) > 0) {
            }
        });
    }
    ~Pipe() {
        watch = {};
        for (const int end : ends) ::close(end);
    }
    int ends[2];
    Watch watch;
};

static std::string_view chosen(std::string_view backend) {
    const char* const named = std::getenv("EV_BACKEND");
    return backend.empty() && named ? named : backend;
}

Loop::Loop(ReadClock clock, std::string_view backend)
    : clock_(clock),
      backend_(make_backend(chosen(backend))),
      may_grow_(chosen(backend).empty()) {}

Loop::~Loop() { assert(objects_ == 0 && timers_.size() == 0 && "a loop outlives its objects"); }

Time Loop::now() const {
    if (!in_turn_) return clock_();
    if (!time_) time_ = clock_();
    return *time_;
}

Time Loop::after(Duration delay) const {
    const Time start = now();
    if (delay <= Duration::zero()) return start;
    return delay < Time::max() - start ? start + delay : Time::max();
}

void Loop::run() {
    while (step()) {
    }
}

bool Loop::step(Duration longest) {
    assert(!in_turn_ && "a turn inside a turn");
    deadline_ = timers_.next();
    const bool idle = timers_.none_pending() && objects_ == 0;
    if (idle || stopping_) return stopping_ = false;
    wait(longest);
    const auto end = [](Loop* loop) { loop->sweep(); };
    const std::unique_ptr<Loop, decltype(end)> sweeping(this, end);
    in_turn_ = true;
    deliver_signals();
    for (const Readiness& told : ready_) deliver(told);
    fire_timers();
    return !std::exchange(stopping_, false);
}

// What poll(2) takes: rounded up, so that a timer is not met early; -1 waits without limit.
static int milliseconds(Duration duration) {
    using std::chrono::milliseconds;
    if (duration == Duration::max()) return -1;
    const auto count = std::chrono::ceil<milliseconds>(std::max(duration, Duration::zero()));
    const milliseconds longest(std::numeric_limits<int>::max());
    return static_cast<int>(std::min<milliseconds>(count, longest).count());
}

// Where few of so many descriptors are ready at a time, epoll takes half of poll's time or
// less; where most are, a tenth more. With fewer of them, poll is never far behind.
static constexpr std::size_t many = 32;

void Loop::grow() {
    may_grow_ = false;
    try {
        std::unique_ptr<Backend> epoll = make_backend("epoll");
        backend_->move_to(*epoll);
        backend_ = std::move(epoll);
    } catch (const std::exception&) {
        // Not on this system, or not with these descriptors: poll does it too.
    }
}

// After a busy turn the next event is often there already, or will be soon: a look without
// sleeping spares the kernel the entry and removal of a wait-queue hook for every descriptor.
// Where looks find nothing they become rare, so that ping-pong does not pay for them.
void Loop::wait(Duration longest) {
    if (may_grow_ && backend_->size() > many) grow();
    time_.reset();
    ready_.clear();
    if (signalled()) longest = Duration::zero();
    if (longest > Duration::zero() && busy_ && ++unlooked_ >= stride_) {
        unlooked_ = 0;
        backend_->wait(0, ready_);
        stride_ = ready_.empty() ? std::min(2 * stride_, 16U) : 1;
        if (!ready_.empty()) return;
    }
    if (longest > Duration::zero() && deadline_ != Time::max())
        longest = std::min(longest, deadline_ - clock_());
    backend_->wait(milliseconds(longest), ready_);
    busy_ = !ready_.empty();
}

bool Loop::signalled() const {
    for (const Entry* entry : signals_)
        if (entry->signal->raised) return true;
    return false;
}

void Loop::deliver_signals() {
    if (!signalled()) return;
    const std::size_t count = signals_.size();  // later ones wait for the next turn
    for (std::size_t i = 0; i < count; ++i)
        if (signals_[i]->signal && signals_[i]->signal->raised.exchange(false))
            signals_[i]->call(none);
}

// An earlier callback of this turn may have ended the watch or changed what it wants.
void Loop::deliver(const Readiness& told) {
    const Events wanted = told.registration->interest;
    const Events failure = told.events & (hangup | error);
    const Events events = (failure ? wanted : told.events & wanted) | failure;
    if (wanted == none || events == none) return;
    if ((told.events & wanted) == none) backend_->set(*told.registration, none);
    static_cast<Entry*>(told.registration)->call(events);
}

// Whether that time is yet to come for sure, by a clock that is read at a fifth of the cost and
// lags by a tick of the system's, 10 ms at most.
static bool far_off([[maybe_unused]] Time time) {
#ifdef CLOCK_MONOTONIC_COARSE
    using namespace std::chrono;
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return time.time_since_epoch() > seconds(now.tv_sec) + nanoseconds(now.tv_nsec) + 100ms;
#else
    return false;
#endif
}

void Loop::fire_timers() {
    if (deadline_ == Time::max()) return;
    const bool to_read = clock_ == Clock::now && !time_;
    if (to_read && far_off(deadline_)) return;
    const Time due = now();
    while (auto* const timer = timers_.pop(due)) timer->callback();
}

Loop::Entry* Loop::enter(std::function<void(Events)> callback) {
    auto* const entry = new Entry(std::move(callback));
    ++objects_;
    return entry;
}

void Loop::leave(Entry* entry) {
    backend_->set(*entry, none);
    if (entry->signal) release_signal(std::exchange(entry->signal, nullptr));
    --objects_;
    entry->ended_before = std::exchange(ended_, entry);
    if (!in_turn_) sweep();
}

void Loop::leave(TimerQueue::Slot* timer) {
    timers_.destroy(timer);
    if (!in_turn_) sweep();
}

// What the callbacks own may end other objects, which sweeps inside.
void Loop::sweep() {
    in_turn_ = false;
    timers_.sweep();
    if (!ended_) return;
    std::erase_if(signals_, [](const Entry* entry) { return !entry->signal; });
    if (signals_.empty()) pipe_.reset();
    for (const Entry* entry = std::exchange(ended_, nullptr); entry;)
        delete std::exchange(entry, entry->ended_before);
}

Watch::Watch(Loop& loop, int fd, Events interest, Callback callback)
    : Handle(loop, loop.enter(std::move(callback))) {
    waiting_->fd = fd < 0 ? invalid_descriptor : fd;
    want(interest);
}

void Watch::want(Events interest) { loop().backend_->set(*waiting_, interest); }
Events Watch::wanted() const { return waiting_->interest; }

Signal::Signal(Loop& loop, int signo, Callback callback)
    : Handle(loop, loop.enter([call = std::move(callback)](Events) { call(); })) {
    if (!loop.pipe_) loop.pipe_ = std::make_unique<Loop::Pipe>(loop);
    waiting_->signal = catch_signal(signo, loop.pipe_->ends[1]);
    loop.signals_.push_back(waiting_.get());
}

}  // namespace ev
