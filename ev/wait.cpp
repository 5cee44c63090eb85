#include "ev/wait.hpp"

#include <poll.h>

#include <cerrno>
#include <limits>
#include <stdexcept>
#include <string>
#include <system_error>

namespace ev {

namespace {

class PollWaiter final : public Waiter {
public:
    PollWaiter(PollCall call, int highest) : poll_(call), highest_(highest) {}

    void wait(int milliseconds, std::vector<Ready>& ready) override {
        int left = poll_(polled_.data(), polled_.size(), milliseconds);
        if (left < 0 && errno != EINTR)
            throw std::system_error(errno, std::generic_category(), "poll");
        for (std::size_t i = 0; left > 0; ++i) {
            if (polled_[i].revents == 0) continue;
            ready.push_back({watched_[i], from_poll_bits(polled_[i].revents)});
            --left;
        }
    }

private:
    void apply(Watched& watched, Events interest) override {
        if (watched.fd > highest_)
            throw std::system_error(EMFILE, std::generic_category(), "watching a descriptor");
        if (watched.interest == none) polled_.push_back({watched.fd, 0, 0});
        polled_[watched.place].events = poll_bits(interest);
        if (interest != none) return;
        polled_[watched.place] = polled_.back();
        polled_.pop_back();
    }

    const PollCall poll_;
    const int highest_;
    std::vector<pollfd> polled_;  // parallel to watched_
};

int call_poll(pollfd* polled, std::size_t count, int milliseconds) {
    return ::poll(polled, static_cast<nfds_t>(count), milliseconds);
}

}  // namespace

void Waiter::set(Watched& watched, Events interest) {
    if (watched.interest == interest) return;
    if (watched.interest == none) watched.place = watched_.size();
    apply(watched, interest);
    if (watched.interest == none) watched_.push_back(&watched);
    watched.interest = interest;
    if (interest != none) return;
    watched_[watched.place] = watched_.back();
    watched_[watched.place]->place = watched.place;
    watched_.pop_back();
}

std::unique_ptr<Waiter> make_poll_waiter(PollCall call, int highest) {
    return std::make_unique<PollWaiter>(call, highest);
}

std::unique_ptr<Waiter> make_waiter(std::string_view name) {
    if (name == "poll") return make_poll_waiter(call_poll, std::numeric_limits<int>::max());
    if (name == "select") return make_select_waiter();
#ifdef __linux__
    if (name == "epoll") return make_epoll_waiter();
#endif
    throw std::invalid_argument("no such backend of the event loop: " + std::string(name));
}

short poll_bits(Events events) {
    return static_cast<short>((events & readable ? POLLIN : 0) |
                              (events & writable ? POLLOUT : 0));
}

Events from_poll_bits(int bits) {
    return (bits & POLLIN ? readable : none) | (bits & POLLOUT ? writable : none) |
           (bits & POLLHUP ? hangup : none) | (bits & (POLLERR | POLLNVAL) ? error : none);
}

}  // namespace ev
