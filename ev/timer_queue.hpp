// The timers of a loop as a pure data structure: it reads no clock, calls nothing back, and is
// told the time, so that tests can assert time without sleeping.
//
// A 4-ary heap with a nursery: an unsorted tail where new timers wait until the next turn
// merges them, by one heapify when they are many.  The nursery is the "reserve" of telescope's
// loop, the stable order libuv's start_id.
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
    using Id = std::size_t;  // of a timer from create() to destroy()
    static constexpr Id none = SIZE_MAX;
    Id create();
    void destroy(Id id);

    // (Re)starts the timer. Equal deadlines come due in the order of these calls.
    void start(Id id, Time deadline);
    void cancel(Id id);

    bool pending(Id id) const { return slots_[id].order != 0; }
    Time deadline(Id id) const { return slots_[id].deadline; }  // as last started
    bool empty() const { return pending_ == 0; }

    // Begins a turn: merges the nursery and tells the earliest deadline.
    std::optional<Time> next();
    // Takes the next timer that is due. One (re)started since the turn began is left for the
    // next turn, whatever its deadline.
    std::optional<Id> pop(Time now);

private:
    struct Entry {
        Time deadline;
        std::uint64_t order;
        Id id;
        bool before(const Entry& other) const {
            return deadline != other.deadline ? deadline < other.deadline : order < other.order;
        }
    };
    struct Slot {
        Time deadline{};
        std::uint64_t order = 0;  // of being started, among all of the queue; 0: not pending
        Time key{};               // the entry's deadline, never later than `deadline`
        std::uint64_t entry = 0;  // the order of its entry, others are dead; 0: it has none
    };

    bool correct(Entry& entry);
    bool settle();
    void merge();
    void drop_dead(std::size_t from);
    void drop_top();
    void sift_up(std::size_t place);
    void sift_down(std::size_t place);
    void heapify();

    std::vector<Slot> slots_;
    std::vector<Id> free_;        // slots of destroyed timers; these may still have an entry
    std::vector<Entry> entries_;  // first the heap, then the nursery
    std::size_t heap_ = 0;        // the size of the heap
    std::size_t pending_ = 0;     // timers
    std::uint64_t started_ = 0;   // the order given last
    std::uint64_t turn_ = 0;      // the order given last when this turn began
};

}  // namespace ev
