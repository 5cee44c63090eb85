#include "tests/bench/crowd_raw.hpp"

#include "tests/bench/measure.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace bench {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t size = 65;  // bytes of a message with its newline

struct Connection {
    int fd = -1;
    std::uint64_t number = 0;
    char sent[size];
    char received[size];
    std::size_t count = 0;  // bytes received
};

int connected(int port) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = htons(static_cast<std::uint16_t>(port));
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(fd, reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0)
        throw std::runtime_error("connect");
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

// Sends a message that differs from the previous message, as yodel-load does.
void send_next(Connection& connection) {
    ++connection.number;
    std::memcpy(connection.sent, &connection.number, sizeof connection.number);
    for (std::size_t i = 0; i < sizeof connection.number; ++i)
        connection.sent[i] = static_cast<char>('a' + (connection.sent[i] & 15));
    connection.count = 0;
    if (::send(connection.fd, connection.sent, size, MSG_NOSIGNAL) != size)
        throw std::runtime_error("send");
}

// Returns true if the echo is complete.
bool read_echo(Connection& connection) {
    const ssize_t count = ::recv(connection.fd, connection.received + connection.count,
                                 size - connection.count, MSG_DONTWAIT);
    if (count <= 0) throw std::runtime_error("recv");
    connection.count += static_cast<std::size_t>(count);
    if (connection.count < size) return false;
    if (std::memcmp(connection.sent, connection.received, size) != 0)
        throw std::runtime_error("a bad echo");
    return true;
}

}  // namespace

CrowdFigures raw_crowd(int port, int count, double seconds) {
    std::vector<Connection> connections(static_cast<std::size_t>(count));
    const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
    for (Connection& connection : connections) {
        connection.fd = connected(port);
        std::memset(connection.sent, 'x', size - 1);
        connection.sent[size - 1] = '\n';
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.ptr = &connection;
        ::epoll_ctl(epoll, EPOLL_CTL_ADD, connection.fd, &event);
    }
    CrowdFigures figures;
    const double cpu = cpu_ns();
    const auto start = Clock::now();
    for (Connection& connection : connections) send_next(connection);
    std::vector<epoll_event> events(connections.size());
    while (figures.seconds < seconds) {
        const int ready = ::epoll_wait(epoll, events.data(), count, -1);
        for (std::size_t i = 0; i < static_cast<std::size_t>(std::max(ready, 0)); ++i) {
            Connection& connection = *static_cast<Connection*>(events[i].data.ptr);
            if (!read_echo(connection)) continue;
            ++figures.echoes;
            send_next(connection);
        }
        figures.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    }
    figures.cpu_seconds = (cpu_ns() - cpu) / 1e9;
    for (const Connection& connection : connections) ::close(connection.fd);
    ::close(epoll);
    return figures;
}

}  // namespace bench
