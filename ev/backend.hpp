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

// Events to watch for, or reported events: a set of poll(2)'s bits.
using Events = unsigned;
inline constexpr Events none = 0;
inline constexpr Events readable = POLLIN;
inline constexpr Events writable = POLLOUT;
inline constexpr Events error = POLLERR;   // never requested; also means an invalid descriptor
inline constexpr Events hangup = POLLHUP;  // the other end is gone; always reported

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
    // Waits for `max_wait` at most. Zero or less means not to wait, and max() means no limit.
    // Adds the ready registrations to `ready`, which must be empty. May return early without
    // any, for example after a signal, but not so often that the loop spins.
    virtual void wait(Duration max_wait, std::vector<Readiness>& ready);

protected:
    // Called before the lists and the registration change. If it throws, they stay unchanged.
    virtual void update_kernel(Registration& registration, Events interest);

    // Parallel arrays. The last entry takes the place of a removed one, because gaps cost time.
    std::vector<Registration*> registrations_;
    std::vector<pollfd> polled_;
};

// The backends are "auto", "poll", "select" (which refuses descriptors of FD_SETSIZE or more)
// and, only on Linux, "epoll". There "auto" chooses between poll and epoll; elsewhere it means
// poll. An empty `name` means $EV_BACKEND or, if that is empty too, "auto". Unless
// $EV_TRACE is empty, each wait writes a line to standard error. Throws std::invalid_argument
// for an unknown name, and std::system_error if no descriptor is left for "epoll".
std::unique_ptr<Backend> make_backend(std::string_view name = {});

bool needs_ns(Duration max_wait);        // true above 0 and below 20 ms
int milliseconds_of(Duration max_wait);  // -1 for no limit; rounds up below 20 ms, else down

[[noreturn]] inline void fail(int reason, const char* call) {
    throw std::system_error(reason, std::generic_category(), call);
}

}  // namespace ev
