// The seam behind which the loop waits: one readiness call of the system per implementation.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace ev {

// What a descriptor is watched for, or what is told about it: a set of these bits.
using Events = unsigned;
inline constexpr Events none = 0;
inline constexpr Events readable = 1;
inline constexpr Events writable = 2;
inline constexpr Events hangup = 4;  // told, never asked for: the other end is gone
inline constexpr Events error = 8;   // told, never asked for: also an invalid descriptor

struct Watched {
    int fd;
    Events interest = none;  // of `readable` and `writable`; changed by Waiter::set alone
    std::size_t place = 0;   // the waiter's own note, meaningful while `interest` is not none
};

struct Ready {
    Watched* watched;
    Events events;
};

class Waiter {
public:
    virtual ~Waiter() = default;
    // Changes the interest. Without any, the descriptor is out of the set and costs nothing.
    virtual void set(Watched& watched, Events interest) = 0;
    // Waits for at most `milliseconds` (-1: without limit) and appends what is ready.
    // An interruption by a signal is an ordinary return with nothing ready.
    virtual void wait(int milliseconds, std::vector<Ready>& ready) = 0;
};

std::unique_ptr<Waiter> make_poll_waiter();

}  // namespace ev
