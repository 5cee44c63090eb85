// The hand-written limit of the benchmarks: an echo server and a client without any library but
// OpenSSL.
#pragma once

#include "tests/bench/serving_process.hpp"

#include <netinet/tcp.h>
#include <openssl/ssl.h>

#include <cstddef>
#include <string>

namespace bench {

inline constexpr std::size_t message = 64;           // bytes
inline constexpr std::size_t in_flight = 64 * 1024;  // bytes of a bulk transfer

struct Certificate {
    std::string file;  // PEM; empty: without TLS
    std::string key;   // PEM
};

// Serves the connections of a listening socket forever, with one loop around epoll.
[[noreturn]] void serve_by_hand(int listening, const Certificate& certificate);

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

}  // namespace bench
