#include "ev/loop.hpp"

#include <algorithm>

namespace ev {

Time Loop::now() const {
    if (!in_turn_) return clock_();
    if (!time_) time_ = clock_();
    return *time_;
}

Time Loop::after(Duration delay) const {
    const Time start = now();
    return start + std::clamp(delay, Duration::zero(), Time::max() - start);
}

bool Loop::step(Duration max_wait) {
    assert(!in_turn_ && "step() was called from a callback");
    const Time deadline = timers_.begin_turn();
    if (take_stop() || (watches_ == 0 && timers_.empty())) return false;

    // If few descriptors are ready, the timers use the clock reading from before the wait,
    // which saves a second reading. The deadline has probably not passed; if it has, the next
    // turn fires the timers without sleeping. The callbacks of many descriptors could delay the
    // timers too long, so the clock is then read again.
    std::optional<Time> before;
    if (max_wait > Duration::zero() && deadline != Time::max()) {
        before = clock_();
        max_wait = std::min(max_wait, deadline - *before);
    }
    ready_.clear();
    backend_->wait(max_wait, ready_);
    if (max_wait > Duration::zero() && (ready_.empty() || ready_.size() > 4)) before.reset();

    const auto end = [](Loop* loop) {  // runs even if a callback throws
        loop->in_turn_ = false;
        loop->delete_destroyed();
    };
    const std::unique_ptr<Loop, decltype(end)> turn(this, end);
    in_turn_ = true;
    time_.reset();
    if (signals_) serve_signals();
    for (const Readiness& ready : ready_) deliver(ready);
    if (deadline == Time::max()) return !take_stop();
    // Timers come last, because the callbacks of descriptors may have restarted or canceled
    // them.
    const Time timer_time = before && !time_ ? *before : now();
    while (auto* const timer = timers_.pop_due(timer_time)) timer->callback();
    return !take_stop();
}

// An earlier callback of this turn may have destroyed the watch or changed its interest.
void Loop::deliver(const Readiness& ready) {
    Registration& watch = *ready.registration;
    const Events failure = ready.events & (hangup | error);
    const Events wanted = ready.events & watch.interest & ~failure;
    const Events events = failure == none ? wanted : watch.interest | failure;
    if (watch.interest == none || events == none) return;
    if (wanted == none) backend_->set(watch, none);  // else every turn would report the failure
    watch.callback(events);
}

// Frees destroyed objects, but not during a turn, which may still refer to them. Freeing a
// callback can destroy other objects and so call delete_destroyed() again.
void Loop::delete_destroyed() {
    while (graveyard_ && !in_turn_) {
        const std::unique_ptr<Object> dead(graveyard_);
        graveyard_ = dead->next_dead;
    }
}

void Loop::Object::Bury::operator()(Object* object) const noexcept {
    object->stop();
    object->next_dead = std::exchange(object->loop.graveyard_, object);
    object->loop.delete_destroyed();
}

Watch::Watch(Loop& loop, int fd, Events interest, Callback callback)
    : state_(new State(loop, {std::move(callback), fd < 0 ? invalid_descriptor : fd})) {
    ++loop.watches_;
    want(interest);
}

}  // namespace ev
