#include "tests/bench/echo_entrant.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <unordered_map>

namespace {

constexpr std::size_t chunk = 64 * 1024;  // bytes

class EpollServer {
public:
    explicit EpollServer(int listening) : listening_(listening), epoll_(::epoll_create1(0)) {
        control(EPOLL_CTL_ADD, listening, EPOLLIN);
    }

    [[noreturn]] void run() {
        epoll_event events[1024];
        for (;;) {
            const int count = ::epoll_wait(epoll_, events, 1024, -1);
            for (int i = 0; i < count; ++i) {
                const int fd = events[i].data.fd;
                fd == listening_ ? accept() : serve(fd);
            }
        }
    }

private:
    void control(int operation, int fd, std::uint32_t wanted) const {
        epoll_event event{};
        event.events = wanted;
        event.data.fd = fd;
        ::epoll_ctl(epoll_, operation, fd, &event);
    }

    void accept() const {
        const int fd = ::accept4(listening_, nullptr, nullptr, SOCK_NONBLOCK);
        const int on = 1;
        ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        control(EPOLL_CTL_ADD, fd, EPOLLIN);
    }

    void serve(int fd) {
        if (const auto it = rest_.find(fd); it != rest_.end()) {
            const std::string rest = std::move(it->second);
            rest_.erase(it);
            if (!put(fd, rest.data(), rest.size())) control(EPOLL_CTL_MOD, fd, EPOLLIN);
            return;
        }
        static char buffer[chunk];
        const ssize_t count = ::recv(fd, buffer, sizeof buffer, 0);
        if (count <= 0) {
            ::close(fd);
        } else if (put(fd, buffer, static_cast<std::size_t>(count))) {
            control(EPOLL_CTL_MOD, fd, EPOLLOUT);
        }
    }

    // Returns true if bytes are left over.
    bool put(int fd, const char* bytes, std::size_t size) {
        const ssize_t sent = ::send(fd, bytes, size, MSG_NOSIGNAL);
        const std::size_t taken = sent > 0 ? static_cast<std::size_t>(sent) : 0;
        if (taken == size) return false;
        rest_[fd].assign(bytes + taken, size - taken);
        return true;
    }

    int listening_;
    int epoll_;
    std::unordered_map<int, std::string> rest_;  // unsent bytes, by descriptor
};

void serve(int listening, const Certificate&) { EpollServer(listening).run(); }

}  // namespace

void add_raw_epoll_server(std::vector<EchoEntrant>& entrants) {
    entrants.push_back({"raw epoll loop", serve, false});
}
