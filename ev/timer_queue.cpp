#include "ev/timer_queue.hpp"

#include <algorithm>

namespace ev {

static constexpr std::size_t arity = 4;  // halves the levels of a binary heap

void TimerQueue::start(Item& timer, Time deadline) {
    // At least 0, so that the difference of two deadlines can't overflow.
    const auto since_epoch = std::max(deadline, Time{}).time_since_epoch().count();
    if (timer.place < heap_size_ && since_epoch < timer.start.deadline) leave_heap(timer.place);
    if (!timer.pending()) {
        entries_.push_back({{}, &timer});
        timer.place = entries_.size() - 1;
    }
    timer.start = {since_epoch, ++last_order_};
}

void TimerQueue::remove(Item& timer) {
    if (!timer.pending()) return;
    if (timer.place < heap_size_) leave_heap(timer.place);
    put(timer.place, entries_.back());
    entries_.pop_back();
    timer.place = no_place;
}

Time TimerQueue::begin_turn() {
    turn_start_order_ = last_order_;
    while (heap_size_ < entries_.size()) {
        entries_[heap_size_].start = entries_[heap_size_].timer->start;
        sift_up(heap_size_++);
    }
    return empty() ? Time::max() : Time(Duration(entries_[0].start.deadline));
}

TimerQueue::Item* TimerQueue::pop_due(Time now) {
    while (heap_size_ > 0 && entries_[0].start.deadline <= now.time_since_epoch().count()) {
        Item& timer = *entries_[0].timer;
        if (timer.start.order > turn_start_order_) {
            leave_heap(0);
        } else if (timer.start.order == entries_[0].start.order) {
            remove(timer);
            return &timer;
        } else {
            entries_[0].start = timer.start;
            sift_down(0);
        }
    }
    return nullptr;
}

void TimerQueue::leave_heap(std::size_t place) {
    const Entry leaving = entries_[place];
    entries_[place] = entries_[--heap_size_];
    put(heap_size_, leaving);
    sift_down(place);
    sift_up(place);
}

void TimerQueue::put(std::size_t place, const Entry& entry) {
    entries_[place] = entry;
    entry.timer->place = place;
}

void TimerQueue::sift_up(std::size_t place) {
    const Entry entry = entries_[place];
    const auto parent = [&] { return (place - 1) / arity; };
    for (; place > 0 && entry.start < entries_[parent()].start; place = parent())
        put(place, entries_[parent()]);
    put(place, entry);
}

void TimerQueue::sift_down(std::size_t place) {
    const Entry entry = entries_[place];
    while (place * arity + 1 < heap_size_) {
        std::size_t smallest = place * arity + 1;
        const std::size_t end = std::min(smallest + arity, heap_size_);
        for (std::size_t child = smallest + 1; child < end; ++child)
            if (entries_[child].start < entries_[smallest].start) smallest = child;
        if (!(entries_[smallest].start < entry.start)) break;
        put(place, entries_[smallest]);
        place = smallest;
    }
    put(place, entry);
}

}  // namespace ev
