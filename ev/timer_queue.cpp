#include "ev/timer_queue.hpp"

#include <algorithm>
#include <utility>

namespace ev {

static constexpr std::size_t arity = 4;  // half the levels of a binary heap

TimerQueue::Slot* TimerQueue::create(std::function<void()> callback) {
    if (swept_ == 0) {
        if (free_.capacity() <= slots_.size()) free_.reserve(2 * slots_.size() + 1);
        slots_.emplace_back().callback = std::move(callback);
        return &slots_.back();
    }
    --swept_;
    Slot* const timer = free_[swept_];
    free_[swept_] = free_.back();
    free_.pop_back();
    timer->callback = std::move(callback);
    return timer;
}

void TimerQueue::destroy(Slot* timer) {
    timer->cancel();
    free_.push_back(timer);  // create() has made room for all
}

// Destroying a callback can destroy other timers.
void TimerQueue::sweep() {
    while (swept_ < free_.size()) {
        const auto callback = std::exchange(free_[swept_]->callback, nullptr);
        ++swept_;
    }
}

void TimerQueue::start(Slot& timer, Time deadline) {
    const Start start{deadline, ++last_order_};
    const bool held = timer.in_heap_.order != 0 && timer.in_heap_.deadline <= deadline;
    if (!held) entries_.push_back({start, &timer});
    timer.current_ = start;
    if (held) return;
    timer.in_heap_ = start;
    if (entries_.size() <= 2 * slots_.size() + few_) return;
    heap_size_ = 0;  // most entries are dead, by many restarts to an earlier time
    merge();
}

Time TimerQueue::begin_turn() {
    turns_order_ = last_order_;
    if (heap_size_ < entries_.size()) merge();
    while (heap_size_ > 0 && !entries_[0].timer->pending()) refresh_top();
    return heap_size_ == 0 ? Time::max() : entries_[0].start.deadline;
}

TimerQueue::Slot* TimerQueue::pop_due(Time now) {
    while (heap_size_ > 0 && entries_[0].start.deadline <= now) {
        const auto [start, timer] = entries_[0];
        if (start.order != timer->current_.order) {
            refresh_top();
            continue;
        }
        drop_top();
        if (start.order <= turns_order_) {
            timer->current_.order = 0;
            timer->in_heap_.order = 0;
            return timer;
        }
        entries_.push_back({start, timer});  // into the nursery, out of this turn's way
    }
    return nullptr;
}

// Brings an entry up to date with its timer. Returns false if the entry is dead.
bool TimerQueue::refresh(Entry& entry) {
    Slot& timer = *entry.timer;
    if (timer.in_heap_.order != entry.start.order) return false;
    timer.in_heap_ = timer.current_;
    entry.start = timer.current_;
    return timer.pending();
}

void TimerQueue::refresh_top() {
    if (refresh(entries_[0]))
        sift_down(0);
    else
        drop_top();
}

void TimerQueue::merge() {
    const auto nursery = entries_.begin() + static_cast<std::ptrdiff_t>(heap_size_);
    const auto dead = [](Entry& entry) { return !refresh(entry); };
    entries_.erase(std::remove_if(nursery, entries_.end(), dead), entries_.end());
    if (entries_.size() > heap_size_ + std::max(few_, heap_size_ / 4)) {
        heap_size_ = entries_.size();
        for (std::size_t place = (heap_size_ + arity - 2) / arity; place-- > 0;)
            sift_down(place);
    }
    while (heap_size_ < entries_.size()) sift_up(heap_size_++);
}

// The nursery has no order, so that its last entry can fill the hole at the heap's end.
void TimerQueue::drop_top() {
    entries_[0] = entries_[--heap_size_];
    entries_[heap_size_] = entries_.back();
    entries_.pop_back();
    if (heap_size_ > 1) sift_down(0);
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
        if (first >= heap_size_) break;
        std::size_t least = first;
        const std::size_t end = std::min(first + arity, heap_size_);
        for (std::size_t child = first + 1; child < end; ++child)
            if (entries_[child].start.before(entries_[least].start)) least = child;
        if (!entries_[least].start.before(entry.start)) break;
        entries_[place] = entries_[least];
        place = least;
    }
    entries_[place] = entry;
}

}  // namespace ev
