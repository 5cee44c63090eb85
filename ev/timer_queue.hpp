// The timers of a loop as a pure data structure: it reads no clock, calls nothing back, and
// takes the time as an argument, so that tests can assert time without sleeping.
//
// Each turn of its user is: begin_turn(), then pop_due() until it returns null, then sweep().
//
// It is a 4-ary heap with a nursery: an unsorted tail where new timers wait until the next turn
// merges them, by one heapify when they are many.
//
// A timer's slot is right, and its entry in the heap may lag behind: cancelling a timer, and
// restarting it to a later time, change the slot alone; the entry is refreshed or dropped when
// its own time has come.  So an idle timer that is restarted by each byte costs two stores, and
// in each of its periods at most one turn of the loop for nothing.
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
        std::uint64_t order = 0;  // of starting, in all of the queue; 0: not started
        bool before(const Start& other) const {
            return deadline != other.deadline ? deadline < other.deadline : order < other.order;
        }
    };

public:
    // A timer. It fills one line of the processor's cache, with all that firing it needs.
    class alignas(64) Slot {
    public:
        std::function<void()> callback;

        void cancel() { current_.order = 0; }
        bool pending() const { return current_.order != 0; }
        Time deadline() const { return current_.deadline; }  // as last started

    private:
        friend class TimerQueue;
        Start current_;
        Start in_heap_;  // of its entry, never later than current_; other entries are dead
    };

    // Up to `few` new timers, or a quarter of the heap, are sifted up one by one; for more,
    // rebuilding the heap is cheaper.
    explicit TimerQueue(std::size_t few = 8) : few_(few) {}

    // A timer at rest; the callback is for the user to call. It stays where it is until
    // destroy(), which can't fail and leaves the callback to the next sweep().
    Slot* create(std::function<void()> callback = {});
    void destroy(Slot* timer);
    void sweep();  // not for inside a callback
    std::size_t size() const { return slots_.size() - free_.size(); }  // pending or not

    // (Re)starts the timer. Equal deadlines come due in the order of these calls.
    void start(Slot& timer, Time deadline);

    // Merges the nursery and returns a time before which no timer comes due.
    Time begin_turn();
    bool none_pending() const { return heap_size_ == 0; }  // when the turn began
    // Removes and returns the next timer that is due, or returns null. A timer that was started
    // since the turn began is left for the next turn, whatever its deadline.
    Slot* pop_due(Time now);

private:
    struct Entry {
        Start start;
        Slot* timer;
    };

    static bool refresh(Entry& entry);
    void refresh_top();
    void merge();
    void drop_top();
    void sift_up(std::size_t place);
    void sift_down(std::size_t place);

    const std::size_t few_;
    std::deque<Slot> slots_;
    std::vector<Slot*> free_;     // of destroyed timers; these may still have an entry
    std::size_t swept_ = 0;       // the first ones of free_, as many as this, have no callback
    std::vector<Entry> entries_;  // first the heap, then the nursery
    std::size_t heap_size_ = 0;
    std::uint64_t last_order_ = 0;   // given to a timer
    std::uint64_t turns_order_ = 0;  // the last one when this turn began
};

}  // namespace ev
