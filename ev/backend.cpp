#include "ev/backend.hpp"

#include "ev/system.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <bit>
#include <cerrno>

namespace ev {

using namespace std::chrono_literals;

void Backend::set(Registration& registration, Events interest) {
    if (interest == registration.interest) return;
    const bool is_new = registration.interest == none;
    if (is_new) {  // before the kernel's update, after which nothing may fail
        registrations_.reserve(std::bit_ceil(polled_.size() + 1));
        polled_.reserve(std::bit_ceil(polled_.size() + 1));
    }
    update_kernel(registration, interest);
    if (is_new) {
        registration.place = polled_.size();
        registrations_.push_back(&registration);
        polled_.push_back({registration.fd, 0, 0});
    }
    registration.interest = interest;
    polled_[registration.place].events = static_cast<short>(interest);
    if (interest != none) return;
    registrations_.back()->place = registration.place;
    registrations_[registration.place] = registrations_.back();
    registrations_.pop_back();
    polled_[registration.place] = polled_.back();
    polled_.pop_back();
}

// poll(2) refuses a list longer than RLIMIT_NOFILE, whatever it contains.
void Backend::update_kernel(Registration& registration, Events) {
    if (registration.interest != none) return;
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    if (polled_.size() >= limit.rlim_cur) throw_error(EMFILE, "poll");
}

// Linux may exceed a timeout by up to 0.5 %. So milliseconds_of() shortens a wait of 20 ms or
// more by 1/128, and the next turn waits for the rest. Such a wait does not need the system
// calls that take nanoseconds, which cost more. A shorter wait is rounded up.
bool needs_ns(Duration max_wait) { return max_wait > 0ms && max_wait < 20ms; }

int milliseconds_of(Duration max_wait) {
    if (max_wait == max_wait.max()) return -1;
    const auto limit = std::clamp<Duration>(max_wait, 0ms, 24h);  // costs one extra turn a day
    return static_cast<int>((needs_ns(limit) ? limit + 1ms - 1ns : limit - limit / 128) / 1ms);
}

void Backend::wait(Duration max_wait, std::vector<Readiness>& ready) {
    const auto size = static_cast<nfds_t>(polled_.size());
#if EV_HAS_PPOLL
    const timespec timeout{0, static_cast<long>(max_wait.count())};
    int remaining = needs_ns(max_wait)
                        ? ::ppoll(polled_.data(), size, &timeout, nullptr)
                        : ::poll(polled_.data(), size, milliseconds_of(max_wait));
#else
    int remaining = ::poll(polled_.data(), size, milliseconds_of(max_wait));
#endif
    if (remaining < 0 && errno == EINVAL && size > 0)  // RLIMIT_NOFILE was lowered
        return ready.push_back({registrations_.back(), error});
    if (remaining < 0 && errno != EINTR) throw_error(errno, "poll");
    for (nfds_t i = 0; remaining > 0; ++i)
        if (const auto events = static_cast<Events>(polled_[i].revents); events != none) {
            ready.push_back({registrations_[i], events & POLLNVAL ? error : events});
            --remaining;
        }
}

#if !__has_include("ev/backends/backends.hpp")  // the core alone
std::unique_ptr<Backend> make_backend(std::string_view) { return std::make_unique<Backend>(); }
#endif

}  // namespace ev
