// The timers of a loop as a pure data structure, which takes the time as an argument. In each
// turn its owner calls begin_turn(), then pop_due() until it returns null.
//
// One vector contains a 4-ary heap, followed by the nursery: unsorted entries that the next
// turn merges into the heap. Restarting a timer for a later time leaves its entry out of date
// until the old deadline, so restarting an idle timeout for each byte costs a few stores.
#pragma once

#include "ev/time.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace ev {

class TimerQueue {
    struct DueKey {
        Duration::rep deadline = 0;  // since the clock's epoch
        std::uint64_t order = 0;     // sequence number of the start
        auto operator<=>(const DueKey&) const = default;
    };

public:
    // Must be neither moved nor destroyed while it is pending.
    struct Item {
        bool pending() const { return place != no_place; }
        Time deadline() const { return Time(Duration(key.deadline)); }  // of the last start

        std::function<void()> callback = nullptr;  // called by the loop
        DueKey key = {};                           // changed only by the queue, as `place` is
        std::size_t place = no_place;              // in entries_
    };

    void start(Item& timer, Time deadline);
    void remove(Item& timer);  // `timer` need not be pending
    bool empty() const { return entries_.empty(); }

    // Merges the nursery into the heap. Returns a time before which no timer is due.
    Time begin_turn();
    // Removes and returns the next due timer, or null. Skips timers started in this turn.
    Item* pop_due(Time now);

private:
    static constexpr auto no_place = static_cast<std::size_t>(-1);
    struct Entry {
        DueKey key;
        Item* timer;
    };

    void put(std::size_t place, const Entry& entry);
    void leave_heap(std::size_t place);  // moves the entry to the nursery
    void sift_up(std::size_t place);
    void sift_down(std::size_t place);

    std::vector<Entry> entries_;  // first the heap, then the nursery
    std::size_t heap_size_ = 0;
    std::uint64_t last_order_ = 0;
    std::uint64_t turn_start_order_ = 0;  // last_order_ when this turn began
};

}  // namespace ev
