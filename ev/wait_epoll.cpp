#ifdef __linux__
#    include "ev/wait.hpp"

#    include <sys/epoll.h>
#    include <unistd.h>

#    include <algorithm>
#    include <array>
#    include <cerrno>
#    include <system_error>
#    include <utility>

namespace ev {

namespace {

static_assert(readable == EPOLLIN && writable == EPOLLOUT && error == EPOLLERR &&
              hangup == EPOLLHUP);

// What differs from poll(2): a descriptor closed while it is watched is not told any more.
class EpollWaiter final : public Waiter {
public:
    ~EpollWaiter() override { ::close(epoll_); }

    void wait(int milliseconds, std::vector<Ready>& ready) override {
        ready.insert(ready.end(), refused_.begin(), refused_.end());
        const int count = ::epoll_wait(epoll_, found_.data(), static_cast<int>(found_.size()),
                                       refused_.empty() ? milliseconds : 0);
        if (count < 0 && errno != EINTR) fail();
        for (int i = 0; i < count; ++i) {
            const epoll_event& found = found_[static_cast<std::size_t>(i)];
            ready.push_back({static_cast<Watched*>(found.data.ptr), found.events});
        }
    }

private:
    void apply(Watched& watched, Events before, Events interest) override {
        const auto same = [&](const Ready& ready) { return ready.watched == &watched; };
        const bool refused = std::erase_if(refused_, same) > 0;
        if (interest == none) return refused ? void() : remove(watched);
        epoll_event event{interest, {&watched}};
        const int change = before == none ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
        if (::epoll_ctl(epoll_, change, watched.fd, &event) == 0) return;
        if (errno != EPERM && errno != EBADF && errno != ENOENT) fail();
        refused_.push_back({&watched, errno == EPERM ? interest : error});
    }

    // Where the descriptor was closed too early, its file may live on under another number and
    // be told for ever: a new set knows nothing of it.
    void remove(Watched& removed) {
        if (::epoll_ctl(epoll_, EPOLL_CTL_DEL, removed.fd, nullptr) == 0) return;
        ::close(std::exchange(epoll_, -1));
        epoll_ = open();
        refused_.clear();
        for (Watched* watched : watched_)
            if (watched != &removed) apply(*watched, none, watched->interest);
    }

    static int open() {
        const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
        return epoll < 0 ? fail() : epoll;
    }

    [[noreturn]] static int fail() {
        throw std::system_error(errno, std::generic_category(), "epoll");
    }

    int epoll_ = open();
    std::vector<Ready> refused_;  // always ready: regular files; or invalid descriptors
    std::array<epoll_event, 256> found_;
};

}  // namespace

std::unique_ptr<Waiter> make_epoll_waiter() { return std::make_unique<EpollWaiter>(); }

}  // namespace ev
#endif
