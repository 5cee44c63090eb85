// The timers of a loop as a pure data structure: it reads no clock, calls nothing back, and is
// told the time, so that tests can assert time without sleeping.
//
// A 4-ary heap with a nursery: an unsorted tail where new timers wait until the next turn
// merges them, by one heapify when they are many.  The nursery is the "reserve" of telescope's
// loop, the stable order libuv's start_id.
//
// What is noted in a timer's slot is the truth, its entry in the heap may lag behind:
// cancelling, and restarting to a later time, touch the slot alone; the entry is corrected or
// dropped when its own time has come.  So an idle timer renewed by each byte costs two stores,
// and at most one turn of the loop for nothing in each of its periods.
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
    void cancel(Id id) { slots_[id].wanted.order = 0; }

    bool pending(Id id) const { return slots_[id].wanted.order != 0; }
    Time deadline(Id id) const { return slots_[id].wanted.deadline; }  // as last started
    std::size_t size() const { return slots_.size() - free_.size(); }  // pending or not

    // Begins a turn: merges the nursery and tells until when no timer comes due; none is
    // pending where it tells nothing.
    std::optional<Time> next();
    // Takes the next timer that is due. One (re)started since the turn began is left for the
    // next turn, whatever its deadline.
    std::optional<Id> pop(Time now);

private:
    struct Start {
        Time deadline{};
        std::uint64_t order = 0;  // among all of the queue; 0: not started
        bool before(const Start& other) const {
            return deadline != other.deadline ? deadline < other.deadline : order < other.order;
        }
    };
    struct Entry {
        Start start;
        Id id;
    };
    struct Slot {
        Start wanted;
        Start held;  // that of its entry, never later than wanted; other entries are dead
    };

    bool correct(Entry& entry);
    void correct_top();
    void merge();
    void drop_top();
    void sift_up(std::size_t place);
    void sift_down(std::size_t place);

    std::vector<Slot> slots_;
    std::vector<Id> free_;        // slots of destroyed timers; these may still have an entry
    std::vector<Entry> entries_;  // first the heap, then the nursery
    std::size_t heap_ = 0;        // the size of the heap
    std::uint64_t started_ = 0;   // the order given last
    std::uint64_t turn_ = 0;      // the order given last when this turn began
};

}  // namespace ev
