// The timers of a loop as a pure data structure: it reads no clock, calls nothing back, and is
// told the time, so that tests can assert time without sleeping.
//
// A 4-ary heap with a nursery: an unsorted tail where new timers wait until the next turn
// merges them, by one heapify when they are many.  The nursery is the "reserve" of telescope's
// loop, the stable order libuv's start_id.
//
// A restart to a later time is noted in the timer alone; its entry in the heap, then too early,
// is corrected when it comes to the top.  So an idle timer renewed by each byte is nearly free.
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

// What a queue holds; changed by the queue alone. While it is pending it must not move or end.
struct Timed {
    static constexpr std::size_t nowhere = SIZE_MAX;
    bool pending() const { return place != nowhere; }

    Time deadline{};              // as last started, also after it has fired
    std::uint64_t order = 0;      // of being started, among all of the queue
    std::size_t place = nowhere;  // of its entry
};

class TimerQueue {
public:
    // (Re)starts the timer. Equal deadlines come due in the order of these calls.
    void start(Timed& timer, Time deadline);
    void cancel(Timed& timer);
    bool empty() const { return entries_.empty(); }

    // Begins a turn: merges the nursery and tells the earliest deadline.
    std::optional<Time> next();
    // Takes the next timer that is due; null if there is none. One (re)started since the turn
    // began is left for the next turn, whatever its deadline.
    Timed* pop(Time now);

private:
    // Never later than what its timer tells, so that the heap may be trusted with old ones.
    struct Entry {
        Time deadline;
        std::uint64_t order;
        Timed* timer;
        bool before(const Entry& other) const {
            return deadline != other.deadline ? deadline < other.deadline : order < other.order;
        }
    };

    void append(Timed& timer);
    void put(std::size_t place, const Entry& entry);
    void merge();
    bool correct_top();
    void sift_up(std::size_t place);
    void sift_down(std::size_t place);

    std::vector<Entry> entries_;  // one per pending timer: first the heap, then the nursery
    std::size_t heap_ = 0;        // the size of the heap
    std::uint64_t started_ = 0;   // the order given last
    std::uint64_t turn_ = 0;      // the order given last when this turn began
};

}  // namespace ev
