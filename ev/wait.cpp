#include "ev/wait.hpp"

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

class PollWaiter final : public Waiter {
public:
    PollWaiter(PollCall call, int highest) : poll_(call), highest_(highest) {}

    void wait(int milliseconds, std::vector<Ready>& ready) override {
        int left = poll_(polled_.data(), polled_.size(), milliseconds);
        if (left < 0 && errno != EINTR)
            throw std::system_error(errno, std::generic_category(), "poll");
        for (std::size_t i = 0; left > 0; ++i) {
            if (polled_[i].revents == 0) continue;
            const auto events = static_cast<Events>(polled_[i].revents);
            ready.push_back({watched_[i], events & POLLNVAL ? error : events});
            --left;
        }
    }

private:
    void apply(Watched& watched, Events before, Events interest) override {
        if (watched.fd > highest_ && watched.fd != invalid_descriptor)
            throw std::system_error(EMFILE, std::generic_category(), "watching a descriptor");
        if (before == none) polled_.push_back({watched.fd, 0, 0});
        polled_[watched.place].events = static_cast<short>(interest);
        if (interest != none) return;
        polled_[watched.place] = polled_.back();
        polled_.pop_back();
    }

    const PollCall poll_;
    const int highest_;
    std::vector<pollfd> polled_;  // parallel to watched_
};

}  // namespace

void Waiter::set(Watched& watched, Events interest) {
    if (watched.interest == interest) return;
    if (watched.interest == none) {  // the room first: once applied, it must not fail
        watched.place = watched_.size();
        if (watched_.capacity() == watched_.size()) watched_.reserve(2 * watched_.size() + 1);
    }
    apply(watched, watched.interest, interest);
    if (watched.interest == none) watched_.push_back(&watched);
    watched.interest = interest;
    if (interest != none) return;
    watched_[watched.place] = watched_.back();
    watched_[watched.place]->place = watched.place;
    watched_.pop_back();
}

// Into an empty one, so that the places are the same.
void Waiter::hand_over(Waiter& successor) const {
    successor.watched_ = watched_;
    for (Watched* watched : watched_) successor.apply(*watched, none, watched->interest);
}

std::unique_ptr<Waiter> make_poll_waiter(PollCall call, int highest) {
    return std::make_unique<PollWaiter>(call, highest);
}

std::unique_ptr<Waiter> make_waiter(std::string_view name) {
    const auto poll = [](pollfd* polled, std::size_t count, int milliseconds) {
        return ::poll(polled, static_cast<nfds_t>(count), milliseconds);
    };
    if (name.empty() || name == "poll")
        return make_poll_waiter(poll, std::numeric_limits<int>::max());
    if (name == "select") return make_select_waiter();
#ifdef __linux__
    if (name == "epoll") return make_epoll_waiter();
#endif
    throw std::invalid_argument("no such backend of the event loop: " + std::string(name));
}

}  // namespace ev
