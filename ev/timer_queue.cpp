#include "ev/timer_queue.hpp"

#include <algorithm>
#include <limits>

namespace ev {

namespace {
// Children per node: four 16-byte entries fill one cache line.
constexpr std::size_t arity = 4;
// Up to this many new timers, or a quarter of the heap, are sifted up one by one; for more,
// rebuilding the heap is cheaper.
constexpr std::size_t few = 8;
}  // namespace

TimerQueue::Id TimerQueue::create() {
    if (free_.empty()) {
        slots_.emplace_back();
        return static_cast<Id>(slots_.size() - 1);
    }
    const Id id = free_.back();
    free_.pop_back();
    return id;
}

void TimerQueue::destroy(Id id) {
    cancel(id);
    orphan(slots_[id]);
    free_.push_back(id);
}

void TimerQueue::start(Id id, Time deadline) {
    if (counter_ == std::numeric_limits<std::uint32_t>::max()) renumber();
    Slot& slot = slots_[id];
    if (slot.order == 0) ++pending_;
    slot.deadline = deadline;
    slot.order = ++counter_;
    if (slot.entry != 0 && slot.key <= deadline) return;
    orphan(slot);
    slot.key = deadline;
    slot.entry = slot.order;
    entries_.push_back({deadline, slot.order, id});
}

void TimerQueue::cancel(Id id) {
    if (!pending(id)) return;
    slots_[id].order = 0;
    --pending_;
}

std::optional<Time> TimerQueue::next() {
    merge();
    turn_ = counter_;
    if (!settle()) return std::nullopt;
    return entries_[0].deadline;
}

std::optional<TimerQueue::Id> TimerQueue::pop(Time now) {
    while (settle() && entries_[0].deadline <= now) {
        const Entry top = entries_[0];
        drop_top();
        if (top.order > turn_) {
            entries_.push_back(top);
            continue;
        }
        slots_[top.id].entry = 0;
        cancel(top.id);
        return top.id;
    }
    return std::nullopt;
}

// Makes a live entry tell what its slot does; false if its timer is cancelled.
bool TimerQueue::correct(Entry& entry) {
    Slot& slot = slots_[entry.id];
    slot.entry = slot.order;
    if (slot.order == 0) return false;
    slot.key = slot.deadline;
    entry = {slot.deadline, slot.order, entry.id};
    return true;
}

// The slot's entry, if any, stands for nothing from now on.
void TimerQueue::orphan(Slot& slot) {
    if (slot.entry == 0) return;
    slot.entry = 0;
    if (++orphans_ > 64 && orphans_ > entries_.size() / 2) drop_orphans();
}

// Sees to it that the top of the heap is live and tells the truth; false if the heap is empty.
bool TimerQueue::settle() {
    while (heap_ > 0) {
        Entry& top = entries_[0];
        if (!alive(top)) {
            --orphans_;
            drop_top();
        } else if (slots_[top.id].order == top.order) {
            return true;
        } else if (correct(top)) {
            sift_down(0);
        } else {
            drop_top();
        }
    }
    return false;
}

void TimerQueue::merge() {
    const auto nursery = entries_.begin() + static_cast<std::ptrdiff_t>(heap_);
    const auto gone = [this](Entry& entry) {
        if (alive(entry)) return !correct(entry);
        --orphans_;
        return true;
    };
    entries_.erase(std::remove_if(nursery, entries_.end(), gone), entries_.end());
    const std::size_t fresh = entries_.size() - heap_;
    if (fresh > few && fresh > heap_ / 4) return heapify();
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
    if (heap_ < 2) return;
    for (std::size_t place = (heap_ - 2) / arity + 1; place-- > 0;) sift_down(place);
}

// Orphans come from timers destroyed, or restarted to an earlier time, again and again: this
// keeps the entries within twice what the live ones need.
void TimerQueue::drop_orphans() {
    const auto dead = [this](const Entry& entry) { return !alive(entry); };
    entries_.erase(std::remove_if(entries_.begin(), entries_.end(), dead), entries_.end());
    orphans_ = 0;
    heapify();
}

// The 32-bit order has run out: the pending timers get the lowest ones, in the same sequence.
void TimerQueue::renumber() {
    entries_.clear();
    for (Id id = 0; id < slots_.size(); ++id) {
        slots_[id].entry = 0;
        if (pending(id)) entries_.push_back({slots_[id].deadline, slots_[id].order, id});
    }
    std::sort(entries_.begin(), entries_.end(),
              [](const Entry& a, const Entry& b) { return a.order < b.order; });
    counter_ = 0;
    std::uint32_t turn = 0;
    for (Entry& entry : entries_) {
        if (entry.order <= turn_) ++turn;
        entry.order = ++counter_;
        slots_[entry.id] = {entry.deadline, entry.deadline, entry.order, entry.order};
    }
    turn_ = turn;
    orphans_ = 0;
    heapify();
}

}  // namespace ev
