#include "ev/timer_queue.hpp"

#include <algorithm>

namespace ev {

static constexpr std::size_t arity = 4;  // half the levels of a binary heap

void TimerQueue::start(Item& timer, Time deadline) {
    // At least 0, so that the difference of two deadlines can't overflow.
    const auto since_epoch = std::max(deadline, Time{}).time_since_epoch().count();
    if (timer.place < heap_size_ && since_epoch < timer.key.deadline) leave_heap(timer.place);
    if (!timer.pending()) {
        entries_.push_back({{}, &timer});
        timer.place = entries_.size() - 1;
    }
    timer.key = {since_epoch, ++last_order_};
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
        entries_[heap_size_].key = entries_[heap_size_].timer->key;
        sift_up(heap_size_++);
    }
    return empty() ? Time::max() : Time(Duration(entries_[0].key.deadline));
}

TimerQueue::Item* TimerQueue::pop_due(Time now) {
    while (heap_size_ > 0 && entries_[0].key.deadline <= now.time_since_epoch().count()) {
        Item& timer = *entries_[0].timer;
        if (timer.key.order > turn_start_order_) {
            leave_heap(0);
        } else if (timer.key.order == entries_[0].key.order) {
            remove(timer);
            return &timer;
        } else {
            entries_[0].key = timer.key;
            sift_down(0);
        }
    }
    return nullptr;
}

void TimerQueue::leave_heap(std::size_t place) {
    const Entry entry = entries_[place];
    entries_[place] = entries_[--heap_size_];
    put(heap_size_, entry);
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
    for (; place > 0 && entry.key < entries_[parent()].key; place = parent())
        put(place, entries_[parent()]);
    put(place, entry);
}

void TimerQueue::sift_down(std::size_t place) {
    const Entry entry = entries_[place];
    while (place * arity + 1 < heap_size_) {
        std::size_t smallest = place * arity + 1;
        const std::size_t end = std::min(smallest + arity, heap_size_);
        for (std::size_t child = smallest + 1; child < end; ++child)
            if (entries_[child].key < entries_[smallest].key) smallest = child;
        if (!(entries_[smallest].key < entry.key)) break;
        put(place, entries_[smallest]);
        place = smallest;
    }
    put(place, entry);
}

}  // namespace ev
