// The seam behind which the loop waits: one readiness call of the system per implementation.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <string_view>
#include <vector>

struct pollfd;

namespace ev {

// What a descriptor is watched for, or what is told about it: a set of poll(2)'s bits.
using Events = unsigned;
inline constexpr Events none = 0;
inline constexpr Events readable = 1;
inline constexpr Events writable = 4;
inline constexpr Events error = 8;    // told, never asked for: also an invalid descriptor
inline constexpr Events hangup = 16;  // told, asked for or not: the other end is gone

// Stands for any negative number, which poll(2) would ignore: no process has so many
// descriptors.
inline constexpr int invalid_descriptor = std::numeric_limits<int>::max();

struct Watched {
    int fd;
    Events interest = none;  // changed by Waiter::set alone
    std::size_t place = 0;   // in the waiter's list, while `interest` is not none
};

struct Ready {
    Watched* watched;
    Events events;
};

class Waiter {
public:
    virtual ~Waiter() = default;
    // Changes the interest. Without any, the descriptor is out of the set and costs nothing.
    void set(Watched& watched, Events interest);
    std::size_t size() const { return watched_.size(); }
    // What both then hold is for the successor to change; where it throws, for this one.
    void hand_over(Waiter& successor) const;
    // Waits for at most `milliseconds` (-1: without limit) and appends what is ready.
    // An interruption by a signal is an ordinary return with nothing ready.
    virtual void wait(int milliseconds, std::vector<Ready>& ready) = 0;

protected:
    // Before the interest and the list change. Where it throws, they stay as they are.
    virtual void apply(Watched& watched, Events before, Events interest) = 0;

    std::vector<Watched*> watched_;  // without holes: the last fills the place of a removed one
};

// By name: "poll" (or none), "select" or, on Linux, "epoll". Throws std::invalid_argument.
std::unique_ptr<Waiter> make_waiter(std::string_view name);
std::unique_ptr<Waiter> make_select_waiter();
std::unique_ptr<Waiter> make_epoll_waiter();
// By poll(2), or a call that speaks as it does and takes descriptors up to `highest` and the
// invalid one.
using PollCall = int (*)(pollfd* polled, std::size_t count, int milliseconds);
std::unique_ptr<Waiter> make_poll_waiter(PollCall call, int highest);

}  // namespace ev
