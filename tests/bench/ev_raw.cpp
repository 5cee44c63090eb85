#include "tests/bench/ev_contender.hpp"

#include <sys/epoll.h>
#include <unistd.h>

namespace {

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

}  // namespace

void add_raw(std::vector<Entrant>& entrants) {
    entrants.push_back({"raw epoll", enter<RawEpoll>});
}
