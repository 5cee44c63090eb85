#include "ev/loop.hpp"

#include "ev/signal_port.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

namespace ev {

namespace detail {

struct Entry {
    explicit Entry(Loop& owner) : loop(owner) { ++loop.objects_; }
    virtual ~Entry() { --loop.objects_; }
    virtual void leave() = 0;  // tells the loop that this one has ended
    Loop& loop;
};

struct WatchEntry final : Entry, Watched {
    WatchEntry(Loop& owner, int descriptor, Watch::Callback callback)
        : Entry(owner), Watched{descriptor}, call(std::move(callback)) {}
    void leave() override {
        loop.waiter_->set(*this, none);
        --loop.watches_;
    }
    Watch::Callback call;
};

struct TimerEntry final : Entry {
    TimerEntry(Loop& owner, Timer::Callback callback)
        : Entry(owner), id(owner.timers_.create()), call(std::move(callback)) {}
    void leave() override { loop.timers_.destroy(id); }
    TimerQueue::Id id;
    Timer::Callback call;
};

struct SignalEntry final : Entry {
    SignalEntry(Loop& owner, int number, Signal::Callback callback)
        : Entry(owner), signo(number), call(std::move(callback)) {}
    void leave() override {
        loop.port_->release(signo);
        *std::find(loop.signals_.begin(), loop.signals_.end(), this) = nullptr;
    }
    int signo;
    Signal::Callback call;
};

void Release::operator()(Entry* entry) const {
    Loop& loop = entry->loop;
    entry->leave();
    std::unique_ptr<Entry> ended(entry);
    if (loop.in_turn_) return loop.ended_.push_back(std::move(ended));
    loop.forget_ended_signals();
}

}  // namespace detail

namespace {

// What poll(2) takes: rounded up, so that a timer is not met early; -1 waits without limit.
int milliseconds(Duration duration) {
    using std::chrono::milliseconds;
    if (duration == Duration::max()) return -1;
    const auto count = std::chrono::ceil<milliseconds>(std::max(duration, Duration::zero()));
    const milliseconds longest(std::numeric_limits<int>::max());
    return static_cast<int>(std::min<milliseconds>(count, longest).count());
}

}  // namespace

Loop::Loop(ReadClock clock) : clock_(clock), waiter_(make_poll_waiter()) {}

Loop::~Loop() { assert(objects_ == 0 && "a loop outlives its objects"); }

void Loop::run() {
    while (step()) {
    }
}

bool Loop::step(Duration longest) {
    assert(!in_turn_ && "a turn inside a turn");
    if (idle()) stopping_ = true;
    if (!stopping_) {
        const auto end = [](Loop* loop) { loop->end_turn(); };
        const std::unique_ptr<Loop, decltype(end)> turn(this, end);
        wait(longest);
        in_turn_ = true;
        deliver_signals();
        deliver_descriptors();
        fire_timers();
    }
    return !std::exchange(stopping_, false);
}

bool Loop::idle() const { return watches_ == 0 && timers_.size() == 0 && signals_.empty(); }

// After a busy turn the next event is often there already, or will be soon: a look without
// sleeping spares the kernel the entry and removal of a wait-queue hook for every descriptor.
// Where looks find nothing they become rare, so that ping-pong does not pay for them.
void Loop::wait(Duration longest) {
    const std::optional<Time> deadline = timers_.next();
    now_known_ = false;
    ready_.clear();
    if (busy_ && look()) return;
    if (deadline) longest = std::min(longest, std::max(*deadline - now(), Duration::zero()));
    waiter_->wait(milliseconds(longest), ready_);
    busy_ = !ready_.empty();
    now_known_ = false;
}

bool Loop::look() {
    if (look_skip_ > 0) {
        --look_skip_;
        return false;
    }
    waiter_->wait(0, ready_);
    const unsigned longest_stride = 15;
    look_stride_ = ready_.empty() ? std::min(2 * look_stride_ + 1, longest_stride) : 0;
    look_skip_ = look_stride_;
    return !ready_.empty();
}

void Loop::deliver_signals() {
    if (!port_ || !port_->raised()) return;
    port_->acknowledge();
    const std::size_t count = signals_.size();  // later ones wait for the next turn
    for (int signo = 1; signo < NSIG; ++signo) {
        if (!port_->take(signo)) continue;
        for (std::size_t i = 0; i < count; ++i)
            if (signals_[i] && signals_[i]->signo == signo) signals_[i]->call();
    }
}

void Loop::deliver_descriptors() {
    for (std::size_t i = 0; i < ready_.size(); ++i)
        if (ready_[i].watched != &wake_) deliver(ready_[i]);
}

// An earlier callback of this turn may have ended the watch or changed what it wants.
void Loop::deliver(const Ready& ready) {
    const Events wanted = ready.watched->interest;
    const Events failure = ready.events & (hangup | error);
    const Events events = (failure ? wanted : ready.events & wanted) | failure;
    if (wanted == none || events == none) return;
    auto& watch = static_cast<detail::WatchEntry&>(*ready.watched);
    if ((ready.events & wanted) == none) waiter_->set(watch, none);
    watch.call(events);
}

void Loop::fire_timers() {
    if (timers_.size() == 0) return;
    const Time time = now();
    while (const auto id = timers_.pop(time)) timer_entries_[*id]->call();
}

void Loop::end_turn() {
    in_turn_ = false;
    forget_ended_signals();
    if (!ended_.empty()) std::exchange(ended_, {}).clear();  // what these own ends at once
}

void Loop::forget_ended_signals() {
    signals_.erase(std::remove(signals_.begin(), signals_.end(), nullptr), signals_.end());
    if (signals_.empty() && wake_.interest != none) waiter_->set(wake_, none);
}

Time Loop::now() const {
    if (in_turn_ && now_known_) return now_;
    now_ = clock_();
    now_known_ = true;
    return now_;
}

Time Loop::after(Duration delay) const {
    const Time start = now();
    if (delay <= Duration::zero()) return start;
    return delay < Time::max() - start ? start + delay : Time::max();
}

Watch::Watch(Loop& loop, int fd, Events interest, Callback callback)
    : Handle(new detail::WatchEntry(loop, fd, std::move(callback))) {
    ++loop.watches_;
    want(interest);
}

void Watch::want(Events interest) {
    auto& watch = static_cast<detail::WatchEntry&>(*entry_);
    if (watch.interest != interest) watch.loop.waiter_->set(watch, interest);
}

Events Watch::wanted() const {
    return static_cast<const detail::WatchEntry&>(*entry_).interest;
}

Timer::Timer(Loop& loop, Callback callback)
    : Handle(new detail::TimerEntry(loop, std::move(callback))) {
    auto& timer = static_cast<detail::TimerEntry&>(*entry_);
    if (loop.timer_entries_.size() <= timer.id) loop.timer_entries_.resize(timer.id + 1);
    loop.timer_entries_[timer.id] = &timer;
}

void Timer::start(Duration delay) { start_at(entry_->loop.after(delay)); }

void Timer::start_at(Time deadline) {
    const auto id = static_cast<detail::TimerEntry&>(*entry_).id;
    entry_->loop.timers_.start(id, std::max(deadline, Time{}));
}

void Timer::cancel() {
    entry_->loop.timers_.cancel(static_cast<detail::TimerEntry&>(*entry_).id);
}

bool Timer::pending() const {
    return entry_->loop.timers_.pending(static_cast<detail::TimerEntry&>(*entry_).id);
}

Time Timer::deadline() const {
    return entry_->loop.timers_.deadline(static_cast<detail::TimerEntry&>(*entry_).id);
}

Signal::Signal(Loop& loop, int signo, Callback callback) {
    if (!loop.port_) loop.port_ = std::make_unique<SignalPort>();
    if (loop.wake_.interest == none) {
        loop.wake_.fd = loop.port_->descriptor();
        loop.waiter_->set(loop.wake_, readable);
    }
    loop.port_->use(signo);
    auto* const signal = new detail::SignalEntry(loop, signo, std::move(callback));
    loop.signals_.push_back(signal);
    entry_.reset(signal);
}

}  // namespace ev
