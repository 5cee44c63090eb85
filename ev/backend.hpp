// The interface through which the loop waits. Each backend uses one readiness call of the
// system.
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

// Events to watch for, or reported events: a set of poll(2)'s bits.
using Events = unsigned;
inline constexpr Events none = 0;
inline constexpr Events readable = POLLIN;
inline constexpr Events writable = POLLOUT;
inline constexpr Events error = POLLERR;   // only reported; also for an invalid descriptor
inline constexpr Events hangup = POLLHUP;  // the other end is gone; always reported

// Replaces any negative number, which poll(2) would ignore. No descriptor has this number.
inline constexpr int invalid_descriptor = std::numeric_limits<int>::max();

// A watched descriptor. It must not move while it has an interest, because backends store its
// address.
struct Registration {
    std::function<void(Events)> callback = nullptr;  // called by the loop
    int fd = invalid_descriptor;
    Events interest = none;  // changed only by Backend::set()
    std::size_t place = 0;   // index in the backend's list, while there is an interest
};

struct Readiness {
    Registration* registration;
    Events events;
};

// Waits with poll(2), which every system has. The other backends (ev/backends) derive from
// this one. They use its list of registrations, or delegate everything to another backend.
class Backend {
public:
    virtual ~Backend() = default;

    // Changes the interest. `none` removes the registration, and never fails. Otherwise this
    // throws std::system_error if the system refuses the descriptor, or std::bad_alloc; then
    // nothing has changed.
    virtual void set(Registration& registration, Events interest);
    // Waits for at most `longest` (max(): without limit; zero or less: not at all) and appends
    // the ready registrations. It may return early without any, for example after a signal, but
    // not so often that the loop becomes busy.
    virtual void wait(Duration longest, std::vector<Readiness>& ready);
    // See Loop::set_busy(). The poll backend always sleeps.
    virtual void set_busy(bool) {}

protected:
    // Called before the list and the registration change. If it throws, neither changes.
    virtual void update_kernel(Registration& registration, Events interest);

    // Parallel arrays. The last entry replaces a removed one, because poll(2) spends time even
    // on a gap.
    std::vector<Registration*> registrations_;
    std::vector<pollfd> polled_;
};

// Makes a backend by its name (see Loop::Loop()). The clock is the loop's.
std::unique_ptr<Backend> make_backend(std::string_view name, ReadClock clock = Clock::now);

// Linux ends a wait late by up to 0.1 % of its length, or 0.5 % if the process has a lower
// priority. So a wait of 20 ms or more is shortened by more than that, and the next turn waits
// for the rest. It also uses whole milliseconds, because calls that take nanoseconds cost
// more.
bool is_short(Duration longest);        // wait in nanoseconds if possible
int milliseconds_of(Duration longest);  // -1: no limit; rounded up below 20 ms

[[noreturn]] inline void fail(int reason, const char* call) {
    throw std::system_error(reason, std::generic_category(), call);
}

}  // namespace ev
