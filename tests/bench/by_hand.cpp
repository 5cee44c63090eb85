#include "tests/bench/by_hand.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

namespace {

constexpr int chunk = 64 * 1024;

struct Peer {
    SSL* ssl = nullptr;
    std::string rest;  // unsent bytes; reading stops while there are any
};

// These return the number of bytes moved, 0 at the end, or -1 if the call would block.
ssize_t move(ssize_t count, bool ended) {
    if (count > 0) return count;
    return ended ? 0 : -1;
}

ssize_t take(int fd, Peer& client, char* to) {
    if (!client.ssl) {
        const ssize_t count = ::recv(fd, to, chunk, 0);
        return move(count, count == 0 || errno != EAGAIN);
    }
    const int count = SSL_read(client.ssl, to, chunk);
    return move(count, SSL_get_error(client.ssl, count) != SSL_ERROR_WANT_READ);
}

ssize_t give(int fd, Peer& client, const char* from, std::size_t size) {
    if (!client.ssl) {
        const ssize_t count = ::send(fd, from, size, MSG_NOSIGNAL);
        return move(count, count < 0 && errno != EAGAIN);
    }
    const int count = SSL_write(client.ssl, from, static_cast<int>(size));
    return move(count, SSL_get_error(client.ssl, count) != SSL_ERROR_WANT_WRITE);
}

// Returns false once the connection has ended.
bool put(int fd, Peer& client, const char* bytes, std::size_t size) {
    while (size > 0) {
        const ssize_t count = give(fd, client, bytes, size);
        if (count == 0) return false;
        if (count < 0) break;
        bytes += count;
        size -= static_cast<std::size_t>(count);
    }
    client.rest.assign(bytes, size);
    return true;
}

bool echo(int fd, Peer& client) {
    static char room[chunk];
    do {
        const ssize_t count = take(fd, client, room);
        if (count < 0) return true;
        if (count == 0 || !put(fd, client, room, static_cast<std::size_t>(count))) return false;
    } while (client.ssl && SSL_pending(client.ssl) > 0 && client.rest.empty());
    return true;
}

void control(int epoll, int operation, int fd, std::uint32_t wanted) {
    epoll_event event{};
    event.events = wanted;
    event.data.fd = fd;
    ::epoll_ctl(epoll, operation, fd, &event);
}

// Returns false once the connection has ended.
bool handle(int epoll, int fd, Peer& client) {
    const bool sending = !client.rest.empty();
    const std::string rest = std::move(client.rest);
    client.rest.clear();
    if (!(sending ? put(fd, client, rest.data(), rest.size()) : echo(fd, client))) return false;
    if (sending == client.rest.empty())
        control(epoll, EPOLL_CTL_MOD, fd, sending ? EPOLLIN : EPOLLOUT);
    return true;
}

SSL_CTX* make_context(const bench::Certificate& certificate) {
    if (certificate.file.empty()) return nullptr;
    SSL_CTX* const ctx = SSL_CTX_new(TLS_server_method());
    SSL_CTX_use_certificate_chain_file(ctx, certificate.file.c_str());
    SSL_CTX_use_PrivateKey_file(ctx, certificate.key.c_str(), SSL_FILETYPE_PEM);
    SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    return ctx;
}

int accept_one(int listening) {
    const int fd = ::accept4(listening, nullptr, nullptr, SOCK_NONBLOCK);
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

SSL* accept_tls(int fd, SSL_CTX* ctx) {
    SSL* const ssl = SSL_new(ctx);
    SSL_set_fd(ssl, fd);
    SSL_set_accept_state(ssl);
    return ssl;
}

}  // namespace

namespace bench {

[[noreturn]] void serve_by_hand(int listening, const Certificate& certificate) {
    ::fcntl(listening, F_SETFL, O_NONBLOCK);
    SSL_CTX* const ctx = make_context(certificate);
    const int epoll = ::epoll_create1(0);
    control(epoll, EPOLL_CTL_ADD, listening, EPOLLIN);
    std::vector<Peer> clients;  // by descriptor
    for (epoll_event events[1024];;) {
        const int count = ::epoll_wait(epoll, events, 1024, -1);
        for (int i = 0; i < count; ++i) {
            const bool is_new = events[i].data.fd == listening;
            const int fd = is_new ? accept_one(listening) : events[i].data.fd;
            const auto place = static_cast<std::size_t>(fd);
            if (is_new) {
                clients.resize(std::max(clients.size(), place + 1));
                clients[place] = {ctx ? accept_tls(fd, ctx) : nullptr, {}};
                control(epoll, EPOLL_CTL_ADD, fd, EPOLLIN);
            } else if (!handle(epoll, fd, clients[place])) {
                SSL_free(clients[place].ssl);
                ::close(fd);
            }
        }
    }
}

}  // namespace bench
