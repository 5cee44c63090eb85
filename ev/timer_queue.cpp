#include "ev/timer_queue.hpp"

#include <algorithm>
#include <utility>

namespace ev {

static constexpr std::size_t arity = 4;  // half the levels of a binary heap
// Up to this many new timers, or a quarter of the heap, are sifted up one by one; for more,
// rebuilding the heap is cheaper.
static constexpr std::size_t few = 8;

TimerQueue::Slot* TimerQueue::create(std::function<void()> callback) {
    if (swept_ == 0) {
        if (free_.capacity() <= slots_.size()) free_.reserve(2 * slots_.size() + 1);
        slots_.emplace_back().callback = std::move(callback);
        return &slots_.back();
    }
    Slot* const timer = std::exchange(free_[--swept_], free_.back());
    free_.pop_back();
    timer->callback = std::move(callback);
    return timer;
}

void TimerQueue::destroy(Slot* timer) {
    timer->cancel();
    free_.push_back(timer);  // there is room for all
}

// What a callback owns may end other timers.
void TimerQueue::sweep() {
    while (swept_ < free_.size())
        const auto callback = std::exchange(free_[swept_++]->callback, nullptr);
}

void TimerQueue::start(Slot& timer, Time deadline) {
    const Start start{deadline, ++started_};
    const bool held = timer.held_.order != 0 && timer.held_.deadline <= deadline;
    if (!held) entries_.push_back({start, &timer});
    timer.wanted_ = start;
    if (held) return;
    timer.held_ = start;
    if (entries_.size() <= 2 * slots_.size() + few) return;
    heap_ = 0;  // most are dead, by restarts to an earlier time, again and again
    merge();
}

Time TimerQueue::next() {
    turn_ = started_;
    if (heap_ < entries_.size()) merge();
    while (heap_ > 0 && !entries_[0].timer->pending()) correct_top();
    return heap_ == 0 ? Time::max() : entries_[0].start.deadline;
}

TimerQueue::Slot* TimerQueue::pop(Time now) {
    while (heap_ > 0 && entries_[0].start.deadline <= now) {
        const auto [start, timer] = entries_[0];
        if (start.order != timer->wanted_.order) {
            correct_top();
            continue;
        }
        drop_top();
        if (start.order <= turn_) {
            timer->wanted_.order = timer->held_.order = 0;
            return timer;
        }
        entries_.push_back({start, timer});
    }
    return nullptr;
}

// Makes an entry tell what its timer does; false if it stands for nothing any more.
bool TimerQueue::correct(Entry& entry) {
    Slot& timer = *entry.timer;
    if (timer.held_.order != entry.start.order) return false;
    entry.start = timer.held_ = timer.wanted_;
    return timer.pending();
}

void TimerQueue::correct_top() { correct(entries_[0]) ? sift_down(0) : drop_top(); }

void TimerQueue::merge() {
    const auto nursery = entries_.begin() + static_cast<std::ptrdiff_t>(heap_);
    const auto dead = [](Entry& entry) { return !correct(entry); };
    entries_.erase(std::remove_if(nursery, entries_.end(), dead), entries_.end());
    if (entries_.size() > heap_ + std::max(few, heap_ / 4)) {
        heap_ = entries_.size();
        for (std::size_t place = (heap_ + arity - 2) / arity; place-- > 0;) sift_down(place);
    }
    while (heap_ < entries_.size()) sift_up(heap_++);
}

// The hole at the heap's end goes to the nursery's last, whose order means nothing.
void TimerQueue::drop_top() {
    entries_[0] = entries_[--heap_];
    entries_[heap_] = entries_.back();
    entries_.pop_back();
    if (heap_ > 1) sift_down(0);
}

void TimerQueue::sift_up(std::size_t place) {
    const Entry entry = entries_[place];
    while (place > 0) {
        const std::size_t parent = (place - 1) / arity;
        if (!entry.start.before(entries_[parent].start)) break;
        entries_[place] = entries_[parent];
        place = parent;
    }
    entries_[place] = entry;
}

void TimerQueue::sift_down(std::size_t place) {
    const Entry entry = entries_[place];
    for (;;) {
        const std::size_t first = place * arity + 1;
        if (first >= heap_) break;
        std::size_t least = first;
        const std::size_t end = std::min(first + arity, heap_);
        for (std::size_t child = first + 1; child < end; ++child)
            if (entries_[child].start.before(entries_[least].start)) least = child;
        if (!entries_[least].start.before(entry.start)) break;
        entries_[place] = entries_[least];
        place = least;
    }
    entries_[place] = entry;
}

}  // namespace ev
