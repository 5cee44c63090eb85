// The seam behind which the loop waits: one readiness call of the system per implementation.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <string_view>
#include <vector>

struct pollfd;

namespace ev {

// The events that a descriptor is watched for, or that are reported of it: a set of poll(2)'s
// bits.
using Events = unsigned;
inline constexpr Events none = 0;
inline constexpr Events readable = 1;
inline constexpr Events writable = 4;
inline constexpr Events error = 8;    // told, never asked for: also an invalid descriptor
inline constexpr Events hangup = 16;  // told, asked for or not: the other end is gone

// Stands for any negative number, which poll(2) would ignore: no process has so many
// descriptors.
inline constexpr int invalid_descriptor = std::numeric_limits<int>::max();

struct Registration {
    int fd;
    Events interest = none;  // changed by Backend::set alone
    std::size_t place = 0;   // in the backend's list, while `interest` is not none
};

struct Readiness {
    Registration* registration;
    Events events;
};

class Backend {
public:
    virtual ~Backend() = default;
    // Changes the interest. Without any, the descriptor is out of the set and costs nothing.
    void set(Registration& registration, Events interest);
    std::size_t size() const { return registrations_.size(); }
    // What both then hold is for the successor to change; where it throws, for this one.
    void move_to(Backend& successor) const;
    // Waits for at most `milliseconds` (-1: without limit) and appends what is ready.
    // An interruption by a signal is an ordinary return with nothing ready.
    virtual void wait(int milliseconds, std::vector<Readiness>& ready) = 0;

protected:
    // Before the interest and the list change. Where it throws, they stay as they are.
    virtual void update_kernel(Registration& registration, Events before, Events interest) = 0;

    std::vector<Registration*>
        registrations_;  // without holes: the last fills the place of a removed one
};

// By name: "poll" (or none), "select" or, on Linux, "epoll". Throws std::invalid_argument.
std::unique_ptr<Backend> make_backend(std::string_view name);
std::unique_ptr<Backend> make_select_backend();
std::unique_ptr<Backend> make_epoll_backend();
// By poll(2), or a call that speaks as it does and takes descriptors up to `highest` and the
// invalid one.
using PollCall = int (*)(pollfd* polled, std::size_t count, int milliseconds);
std::unique_ptr<Backend> make_poll_backend(PollCall call, int highest);

}  // namespace ev
