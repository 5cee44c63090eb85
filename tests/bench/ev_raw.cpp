#include "tests/bench/ev_contender.hpp"

#include <poll.h>
#include <unistd.h>
#ifdef __linux__
#    include <sys/epoll.h>
#endif

namespace {

class RawPoll final : public Contender {
public:
    explicit RawPoll(Work& work) : work_(work) {}
    void watch(int fd) override { polled_.push_back({fd, POLLIN, 0}); }
    void turn(bool may_wait) override {
        int left =
            ::poll(polled_.data(), static_cast<nfds_t>(polled_.size()), may_wait ? -1 : 0);
        for (std::size_t i = 0; left > 0; ++i) {
            if (polled_[i].revents == 0) continue;
            work_.readable(polled_[i].fd);
            --left;
        }
    }

private:
    Work& work_;
    std::vector<pollfd> polled_;
};

#ifdef __linux__
class RawEpoll final : public Contender {
public:
    explicit RawEpoll(Work& work) : work_(work), epoll_(::epoll_create1(0)) {}
    ~RawEpoll() override { ::close(epoll_); }
    void watch(int fd) override {
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.fd = fd;
        ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
    }
    void turn(bool may_wait) override {
        epoll_event found[256];
        const int count = ::epoll_wait(epoll_, found, 256, may_wait ? -1 : 0);
        for (int i = 0; i < count; ++i) work_.readable(found[i].data.fd);
    }

private:
    Work& work_;
    int epoll_;
};
#endif

}  // namespace

void add_raw(std::vector<Entrant>& entrants) {
    entrants.push_back({"raw poll", enter<RawPoll>});
#ifdef __linux__
    entrants.push_back({"raw epoll", enter<RawEpoll>});
#endif
}
