#include "ev/backend.hpp"

#include <poll.h>

#include <cerrno>
#include <limits>
#include <stdexcept>
#include <string>
#include <system_error>

namespace ev {

namespace {

static_assert(readable == POLLIN && writable == POLLOUT && error == POLLERR &&
              hangup == POLLHUP);

class PollBackend final : public Backend {
public:
    PollBackend(PollCall call, int highest) : poll_(call), highest_(highest) {}

    void wait(int milliseconds, std::vector<Readiness>& ready) override {
        int left = poll_(polled_.data(), polled_.size(), milliseconds);
        if (left < 0 && errno != EINTR)
            throw std::system_error(errno, std::generic_category(), "poll");
        for (std::size_t i = 0; left > 0; ++i) {
            if (polled_[i].revents == 0) continue;
            const auto events = static_cast<Events>(polled_[i].revents);
            ready.push_back({registrations_[i], events & POLLNVAL ? error : events});
            --left;
        }
    }

private:
    void update_kernel(Registration& registration, Events before, Events interest) override {
        if (registration.fd > highest_ && registration.fd != invalid_descriptor)
            throw std::system_error(EMFILE, std::generic_category(), "watching a descriptor");
        if (before == none) polled_.push_back({registration.fd, 0, 0});
        polled_[registration.place].events = static_cast<short>(interest);
        if (interest != none) return;
        polled_[registration.place] = polled_.back();
        polled_.pop_back();
    }

    const PollCall poll_;
    const int highest_;
    std::vector<pollfd> polled_;  // parallel to registrations_
};

}  // namespace

void Backend::set(Registration& registration, Events interest) {
    if (registration.interest == interest) return;
    if (registration.interest == none) {  // the room first: once applied, it must not fail
        registration.place = registrations_.size();
        if (registrations_.capacity() == registrations_.size())
            registrations_.reserve(2 * registrations_.size() + 1);
    }
    update_kernel(registration, registration.interest, interest);
    if (registration.interest == none) registrations_.push_back(&registration);
    registration.interest = interest;
    if (interest != none) return;
    registrations_[registration.place] = registrations_.back();
    registrations_[registration.place]->place = registration.place;
    registrations_.pop_back();
}

// Into an empty one, so that the places are the same.
void Backend::move_to(Backend& successor) const {
    successor.registrations_ = registrations_;
    for (Registration* registration : registrations_)
        successor.update_kernel(*registration, none, registration->interest);
}

std::unique_ptr<Backend> make_poll_backend(PollCall call, int highest) {
    return std::make_unique<PollBackend>(call, highest);
}

std::unique_ptr<Backend> make_backend(std::string_view name) {
    const auto poll = [](pollfd* polled, std::size_t count, int milliseconds) {
        return ::poll(polled, static_cast<nfds_t>(count), milliseconds);
    };
    if (name.empty() || name == "poll")
        return make_poll_backend(poll, std::numeric_limits<int>::max());
    if (name == "select") return make_select_backend();
#ifdef __linux__
    if (name == "epoll") return make_epoll_backend();
#endif
    throw std::invalid_argument("no such backend of the event loop: " + std::string(name));
}

}  // namespace ev
