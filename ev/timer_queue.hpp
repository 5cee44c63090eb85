// The timers of a loop as a pure data structure: it reads no clock, calls nothing back, and is
// told the time, so that time can be asserted in tests without sleeping.
//
// A 4-ary heap of 16-byte entries with a nursery: an unsorted tail where new timers wait until
// the next turn merges them, which is one heapify when they are many.  The idea of the nursery
// is that of the "reserve" in telescope's loop; the stable order is that of libuv's start_id.
//
// What is noted in a timer's slot is the truth, its entry in the heap may lag behind:
// cancelling, and restarting to a later time, touch the slot alone; the entry is corrected or
// dropped when it comes to the top.  So an idle timer renewed by each byte costs two stores.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace ev {

using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;
using Duration = Clock::duration;

class TimerQueue {
public:
    using Id = std::uint32_t;

    // A test starts the order of creation just below its limit, to see it renumbered.
    explicit TimerQueue(std::uint32_t first_order = 1) : counter_(first_order - 1) {}

    Id create();
    void destroy(Id id);

    // (Re)starts the timer. Equal deadlines come due in the order of these calls.
    void start(Id id, Time deadline);
    void cancel(Id id);

    bool pending(Id id) const { return slots_[id].order != 0; }
    // The last deadline it was started with, also after it has fired or was cancelled.
    Time deadline(Id id) const { return slots_[id].deadline; }
    // Timers now pending.
    std::size_t size() const { return pending_; }

    // Begins a turn: merges the nursery and tells the earliest deadline.
    std::optional<Time> next();
    // Takes the next timer that is due, which is then no longer pending. One started since the
    // turn began is left for the next turn, whatever its deadline.
    std::optional<Id> pop(Time now);

private:
    struct Entry {
        Time deadline;
        std::uint32_t order;
        Id id;
        bool before(const Entry& other) const {
            return deadline != other.deadline ? deadline < other.deadline : order < other.order;
        }
    };
    struct Slot {
        Time deadline;            // as last started
        Time key;                 // the entry's deadline; never later than `deadline`
        std::uint32_t order = 0;  // as last started; 0: not pending
        std::uint32_t entry = 0;  // the order that marks this slot's one live entry; 0: none
    };

    bool alive(const Entry& entry) const { return slots_[entry.id].entry == entry.order; }
    bool correct(Entry& entry);
    void orphan(Slot& slot);
    bool settle();
    void merge();
    void drop_top();
    void sift_up(std::size_t place);
    void sift_down(std::size_t place);
    void heapify();
    void drop_orphans();
    void renumber();

    std::vector<Slot> slots_;
    std::vector<Id> free_;
    std::vector<Entry> entries_;  // [0, heap_) is the heap, the rest the nursery
    std::size_t heap_ = 0;
    std::size_t pending_ = 0;
    std::size_t orphans_ = 0;  // entries that stand for no slot any more
    std::uint32_t counter_;    // the order given last
    std::uint32_t turn_ = 0;   // the order given last when this turn began
};

}  // namespace ev
