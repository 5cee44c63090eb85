#include "ev/loop.hpp"

#include <cassert>

namespace ev {

Loop::Loop(ReadClock clock, std::string_view backend) : Loop(clock, make_backend(backend)) {}

Loop::Loop(ReadClock clock, std::unique_ptr<Backend> backend)
    : clock_(clock), backend_(std::move(backend)), signals_(*backend_) {}

Loop::~Loop() { assert(objects_ + timers_.size() == 0 && "a loop outlives its objects"); }

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

// Ends a turn, also if a callback throws, and frees the objects that were destroyed in it.
struct Loop::TurnScope {
    explicit TurnScope(Loop& of) : loop(of) { loop.in_turn_ = true; }
    ~TurnScope() {
        loop.in_turn_ = false;
        loop.sweep();
    }
    Loop& loop;
};

bool Loop::step(Duration longest) {
    assert(!in_turn_ && "a turn inside a turn");
    deadline_ = timers_.begin_turn();
    if (take_stop() || nothing_to_wait_for()) return false;
    wait(longest);  // before the turn begins, so that now() is read after the sleep
    const TurnScope scope(*this);
    signals_.deliver();  // first, because busy descriptors could keep a signal waiting for long
    for (const Readiness& ready : ready_) deliver(ready);
    fire_timers();  // last, because what was read may have restarted or cancelled them
    return !take_stop();
}

bool Loop::nothing_to_wait_for() const { return timers_.none_pending() && objects_ == 0; }

// A signal since the last turn has been noted but may have left no byte in the pipe.
void Loop::wait(Duration longest) {
    time_.reset();
    due_by_.reset();
    ready_.clear();
    if (longest <= Duration::zero() || signals_.raised())
        look();
    else if (busy_)
        look_until(std::min(after(longest), deadline_));
    else if (!spin_.should_look() || !spin_.looked(look()))
        sleep(longest);
}

bool Loop::look() {
    backend_->wait(Duration::zero(), ready_);
    return !ready_.empty();
}

void Loop::look_until(Time end) {
    while (!look() && (end == Time::max() || clock_() < end)) {
    }
}

// The clock is read once: a sleep that a few descriptors end will hardly have reached the
// deadline. If it has, the next turn finds that out before it sleeps. Many callbacks would be a
// long time to wait for it, and the reading is then a small part of the turn.
void Loop::sleep(Duration longest) {
    std::optional<Time> before;
    if (deadline_ != Time::max()) {
        before = clock_();
        longest = std::min(longest, deadline_ - *before);
    }
    backend_->wait(longest, ready_);
    spin_.slept(!ready_.empty());
    const bool few_found = !ready_.empty() && ready_.size() <= 4;
    if (longest <= Duration::zero() || few_found) due_by_ = before;
}

// An earlier callback of this turn may have destroyed the watch or changed what it wants.
void Loop::deliver(const Readiness& ready) {
    Registration& watch = *ready.registration;
    const Events failure = ready.events & (hangup | error);
    const Events wanted = ready.events & watch.interest & ~failure;
    const Events events = failure == none ? wanted : watch.interest | failure;
    if (watch.interest == none || events == none) return;
    if (wanted == none) backend_->set(watch, none);  // or this would be reported in every turn
    watch.callback(events);
}

void Loop::fire_timers() {
    if (deadline_ == Time::max()) return;
    const Time due = time_ || !due_by_ ? now() : *due_by_;
    while (auto* const timer = timers_.pop_due(due)) timer->callback();
}

void Loop::destroy(WatchObject* watch) {
    backend_->set(*watch, none);
    bury(watch);
}

void Loop::destroy(SignalObject* signal) {
    signals_.end(*signal);
    bury(signal);
}

void Loop::destroy(TimerQueue::Slot* timer) {
    timers_.destroy(timer);
    sweep();
}

void Loop::bury(Destroyable* object) {
    --objects_;
    object->next_dead = graveyard_;
    graveyard_ = object;
    sweep();
}

// Frees what was destroyed, but not during a turn, which may still refer to it. Freeing a
// callback can destroy other objects and so call this again.
void Loop::sweep() {
    if (in_turn_) return;
    timers_.sweep();
    while (graveyard_) {
        const std::unique_ptr<Destroyable> dead(graveyard_);
        graveyard_ = dead->next_dead;
    }
}

Watch::Watch(Loop& loop, int fd, Events interest, Callback callback)
    : Handle(loop, new WatchObject) {
    ++loop.objects_;
    object_->callback = std::move(callback);
    object_->fd = fd < 0 ? invalid_descriptor : fd;
    want(interest);
}

static SignalObject* subscribe(Signals& signals, int signo, Signal::Callback callback) {
    auto object = std::make_unique<SignalObject>();
    object->signo = signo;
    object->callback = std::move(callback);
    signals.begin(*object);
    return object.release();
}

Signal::Signal(Loop& loop, int signo, Callback callback)
    : Handle(loop, subscribe(loop.signals_, signo, std::move(callback))) {
    ++loop.objects_;
}

}  // namespace ev
