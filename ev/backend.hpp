// The seam behind which the loop waits: each backend is one readiness call of the system.
#pragma once

#include "ev/time.hpp"

#include <poll.h>

#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <string_view>
#include <system_error>
#include <vector>

namespace ev {

// The events that a descriptor is watched for, or that are reported: a set of poll(2)'s bits.
using Events = unsigned;
inline constexpr Events none = 0;
inline constexpr Events readable = POLLIN;
inline constexpr Events writable = POLLOUT;
inline constexpr Events error = POLLERR;   // reported, never wanted: also an invalid descriptor
inline constexpr Events hangup = POLLHUP;  // reported in any case: the other end is gone

// Stands for any negative number, which poll(2) would ignore. No process has so many
// descriptors.
inline constexpr int invalid_descriptor = std::numeric_limits<int>::max();

// A watched descriptor. Backends keep its address while it has an interest: it must not move.
struct Registration {
    std::function<void(Events)> callback = nullptr;  // for the loop to call
    int fd = invalid_descriptor;
    Events interest = none;  // changed by Backend::set() alone
    std::size_t place = 0;   // in the backend's list, while there is an interest
};

struct Readiness {
    Registration* registration;
    Events events;
};

// Waits by poll(2), which every system has. The other backends (ev/backends) derive from this
// one, and use its list of what is watched unless they hand everything on to another backend.
class Backend {
public:
    virtual ~Backend() = default;

    // Changes the interest. A registration without any is forgotten, which never fails.
    // Otherwise this throws std::system_error if the system refuses the descriptor, or
    // std::bad_alloc, and then nothing has changed.
    virtual void set(Registration& registration, Events interest);
    // Waits for at most `longest` (max(): without limit; zero or less: not at all) and appends
    // what is ready. It may return earlier without readiness, as for a signal, but never so
    // often that the loop would be busy.
    virtual void wait(Duration longest, std::vector<Readiness>& ready);
    // See Loop::set_busy(). This one always sleeps.
    virtual void set_busy(bool) {}

protected:
    // Called before the list and the registration change. If this throws, all stays as it is.
    virtual void update_kernel(Registration& registration, Events interest);

    // Parallel and without holes, because poll(2) takes time for each: the last of them takes
    // the place of one that is removed.
    std::vector<Registration*> registrations_;
    std::vector<pollfd> polled_;
};

// By name, see Loop::Loop(); the clock is the loop's.
std::unique_ptr<Backend> make_backend(std::string_view name, ReadClock clock = Clock::now);

// Linux ends a wait late by up to a thousandth of it, or a two-hundredth if the process has a
// lower priority. So a wait of 20 ms or more is made shorter by more than that, and the next
// turn waits for the rest. It is also made in whole milliseconds, because calls that take
// nanoseconds cost more.
bool is_fine(Duration longest);         // to be waited in nanoseconds, if the system can
int milliseconds_of(Duration longest);  // otherwise; -1: without limit; rounded up if fine

[[noreturn]] inline void fail(int reason, const char* call) {
    throw std::system_error(reason, std::generic_category(), call);
}

}  // namespace ev
