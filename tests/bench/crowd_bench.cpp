// Compares yodel-load with a hand-written generator, both on the first processor, with the
// same echo server on the second: 64 connections, each with one message of 64 bytes in flight.
#include "tests/bench/measure.hpp"
#include "tests/bench/program.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr int connection_count = 64;
constexpr double run_seconds = 1;
constexpr std::size_t size = 65;  // bytes of a message with its newline

struct Figures {
    std::uint64_t echoes = 0;  // verified
    double seconds = 0;
    double cpu_seconds = 0;  // the generator's, user and system
};

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

// Runs the connections by epoll on this thread. memcmp compares each echo.
Figures raw_crowd(int port) {
    std::vector<Connection> connections(connection_count);
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
    Figures figures;
    const double cpu = bench::cpu_ns();
    const auto start = Clock::now();
    for (Connection& connection : connections) send_next(connection);
    std::vector<epoll_event> events(connections.size());
    while (figures.seconds < run_seconds) {
        const int ready = ::epoll_wait(epoll, events.data(), connection_count, -1);
        for (std::size_t i = 0; i < static_cast<std::size_t>(std::max(ready, 0)); ++i) {
            Connection& connection = *static_cast<Connection*>(events[i].data.ptr);
            if (!read_echo(connection)) continue;
            ++figures.echoes;
            send_next(connection);
        }
        figures.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    }
    figures.cpu_seconds = (bench::cpu_ns() - cpu) / 1e9;
    for (const Connection& connection : connections) ::close(connection.fd);
    ::close(epoll);
    return figures;
}

Figures our_crowd(const std::string& port) {
    bench::Program client({YODEL_LOAD_PROGRAM, "--connections",
                           std::to_string(connection_count), "-m", std::to_string(run_seconds),
                           "--json", "127.0.0.1", port},
                          0);
    const std::string end = client.last_line();
    Figures figures;
    figures.echoes = static_cast<std::uint64_t>(bench::member(end, "echoed"));
    figures.seconds = bench::member(end, "duration_us") / 1e6;
    figures.cpu_seconds = client.await_end();
    return figures;
}

}  // namespace

int main() {
    bench::begin("crowd");
    bench::Program server({YODELD_PROGRAM, "-f", "raw", "0"}, bench::processors() > 1 ? 1 : 0);
    const std::string line = server.read_line();
    const std::string port =
        line.substr(line.rfind(':') + 1, line.size() - line.rfind(':') - 2);
    bench::stay_on(0);
    bench::Table table("64 connections, one message of 64 bytes in flight on each",
                       {"by hand: epoll, memcmp", "yodel-load --connections 64"});
    table.add({"an echo", "its CPU"}, bench::rounds(7), [&](std::size_t contender) {
        const Figures figures = contender == 0 ? raw_crowd(std::stoi(port)) : our_crowd(port);
        const auto echoes = static_cast<double>(figures.echoes);
        return std::vector<double>{figures.seconds * 1e9 / echoes,
                                   figures.cpu_seconds * 1e9 / echoes};
    });
    table.print();
}
