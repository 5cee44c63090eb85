// The interface through which the loop waits, and its implementation with poll(2).
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

// A set of poll(2)'s bits, for the events to watch for or the events that were reported.
using Events = unsigned;
inline constexpr Events none = 0;
inline constexpr Events readable = POLLIN;
inline constexpr Events writable = POLLOUT;
inline constexpr Events error = POLLERR;   // or an invalid descriptor; need not be requested
inline constexpr Events hangup = POLLHUP;  // need not be requested

// Replaces a negative descriptor, which poll(2) would ignore. No descriptor has this number.
inline constexpr int invalid_descriptor = std::numeric_limits<int>::max();

// A watched descriptor. Must not move while it has an interest.
struct Registration {
    std::function<void(Events)> callback = nullptr;  // called by the loop
    int fd = invalid_descriptor;
    Events interest = none;  // changed only by Backend::set()
    std::size_t place = 0;   // index in the backend's lists; unused if the interest is `none`
};

struct Readiness {
    Registration* registration;
    Events events;
};

// Waits with poll(2). The other backends (ev/backends) derive from it.
class Backend {
public:
    virtual ~Backend() = default;

    // Setting `none` removes the registration and never fails. Any other interest throws
    // std::system_error if the system refuses the descriptor. A failed call changes nothing.
    virtual void set(Registration& registration, Events interest);
    // Waits for `max_wait` at most, which some systems round up to milliseconds. Zero or less
    // means not to wait, and max() means no limit. Adds the ready registrations to `ready`,
    // which must be empty. May return early without any, for example after a signal.
    virtual void wait(Duration max_wait, std::vector<Readiness>& ready);

protected:
    // Informs the kernel, or checks its limits, before the lists and the registration change.
    // If it throws, they stay unchanged.
    virtual void update_kernel(Registration& registration, Events interest);

    // Parallel arrays. The last entry takes the place of a removed one, because gaps cost time.
    std::vector<Registration*> registrations_;
    std::vector<pollfd> polled_;
};

// The names are "auto", "poll", "select" (which refuses descriptors of FD_SETSIZE or more) and,
// if EV_HAS_EPOLL, "epoll". "auto" chooses between poll and epoll, if both exist. An empty name
// means $EV_BACKEND or, if that is empty too, "auto". If $EV_TRACE is not empty, each wait
// writes a line to standard error. Throws std::invalid_argument for an unknown name, and
// std::system_error if the system refuses "epoll". Without ev/backends, always makes poll.
std::unique_ptr<Backend> make_backend(std::string_view name = {});

bool needs_ns(Duration max_wait);        // true above 0 and below 20 ms
int milliseconds_of(Duration max_wait);  // poll(2)'s timeout; see backend.cpp for rounding

[[noreturn]] inline void throw_error(int code, const char* call) {
    throw std::system_error(code, std::generic_category(), call);
}

}  // namespace ev
