#include "ev/loop.hpp"

#include "ev/signal_port.hpp"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <limits>
#include <utility>

namespace ev {

namespace detail {

// Stands for an object of any kind: what its kind has no use for is empty. It lasts to the end
// of the turn in which its object ends, because the turn may still hold it.
struct Entry : Watched {
    Entry(Core& owner, int descriptor, std::function<void(Events)> callback)
        : Watched{descriptor}, core(owner), call(std::move(callback)) {}
    Core& core;
    std::function<void(Events)> call;
    TimerQueue::Id timer = TimerQueue::none;
    std::unique_ptr<CaughtSignal> caught;
};

struct Core {
    Core(Loop::ReadClock read_clock, std::string_view backend)
        : clock(read_clock), waiter(make_waiter(backend)) {}

    bool idle() const { return watches == 0 && timers.empty() && signals.empty(); }
    Time now();
    Time after(Duration delay);
    void make_timer(Entry& entry);
    void catch_signal(Entry& entry, int signo);
    void leave(Entry* entry);

    void turn(Duration longest);
    void wait(Duration longest);
    void deliver_signals();
    void deliver(const Ready& told);
    void fire_timers();
    void sweep();

    const Loop::ReadClock clock;
    const std::unique_ptr<Waiter> waiter;
    TimerQueue timers;
    std::vector<Entry*> timed;                  // by the ids of their timers
    std::vector<Entry*> signals;                // in order of creation
    std::optional<WakePipe> pipe;               // made for the first signal
    Watched wake{-1};                           // its reading end
    std::vector<Ready> ready;                   // what the turn's wait has found
    std::vector<std::unique_ptr<Entry>> ended;  // by their objects, in this turn
    std::size_t objects = 0;                    // of all three kinds
    std::size_t watches = 0;                    // of these, asleep or not
    std::optional<Time> time;                   // this turn's, once it was read
    bool in_turn = false;
    bool stopping = false;
    bool signalled = false;  // the signals are yet to be asked
    bool busy = false;       // the last turn had something ready
    unsigned stride = 1;     // of so many busy turns one looks
    unsigned unlooked = 0;   // busy turns since the last that did
};

void Release::operator()(Entry* entry) const { entry->core.leave(entry); }

Time Core::now() {
    if (!in_turn) return clock();
    if (!time) time = clock();
    return *time;
}

Time Core::after(Duration delay) {
    const Time start = now();
    if (delay <= Duration::zero()) return start;
    return delay < Time::max() - start ? start + delay : Time::max();
}

void Core::make_timer(Entry& entry) {
    entry.timer = timers.create();
    timed.resize(std::max(timed.size(), entry.timer + 1));
    timed[entry.timer] = &entry;
}

void Core::catch_signal(Entry& entry, int signo) {
    if (!pipe) pipe.emplace();
    wake.fd = pipe->descriptor();
    waiter->set(wake, readable);
    entry.caught = std::make_unique<CaughtSignal>(signo);
    signals.push_back(&entry);
}

void Core::leave(Entry* entry) {
    waiter->set(*entry, none);
    if (entry->timer != TimerQueue::none) timers.destroy(entry->timer);
    entry->caught.reset();
    --objects;
    if (entry->fd >= 0) --watches;
    ended.emplace_back(entry);
    if (!in_turn) sweep();
}

void Core::turn(Duration longest) {
    wait(longest);
    const auto end = [](Core* core) { core->sweep(); };
    const std::unique_ptr<Core, decltype(end)> sweeping(this, end);
    in_turn = true;
    deliver_signals();
    for (const Ready& each : ready) deliver(each);
    fire_timers();
}

// What poll(2) takes: rounded up, so that a timer is not met early; -1 waits without limit.
static int milliseconds(Duration duration) {
    using std::chrono::milliseconds;
    if (duration == Duration::max()) return -1;
    const auto count = std::chrono::ceil<milliseconds>(std::max(duration, Duration::zero()));
    const milliseconds longest(std::numeric_limits<int>::max());
    return static_cast<int>(std::min<milliseconds>(count, longest).count());
}

// After a busy turn the next event is often there already, or will be soon: a look without
// sleeping spares the kernel the entry and removal of a wait-queue hook for every descriptor.
// Where looks find nothing they become rare, so that ping-pong does not pay for them.
void Core::wait(Duration longest) {
    const std::optional<Time> deadline = timers.next();
    time.reset();
    ready.clear();
    if (signalled) longest = Duration::zero();
    if (longest > Duration::zero() && busy && ++unlooked >= stride) {
        unlooked = 0;
        waiter->wait(0, ready);
        stride = ready.empty() ? std::min(2 * stride, 16U) : 1;
        if (!ready.empty()) return;
    }
    if (longest > Duration::zero() && deadline)
        longest = std::min(longest, *deadline - clock());
    waiter->wait(milliseconds(longest), ready);
    busy = !ready.empty();
}

// Where a callback throws, the signals after it are asked in the next turn.
void Core::deliver_signals() {
    const auto woken = [this](const Ready& each) { return each.watched == &wake; };
    if (pipe && std::any_of(ready.begin(), ready.end(), woken)) {
        pipe->drain();
        signalled = true;
    }
    if (!signalled) return;
    const std::size_t count = signals.size();  // later ones wait for the next turn
    for (std::size_t i = 0; i < count; ++i)
        if (signals[i]->caught && signals[i]->caught->raised()) signals[i]->call(none);
    signalled = false;
}

// An earlier callback of this turn may have ended the watch or changed what it wants.
void Core::deliver(const Ready& told) {
    const Events wanted = told.watched->interest;
    const Events failure = told.events & (hangup | error);
    const Events events = (failure ? wanted : told.events & wanted) | failure;
    if (told.watched == &wake || wanted == none || events == none) return;
    if ((told.events & wanted) == none) waiter->set(*told.watched, none);
    static_cast<Entry*>(told.watched)->call(events);
}

void Core::fire_timers() {
    if (timers.empty()) return;
    const Time due = now();
    while (const auto id = timers.pop(due)) timed[*id]->call(none);
}

void Core::sweep() {
    in_turn = false;
    if (ended.empty()) return;
    std::erase_if(signals, [](const Entry* signal) { return !signal->caught; });
    std::exchange(ended, {}).clear();  // what these own ends at once
}

}  // namespace detail

static std::string_view default_backend() {
    const char* const named = std::getenv("EV_BACKEND");
    return named && *named ? named : "poll";
}

Loop::Loop(ReadClock clock, std::string_view backend)
    : core_(new detail::Core(clock, backend.empty() ? default_backend() : backend)) {}

Loop::~Loop() { assert(core_->objects == 0 && "a loop outlives its objects"); }

void Loop::run() {
    while (step()) {
    }
}

bool Loop::step(Duration longest) {
    assert(!core_->in_turn && "a turn inside a turn");
    if (core_->idle()) core_->stopping = true;
    if (!core_->stopping) core_->turn(longest);
    return !std::exchange(core_->stopping, false);
}

void Loop::stop() { core_->stopping = true; }
Time Loop::now() const { return core_->now(); }
Time Loop::after(Duration delay) const { return core_->after(delay); }

Handle::Handle(Loop& loop, int fd, std::function<void(Events)> callback)
    : entry_(new detail::Entry(*loop.core_, fd, std::move(callback))) {
    ++entry_->core.objects;
    if (fd >= 0) ++entry_->core.watches;
}

// poll(2) would overlook a negative number; no descriptor is as high as the one in its place.
Watch::Watch(Loop& loop, int fd, Events interest, Callback callback)
    : Handle(loop, fd < 0 ? std::numeric_limits<int>::max() : fd, std::move(callback)) {
    want(interest);
}

void Watch::want(Events interest) { entry_->core.waiter->set(*entry_, interest); }
Events Watch::wanted() const { return entry_->interest; }

void Timer::enter() { entry_->core.make_timer(*entry_); }
void Timer::start(Duration delay) { start_at(entry_->core.after(delay)); }
void Timer::start_at(Time deadline) {
    entry_->core.timers.start(entry_->timer, std::max(deadline, Time{}));
}
void Timer::cancel() { entry_->core.timers.cancel(entry_->timer); }
bool Timer::pending() const { return entry_->core.timers.pending(entry_->timer); }
Time Timer::deadline() const { return entry_->core.timers.deadline(entry_->timer); }

void Signal::enter(int signo) { entry_->core.catch_signal(*entry_, signo); }

}  // namespace ev
