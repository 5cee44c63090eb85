#include "ev/timer_queue.hpp"

#include <algorithm>

namespace ev {

static constexpr std::size_t arity = 4;  // half the levels of a binary heap

void TimerQueue::start(Item& timer, Time deadline) {
    // At least 0, so that the difference of two deadlines can't overflow.
    const auto since_epoch = std::max(deadline, Time{}).time_since_epoch().count();
    if (timer.place_ == no_place) {
        entries_.push_back({{}, &timer});
        timer.place_ = entries_.size() - 1;
    } else if (since_epoch < timer.start_.deadline && timer.place_ < heap_size_) {
        leave_heap(timer.place_);
    }
    timer.start_ = {since_epoch, ++last_order_};
}

void TimerQueue::remove(Item& timer) {
    if (timer.place_ == no_place) return;
    if (timer.place_ < heap_size_) leave_heap(timer.place_);
    put(timer.place_, entries_.back());
    entries_.pop_back();
    timer.place_ = no_place;
}

Time TimerQueue::begin_turn() {
    turn_start_order_ = last_order_;
    for (std::size_t place = entries_.size(); place-- > heap_size_;) {
        Item& timer = *entries_[place].timer;
        entries_[place].start = timer.start_;
        if (!timer.pending()) remove(timer);
    }
    if (entries_.size() > 8 + heap_size_ + heap_size_ / 4) {  // rebuilding is cheaper
        heap_size_ = entries_.size();
        for (std::size_t place = heap_size_ / arity + 1; place-- > 0;) sift_down(place);
    }
    while (heap_size_ < entries_.size()) sift_up(heap_size_++);
    while (!empty() && !entries_[0].timer->pending()) remove(*entries_[0].timer);
    return empty() ? Time::max() : Time(Duration(entries_[0].start.deadline));
}

TimerQueue::Item* TimerQueue::pop_due(Time now) {
    while (heap_size_ > 0 && entries_[0].start.deadline <= now.time_since_epoch().count()) {
        Item& timer = *entries_[0].timer;
        if (timer.pending() && timer.start_.order != entries_[0].start.order) {
            entries_[0].start = timer.start_;
            sift_down(0);
            continue;
        }
        leave_heap(0);
        if (!timer.pending() || timer.start_.order > turn_start_order_) continue;
        timer.cancel();
        return &timer;
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
    entry.timer->place_ = place;
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
