#include "ev/timer_queue.hpp"

#include <algorithm>

namespace ev {

namespace {
constexpr std::size_t arity = 4;  // half the levels of a binary heap, siblings side by side
// Up to this many new timers, or a quarter of the heap, are sifted up one by one; for more,
// rebuilding the heap is cheaper.
constexpr std::size_t few = 8;
}  // namespace

TimerQueue::Id TimerQueue::create() {
    if (free_.empty()) {
        slots_.emplace_back();
        return slots_.size() - 1;
    }
    const Id id = free_.back();
    free_.pop_back();
    slots_[id].deadline = Time{};
    return id;
}

void TimerQueue::destroy(Id id) {
    cancel(id);
    free_.push_back(id);
}

void TimerQueue::start(Id id, Time deadline) {
    Slot& slot = slots_[id];
    if (slot.order == 0) ++pending_;
    slot.deadline = deadline;
    slot.order = ++started_;
    if (slot.entry != 0 && slot.key <= deadline) return;
    slot.key = deadline;
    slot.entry = slot.order;
    entries_.push_back({deadline, slot.order, id});
    if (entries_.size() <= 2 * slots_.size() + few) return;
    drop_dead(0);  // such as come from restarts to an earlier time, again and again
    heapify();
}

void TimerQueue::cancel(Id id) {
    if (pending(id)) --pending_;
    slots_[id].order = 0;
}

std::optional<Time> TimerQueue::next() {
    turn_ = started_;
    merge();
    if (!settle()) return std::nullopt;
    return entries_[0].deadline;
}

std::optional<TimerQueue::Id> TimerQueue::pop(Time now) {
    while (settle() && entries_[0].deadline <= now) {
        const Entry top = entries_[0];
        drop_top();
        if (top.order <= turn_) {
            slots_[top.id].entry = 0;
            cancel(top.id);
            return top.id;
        }
        entries_.push_back(top);
    }
    return std::nullopt;
}

// Makes an entry tell what its slot does; false if it stands for nothing any more.
bool TimerQueue::correct(Entry& entry) {
    Slot& slot = slots_[entry.id];
    if (slot.entry != entry.order) return false;
    slot.entry = slot.order;
    slot.key = slot.deadline;
    entry = {slot.deadline, slot.order, entry.id};
    return slot.order != 0;
}

// Sees to it that the top of the heap is correct; false if the heap is empty.
bool TimerQueue::settle() {
    while (heap_ > 0) {
        Entry& top = entries_[0];
        if (slots_[top.id].order == top.order) return true;
        correct(top) ? sift_down(0) : drop_top();
    }
    return false;
}

void TimerQueue::merge() {
    drop_dead(heap_);
    const std::size_t fresh = entries_.size() - heap_;
    if (fresh > few && fresh > heap_ / 4) return heapify();
    while (heap_ < entries_.size()) sift_up(heap_++);
}

void TimerQueue::drop_dead(std::size_t from) {
    const auto first = entries_.begin() + static_cast<std::ptrdiff_t>(from);
    const auto dead = [this](Entry& entry) { return !correct(entry); };
    entries_.erase(std::remove_if(first, entries_.end(), dead), entries_.end());
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
        if (!entry.before(entries_[parent])) break;
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
            if (entries_[child].before(entries_[least])) least = child;
        if (!entries_[least].before(entry)) break;
        entries_[place] = entries_[least];
        place = least;
    }
    entries_[place] = entry;
}

void TimerQueue::heapify() {
    heap_ = entries_.size();
    for (std::size_t place = (heap_ + arity - 2) / arity; place-- > 0;) sift_down(place);
}

}  // namespace ev
