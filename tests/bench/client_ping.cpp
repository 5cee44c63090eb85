// A minimal client or server for round trips: one connection and messages of 64 bytes.
//
//     client_ping ping PORT COUNT    prints the median round trip in microseconds
//     client_ping echo PORT          echoes the connections to PORT, one at a time
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

constexpr std::size_t message = 64;  // bytes
char buffer[64 * 1024];

sockaddr_in address(const char* port) {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = htons(static_cast<in_port_t>(std::atoi(port)));
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return name;
}

void send_at_once(int fd) {
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

// Returns the number of bytes received; 0 at the end.
std::size_t receive(int fd) {
    pollfd polled{fd, POLLIN, 0};
    while (::poll(&polled, 1, -1) <= 0) {
    }
    return static_cast<std::size_t>(std::max<ssize_t>(::recv(fd, buffer, sizeof buffer, 0), 0));
}

void send(int fd, std::size_t size) {
    if (::send(fd, buffer, size, MSG_NOSIGNAL) < 0) std::exit(1);
}

int ping(const char* port, int count) {
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    const sockaddr_in name = address(port);
    if (::connect(fd, reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0) return 7;
    send_at_once(fd);
    std::vector<double> times;
    for (int i = 0; i < count; ++i) {
        const auto start = std::chrono::steady_clock::now();
        send(fd, message);
        for (std::size_t got = 0; got < message;) {
            const std::size_t more = receive(fd);
            if (more == 0) return 56;
            got += more;
        }
        const auto end = std::chrono::steady_clock::now();
        times.push_back(std::chrono::duration<double, std::micro>(end - start).count());
    }
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    std::printf("%.3f\n", *middle);
    return 0;
}

int echo(const char* port) {
    const int listening = ::socket(AF_INET, SOCK_STREAM, 0);
    const int on = 1;
    ::setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    const sockaddr_in name = address(port);
    if (::bind(listening, reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0) return 1;
    if (::listen(listening, 16) != 0) return 1;
    std::printf("listening 127.0.0.1:%s\n", port);
    std::fflush(stdout);
    for (;;) {
        const int fd = ::accept(listening, nullptr, nullptr);
        send_at_once(fd);
        for (std::size_t size = receive(fd); size > 0; size = receive(fd)) send(fd, size);
        ::close(fd);
    }
}

}  // namespace

int main(int, char* arguments[]) {
    if (std::strcmp(arguments[1], "echo") == 0) return echo(arguments[2]);
    return ping(arguments[2], std::atoi(arguments[3]));
}
