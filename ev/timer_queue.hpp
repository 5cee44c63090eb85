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
#include <deque>
#include <functional>
#include <vector>

namespace ev {

using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;
using Duration = Clock::duration;

class TimerQueue {
    struct Start {
        Time deadline{};
        std::uint64_t order = 0;  // among all of the queue; 0: not started
        bool before(const Start& other) const {
            return deadline != other.deadline ? deadline < other.deadline : order < other.order;
        }
    };

public:
    // A timer. It fills one line of the processor's cache, with all that firing it needs.
    class alignas(64) Slot {
    public:
        std::function<void()> callback;

        void cancel() { wanted_.order = 0; }
        bool pending() const { return wanted_.order != 0; }
        Time deadline() const { return wanted_.deadline; }  // as last started

    private:
        friend class TimerQueue;
        Start wanted_;
        Start held_;  // that of its entry, never later than wanted; other entries are dead
    };

    // A timer at rest; the callback is what its owner will call. Stays where it is until
    // destroy(), which can't fail and leaves the callback to the next sweep().
    Slot* create(std::function<void()> callback = {});
    void destroy(Slot* timer);
    void sweep();  // not for inside a callback
    std::size_t size() const { return slots_.size() - free_.size(); }  // pending or not

    // (Re)starts the timer. Equal deadlines come due in the order of these calls.
    void start(Slot& timer, Time deadline);

    // Begins a turn: merges the nursery and tells until when no timer comes due.
    Time next();
    bool none_pending() const { return heap_ == 0; }  // when the turn began
    // Takes the next timer that is due, if there is one. One (re)started since the turn began
    // is left for the next turn, whatever its deadline.
    Slot* pop(Time now);

private:
    struct Entry {
        Start start;
        Slot* timer;
    };

    static bool correct(Entry& entry);
    void correct_top();
    void merge();
    void drop_top();
    void sift_up(std::size_t place);
    void sift_down(std::size_t place);

    std::deque<Slot> slots_;
    std::vector<Slot*> free_;     // of destroyed timers; these may still have an entry
    std::size_t swept_ = 0;       // so many of the free ones, the first, have no callback
    std::vector<Entry> entries_;  // first the heap, then the nursery
    std::size_t heap_ = 0;        // the size of the heap
    std::uint64_t started_ = 0;   // the order given last
    std::uint64_t turn_ = 0;      // the order given last when this turn began
};

}  // namespace ev
