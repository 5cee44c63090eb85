#include "ev/timer_queue.hpp"

#include <algorithm>

namespace ev {

namespace {
constexpr std::size_t arity = 4;  // half the levels of a binary heap, siblings side by side
// Up to this many new timers, or a quarter of the heap, are sifted up one by one; for more,
// rebuilding the heap is cheaper.
constexpr std::size_t few = 8;
}  // namespace

void TimerQueue::start(Timed& timer, Time deadline) {
    timer.deadline = deadline;
    timer.order = ++started_;
    if (timer.pending() && entries_[timer.place].deadline <= deadline) return;
    cancel(timer);
    append(timer);
}

// The last of the heap fills a hole in it, and the last of the nursery the hole at its end.
void TimerQueue::cancel(Timed& timer) {
    if (!timer.pending()) return;
    std::size_t hole = timer.place;
    if (hole < heap_) {
        put(hole, entries_[--heap_]);
        sift_up(hole);
        sift_down(hole);
        hole = heap_;
    }
    if (hole + 1 < entries_.size()) put(hole, entries_.back());
    entries_.pop_back();
    timer.place = Timed::nowhere;
}

std::optional<Time> TimerQueue::next() {
    turn_ = started_;
    merge();
    if (!correct_top()) return std::nullopt;
    return entries_[0].deadline;
}

Timed* TimerQueue::pop(Time now) {
    while (correct_top() && entries_[0].deadline <= now) {
        Timed& top = *entries_[0].timer;
        cancel(top);
        if (top.order <= turn_) return &top;
        append(top);
    }
    return nullptr;
}

void TimerQueue::append(Timed& timer) {
    timer.place = entries_.size();
    entries_.push_back({timer.deadline, timer.order, &timer});
}

void TimerQueue::put(std::size_t place, const Entry& entry) {
    entries_[place] = entry;
    entry.timer->place = place;
}

void TimerQueue::merge() {
    const std::size_t fresh = entries_.size() - heap_;
    if (fresh <= std::max(few, heap_ / 4)) {
        while (heap_ < entries_.size()) sift_up(heap_++);
        return;
    }
    heap_ = entries_.size();
    for (std::size_t place = (heap_ - 2) / arity + 1; place-- > 0;) sift_down(place);
}

// Sees to it that the top tells what its timer does; false if the heap is empty.
bool TimerQueue::correct_top() {
    while (heap_ > 0 && entries_[0].order != entries_[0].timer->order) {
        Timed& timer = *entries_[0].timer;
        entries_[0] = {timer.deadline, timer.order, &timer};
        sift_down(0);
    }
    return heap_ > 0;
}

void TimerQueue::sift_up(std::size_t place) {
    const Entry entry = entries_[place];
    while (place > 0) {
        const std::size_t parent = (place - 1) / arity;
        if (!entry.before(entries_[parent])) break;
        put(place, entries_[parent]);
        place = parent;
    }
    put(place, entry);
}

void TimerQueue::sift_down(std::size_t place) {
    const Entry entry = entries_[place];
    for (;;) {
        const std::size_t first = place * arity + 1;
        if (first >= heap_) break;
        std::size_t least = first;
        const std::size_t end = std::min(first + arity, heap_);
        for (std::size_t child = first + 1; child < end; ++child)
            if (entries_[child].before(entries_[least])) least = child;
        if (!entries_[least].before(entry)) break;
        put(place, entries_[least]);
        place = least;
    }
    put(place, entry);
}

}  // namespace ev
