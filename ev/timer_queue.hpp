// The timers of a loop as a pure data structure: it reads no clock, calls nothing back, and
// takes the time as an argument, so that tests can assert time without sleeping.
//
// Each turn of its user is: begin_turn(), then pop_due() until it returns null.
//
// One vector contains a 4-ary heap and, behind it, the nursery: unsorted entries that the next
// turn merges into the heap, by one heapify if they are many. An entry that leaves the heap
// becomes the heap's last one, the heap ends before it, and so it is in the nursery.
//
// A timer has at most one entry and knows its place. The timer is right, and its entry may lag
// behind: cancelling a timer, and restarting it to a later time, change the timer alone; the
// entry is refreshed or dropped when its own time has come.  So an idle timer that is restarted
// by each byte costs two stores, and in each of its periods at most one turn for nothing.
#pragma once

#include "ev/time.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace ev {

class TimerQueue {
    struct Start {
        Time deadline{};
        std::uint64_t order = 0;  // among all starts of the queue; 0: not started
        auto operator<=>(const Start&) const = default;
    };

public:
    // A timer. It must not move, and be removed before it is destroyed.
    class Item {
    public:
        std::function<void()> callback = nullptr;  // for the user to call

        void cancel() { start_.order = 0; }
        bool pending() const { return start_.order != 0; }
        Time deadline() const { return start_.deadline; }  // as last started

    private:
        friend class TimerQueue;
        Start start_;
        std::size_t place_ = no_place;
    };

    // (Re)starts the timer. Equal deadlines come due in the order of these calls.
    void start(Item& timer, Time deadline);
    void remove(Item& timer);

    // Merges the nursery and returns a time before which no timer comes due.
    Time begin_turn();
    bool empty() const { return entries_.empty(); }  // as the turn began: nothing is pending
    // Removes and returns the next timer that is due, or returns null. A timer that was started
    // since the turn began is left for the next turn, whatever its deadline.
    Item* pop_due(Time now);

private:
    static constexpr auto no_place = static_cast<std::size_t>(-1);
    struct Entry {
        Start start;
        Item* timer;
    };

    void put(std::size_t place, const Entry& entry);
    void leave_heap(std::size_t place);
    void sift_up(std::size_t place);
    void sift_down(std::size_t place);

    std::vector<Entry> entries_;  // first the heap, then the nursery
    std::size_t heap_size_ = 0;
    std::uint64_t last_order_ = 0;   // given to a timer
    std::uint64_t turns_order_ = 0;  // the last one when this turn began
};

}  // namespace ev
