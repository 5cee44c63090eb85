#include "ev/wait.hpp"

#include <poll.h>

#include <cerrno>
#include <system_error>

namespace ev {

namespace {

// The array handed to poll(2) stays dense: a hole would cost as much as a descriptor.
class PollWaiter final : public Waiter {
public:
    void set(Watched& watched, Events interest) override {
        if (interest == none) {
            remove(watched);
        } else if (watched.interest == none) {
            watched.place = polled_.size();
            polled_.push_back({watched.fd, wanted(interest), 0});
            watched_.push_back(&watched);
        } else {
            polled_[watched.place].events = wanted(interest);
        }
        watched.interest = interest;
    }

    void wait(int milliseconds, std::vector<Ready>& ready) override {
        int left = ::poll(polled_.data(), static_cast<nfds_t>(polled_.size()), milliseconds);
        if (left < 0 && errno != EINTR && errno != EAGAIN)
            throw std::system_error(errno, std::generic_category(), "poll");
        for (std::size_t i = 0; left > 0; ++i) {
            if (polled_[i].revents == 0) continue;
            ready.push_back({watched_[i], told(polled_[i].revents)});
            --left;
        }
    }

private:
    void remove(Watched& watched) {
        if (watched.interest == none) return;
        polled_[watched.place] = polled_.back();
        watched_[watched.place] = watched_.back();
        watched_[watched.place]->place = watched.place;
        polled_.pop_back();
        watched_.pop_back();
    }

    static short wanted(Events interest) {
        return static_cast<short>((interest & readable ? POLLIN : 0) |
                                  (interest & writable ? POLLOUT : 0));
    }

    static Events told(short revents) {
        return (revents & POLLIN ? readable : none) | (revents & POLLOUT ? writable : none) |
               (revents & POLLHUP ? hangup : none) |
               (revents & (POLLERR | POLLNVAL) ? error : none);
    }

    std::vector<pollfd> polled_;
    std::vector<Watched*> watched_;  // parallel to polled_
};

}  // namespace

std::unique_ptr<Waiter> make_poll_waiter() { return std::make_unique<PollWaiter>(); }

}  // namespace ev
