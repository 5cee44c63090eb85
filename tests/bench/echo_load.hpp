// Echo servers in separate processes, and the clients that keep them busy.
#pragma once

#include "tests/bench/echo_entrant.hpp"
#include "tests/bench/measure.hpp"
#include "tests/bench/serving_process.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace bench {

inline constexpr std::size_t message = 64;           // bytes
inline constexpr std::size_t in_flight = 64 * 1024;  // bytes of a bulk transfer

// A blocking client.
class Client {
public:
    Client(const ServingProcess& server, SSL_CTX* ctx)
        : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
        const auto* const generic = reinterpret_cast<const sockaddr*>(&server.address());
        require(::connect(fd_, generic, sizeof server.address()) == 0);
        const int on = 1;
        ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        if (!ctx) return;
        ssl_ = SSL_new(ctx);
        SSL_set_fd(ssl_, fd_);
        require(SSL_connect(ssl_) == 1);
    }
    ~Client() {
        SSL_free(ssl_);
        ::close(fd_);
    }
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    void write(const std::string& bytes) {
        const auto size = static_cast<ssize_t>(bytes.size());
        require((ssl_ ? SSL_write(ssl_, bytes.data(), static_cast<int>(size))
                      : ::send(fd_, bytes.data(), bytes.size(), 0)) == size);
    }
    void read(std::size_t size) {
        static char room[in_flight];
        while (size > 0) {
            const ssize_t count = ssl_ ? SSL_read(ssl_, room, static_cast<int>(size))
                                       : ::recv(fd_, room, size, 0);
            require(count > 0);
            size -= static_cast<std::size_t>(count);
        }
    }

private:
    int fd_;
    SSL* ssl_ = nullptr;
};

struct Running {
    Running(const EchoEntrant& entrant, const Certificate& certificate, std::size_t count,
            SSL_CTX* ctx, std::size_t idle_count = 0)
        : server([&](int listening) {
              ::fcntl(listening, F_SETFL, O_NONBLOCK);
              entrant.serve(listening, certificate);
          }) {
        while (idle.size() < idle_count) idle.push_back(std::make_unique<Client>(server, ctx));
        while (clients.size() < count) clients.push_back(std::make_unique<Client>(server, ctx));
        echo_all(std::string(message, 'x'));
    }

    // Sends from each client, and then receives all echoes.
    void echo_all(const std::string& bytes) {
        for (const auto& client : clients) client->write(bytes);
        for (const auto& client : clients) client->read(bytes.size());
    }

    ServingProcess server;
    std::vector<std::unique_ptr<Client>> idle;  // send nothing
    std::vector<std::unique_ptr<Client>> clients;
};

using Runs = std::vector<std::unique_ptr<Running>>;

// Returns the server's nanoseconds per message.
inline double server_time(Running& running, const std::string& bytes, std::size_t times) {
    const double before = running.server.cpu_ns();
    for (std::size_t i = 0; i < times; ++i) running.echo_all(bytes);
    const auto messages = static_cast<double>(times * running.clients.size());
    return (running.server.cpu_ns() - before) / messages;
}

// Returns the median round trip in nanoseconds of real time.
inline double round_trip(Running& running, const std::string& bytes, std::size_t times) {
    using Clock = std::chrono::steady_clock;
    std::vector<double> each;
    for (std::size_t i = 0; i < times; ++i) {
        const auto before = Clock::now();
        running.echo_all(bytes);
        each.push_back(std::chrono::duration<double, std::nano>(Clock::now() - before).count());
    }
    return median(std::move(each));
}

inline std::vector<std::string> names(const std::vector<EchoEntrant>& entrants) {
    std::vector<std::string> names;
    for (const EchoEntrant& entrant : entrants) names.push_back(entrant.name);
    return names;
}

// Prints a table of all entrants with 1, 50 and 1000 clients.
inline void compare(const std::string& title, const std::vector<EchoEntrant>& entrants,
                    const Certificate& certificate, SSL_CTX* ctx) {
    const auto start = [&](std::size_t clients) {
        Runs runs;
        for (const EchoEntrant& entrant : entrants)
            runs.push_back(std::make_unique<Running>(entrant, certificate, clients, ctx));
        return runs;
    };
    Table table(title, names(entrants));
    const int count = rounds(15);
    const std::string small(message, 'x');
    const std::string large(in_flight, 'x');
    {
        const Runs one = start(1);
        table.add("ping p50", count,
                  [&](std::size_t i) { return round_trip(*one[i], small, 500); });
        table.add("64KiB p50", count,
                  [&](std::size_t i) { return round_trip(*one[i], large, 64); });
        table.add("CPU 64KiB", count,
                  [&](std::size_t i) { return server_time(*one[i], large, 64); });
    }
    {
        const Runs fifty = start(50);
        table.add("CPU 50", count,
                  [&](std::size_t i) { return server_time(*fifty[i], small, 20); });
    }
    const Runs thousand = start(1000);
    table.add("CPU 1000", count,
              [&](std::size_t i) { return server_time(*thousand[i], small, 3); });
    table.print();
}

// Raises the limit for a thousand clients of every entrant, and returns the new limit.
inline std::size_t raise_descriptor_limit() {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur;
}

}  // namespace bench
