// The seam behind which the loop waits: each backend is one readiness call of the system.
#pragma once

#include <poll.h>

#include <chrono>
#include <cstddef>
#include <ctime>
#include <functional>
#include <limits>
#include <memory>
#include <string_view>
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

// Waits by poll(2), which every system has. The other backends derive from this one, and use
// its list of what is watched unless they hand everything on to another backend.
class Backend {
public:
    virtual ~Backend() = default;

    // Changes the interest. A registration without any is forgotten, which never fails.
    // Otherwise this throws std::system_error where the system refuses the descriptor, or
    // std::bad_alloc, and then nothing has changed.
    virtual void set(Registration& registration, Events interest);
    // Waits for at most `longest` (max(): without limit; zero or less: not at all) and appends
    // what is ready. It may return earlier without readiness, as for a signal, but never so
    // often that the loop would be busy.
    virtual void wait(std::chrono::nanoseconds longest, std::vector<Readiness>& ready);

    std::size_t size() const { return registrations_.size(); }
    // Copies the list to an empty backend. On success use only that one; where this throws, go
    // on with the old one.
    void copy_to(Backend& successor) const;

protected:
    // Called before the list changes. Where this throws, all stays as it is.
    virtual void update_kernel(Registration&, Events before, Events interest);

    // Parallel and without holes, because poll(2) takes time for each: the last of them takes
    // the place of one that is removed.
    std::vector<Registration*> registrations_;
    std::vector<pollfd> polled_;

private:
    std::size_t limit_ = 0;  // of descriptors, when the list last reached it
};

// True if the descriptor has one of these events now, or an error. It needs no loop, and does
// not wait.
bool ready_now(int fd, Events events);

// By name: "poll", "select", "auto" and, on Linux, "epoll". Without a name, the one that the
// environment's EV_BACKEND names, or else "auto".  Throws std::invalid_argument for any other.
// With EV_TRACE in the environment, it is traced.
std::unique_ptr<Backend> make_backend(std::string_view name);
// The names, separated by commas, the default first.
std::string_view backend_names();
std::unique_ptr<Backend> make_select_backend();
std::unique_ptr<Backend> make_epoll_backend();
// Chooses between poll and epoll by how many descriptors are watched and how many of them are
// usually ready; begins with poll.
std::unique_ptr<Backend> make_auto_backend();

// Writes a line to standard error for each turn: its number, how long it has waited, and which
// descriptors were ready (r: readable, w: writable, h: hang-up, e: error).
std::unique_ptr<Backend> make_trace_backend(std::unique_ptr<Backend> traced);

// How long a system call is to wait. Linux ends a wait late by up to a thousandth of it, or a
// two-hundredth where the process has a lower priority. So a wait of 20 ms or more is made
// shorter by more than that, and the next turn waits for the rest. It is also made in whole
// milliseconds, because calls that take nanoseconds cost more.
struct Limit {
    bool is_fine = false;  // in nanoseconds, on systems that have a call for it
    timespec time{};       // if it is fine
    int milliseconds = 0;  // in any case: -1 without limit, and rounded up if it is fine
};
Limit limit_of(std::chrono::nanoseconds longest);

}  // namespace ev
