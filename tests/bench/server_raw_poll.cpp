#include "tests/bench/echo_entrant.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

namespace {

constexpr int chunk = 64 * 1024;

struct Client {
    SSL* ssl = nullptr;
    std::string rest;  // unsent bytes; reading stops while there are any
};

// These return the number of bytes moved, 0 at the end, or -1 if the call would block.
ssize_t move(ssize_t count, bool ended) {
    if (count > 0) return count;
    return ended ? 0 : -1;
}

ssize_t take(int fd, Client& client, char* to) {
    if (!client.ssl) {
        const ssize_t count = ::recv(fd, to, chunk, 0);
        return move(count, count == 0 || errno != EAGAIN);
    }
    const int count = SSL_read(client.ssl, to, chunk);
    return move(count, SSL_get_error(client.ssl, count) != SSL_ERROR_WANT_READ);
}

ssize_t give(int fd, Client& client, const char* from, std::size_t size) {
    if (!client.ssl) {
        const ssize_t count = ::send(fd, from, size, MSG_NOSIGNAL);
        return move(count, count < 0 && errno != EAGAIN);
    }
    const int count = SSL_write(client.ssl, from, static_cast<int>(size));
    return move(count, SSL_get_error(client.ssl, count) != SSL_ERROR_WANT_WRITE);
}

// Returns false once the connection has ended.
bool put(int fd, Client& client, const char* bytes, std::size_t size) {
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

bool echo(int fd, Client& client) {
    static char room[chunk];
    do {
        const ssize_t count = take(fd, client, room);
        if (count < 0) return true;
        if (count == 0 || !put(fd, client, room, static_cast<std::size_t>(count))) return false;
    } while (client.ssl && SSL_pending(client.ssl) > 0 && client.rest.empty());
    return true;
}

bool handle(pollfd& polled, Client& client) {
    bool alive = true;
    if (client.rest.empty()) {
        alive = echo(polled.fd, client);
    } else {
        const std::string rest = std::move(client.rest);
        alive = put(polled.fd, client, rest.data(), rest.size());
    }
    polled.events = client.rest.empty() ? POLLIN : POLLOUT;
    return alive;
}

SSL_CTX* make_context(const Certificate& certificate) {
    if (certificate.file.empty()) return nullptr;
    SSL_CTX* const ctx = SSL_CTX_new(TLS_server_method());
    SSL_CTX_use_certificate_chain_file(ctx, certificate.file.c_str());
    SSL_CTX_use_PrivateKey_file(ctx, certificate.key.c_str(), SSL_FILETYPE_PEM);
    SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    return ctx;
}

Client accept_one(int listening, SSL_CTX* ctx, int& fd) {
    fd = ::accept(listening, nullptr, nullptr);
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::fcntl(fd, F_SETFL, O_NONBLOCK);
    Client client;
    if (!ctx) return client;
    client.ssl = SSL_new(ctx);
    SSL_set_fd(client.ssl, fd);
    SSL_set_accept_state(client.ssl);
    return client;
}

void serve(int listening, const Certificate& certificate) {
    SSL_CTX* const ctx = make_context(certificate);
    std::vector<pollfd> polled{{listening, POLLIN, 0}};
    std::vector<Client> clients(1);
    for (;;) {
        ::poll(polled.data(), polled.size(), -1);
        for (std::size_t i = polled.size() - 1; i > 0; --i) {
            if (polled[i].revents == 0 || handle(polled[i], clients[i])) continue;
            SSL_free(clients[i].ssl);
            ::close(polled[i].fd);
            polled[i] = polled.back();
            clients[i] = std::move(clients.back());
            polled.pop_back();
            clients.pop_back();
        }
        if (polled[0].revents == 0) continue;
        int fd = -1;
        clients.push_back(accept_one(listening, ctx, fd));
        polled.push_back({fd, POLLIN, 0});
    }
}

}  // namespace

void add_raw_poll_server(std::vector<EchoEntrant>& entrants) {
    entrants.push_back({"raw poll loop", serve, true});
}
