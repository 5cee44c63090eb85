#include "tests/bench/by_hand.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <vector>

namespace bench {

namespace {

sockaddr_in loopback(const std::string& port) {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = htons(static_cast<in_port_t>(std::stoi(port)));
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return name;
}

const sockaddr* generic(const sockaddr_in& name) {
    return reinterpret_cast<const sockaddr*>(&name);
}

int connected(const std::string& port, int type) {
    const int fd = ::socket(AF_INET, type | SOCK_CLOEXEC, 0);
    const sockaddr_in name = loopback(port);
    require(::connect(fd, generic(name), sizeof name) == 0);
    const int on = 1;
    if (type == SOCK_STREAM) ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

// One side of a connection, or a pipe.
struct End {
    int fd = -1;
    SSL* ssl = nullptr;  // null if there is no TLS
};

// Moves bytes from one end to the other. Writes all bytes before it reads more.
class Way {
public:
    Way(End from, End to) : from_(from), to_(to) {}

    bool empty() const { return begin_ == end_; }
    bool is_over() const { return over_; }

    // Moves bytes until a call would block. Returns false after a failure.
    bool move() {
        if (!write_rest()) return false;
        if (!buffer_) buffer_.reset(new char[in_flight]);
        while (empty() && !over_) {
            const ssize_t count = read();
            if (count < 0) break;
            over_ = count == 0;
            begin_ = 0;
            end_ = static_cast<std::size_t>(count);
            if (!write_rest()) return false;
            if (!from_.ssl || ::SSL_pending(from_.ssl) == 0) break;
        }
        return true;
    }

private:
    // Returns the count, 0 at the end or after a failure, or -1 if the call would block.
    static ssize_t moved(const End& end, ssize_t count) {
        if (count > 0) return count;
        if (!end.ssl) return count < 0 && errno != EAGAIN ? 0 : count;
        const int why = ::SSL_get_error(end.ssl, static_cast<int>(count));
        return why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE ? -1 : 0;
    }

    ssize_t read() {
        return moved(from_, from_.ssl ? ::SSL_read(from_.ssl, buffer_.get(), in_flight)
                                      : ::read(from_.fd, buffer_.get(), in_flight));
    }
    bool write_rest() {
        while (!empty()) {
            const char* const bytes = buffer_.get() + begin_;
            const std::size_t size = end_ - begin_;
            const ssize_t count =
                moved(to_, to_.ssl ? ::SSL_write(to_.ssl, bytes, static_cast<int>(size))
                                   : ::write(to_.fd, bytes, size));
            if (count <= 0) return count < 0;
            begin_ += static_cast<std::size_t>(count);
        }
        return true;
    }

    End from_;
    End to_;
    std::unique_ptr<char[]> buffer_;
    std::size_t begin_ = 0;  // of the unwritten bytes
    std::size_t end_ = 0;
    bool over_ = false;
};

SSL_CTX* new_context(const SSL_METHOD* method) {
    SSL_CTX* const ctx = ::SSL_CTX_new(method);
    SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    return ctx;
}

void control(int epoll, int operation, int fd, std::uint32_t wanted) {
    epoll_event event{};
    event.events = wanted;
    event.data.fd = fd;
    ::epoll_ctl(epoll, operation, fd, &event);
}

[[noreturn]] void serve(const std::vector<std::string>& files) {
    SSL_CTX* const ctx = files.empty() ? nullptr : new_context(::TLS_server_method());
    if (ctx) {
        ::SSL_CTX_use_certificate_chain_file(ctx, files[0].c_str());
        ::SSL_CTX_use_PrivateKey_file(ctx, files[1].c_str(), SSL_FILETYPE_PEM);
    }
    const int listener = bound_socket(SOCK_STREAM);
    const int epoll = ::epoll_create1(0);
    control(epoll, EPOLL_CTL_ADD, listener, EPOLLIN);
    struct Peer {
        SSL* ssl;
        Way way;
    };
    std::vector<std::unique_ptr<Peer>> peers;  // by descriptor
    for (epoll_event events[1024];;) {
        const int count = ::epoll_wait(epoll, events, 1024, -1);
        for (int i = 0; i < count; ++i) {
            const bool is_new = events[i].data.fd == listener;
            const int fd = is_new ? accepted(listener, SOCK_NONBLOCK) : events[i].data.fd;
            const auto place = static_cast<std::size_t>(fd);
            if (is_new) {
                SSL* const ssl = ctx ? ::SSL_new(ctx) : nullptr;
                if (ssl) {
                    ::SSL_set_fd(ssl, fd);
                    ::SSL_set_accept_state(ssl);
                }
                peers.resize(std::max(peers.size(), place + 1));
                peers[place] = std::make_unique<Peer>(Peer{ssl, Way({fd, ssl}, {fd, ssl})});
                control(epoll, EPOLL_CTL_ADD, fd, EPOLLIN);
                continue;
            }
            Way& way = peers[place]->way;
            const bool was_empty = way.empty();
            if (!way.move() || way.is_over()) {
                ::SSL_free(peers[place]->ssl);
                ::close(fd);
            } else if (way.empty() != was_empty) {
                control(epoll, EPOLL_CTL_MOD, fd, way.empty() ? EPOLLIN : EPOLLOUT);
            }
        }
    }
}

[[noreturn]] void serve_datagrams() {
    static char room[65536];
    for (const int fd = bound_socket(SOCK_DGRAM);;) {
        sockaddr_storage peer;
        socklen_t size = sizeof peer;
        auto* const name = reinterpret_cast<sockaddr*>(&peer);
        const ssize_t count = ::recvfrom(fd, room, sizeof room, 0, name, &size);
        if (count >= 0) ::sendto(fd, room, static_cast<std::size_t>(count), 0, name, size);
    }
}

SSL* verified_tls(int fd, const std::string& authority) {
    SSL_CTX* const ctx = new_context(::TLS_client_method());
    ::SSL_CTX_load_verify_file(ctx, authority.c_str());
    ::SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, nullptr);
    SSL* const ssl = ::SSL_new(ctx);
    ::SSL_set1_host(ssl, "localhost");
    ::SSL_set_fd(ssl, fd);
    require(::SSL_connect(ssl) == 1);
    return ssl;
}

short if_wanted(bool wanted, short events) { return static_cast<short>(wanted ? events : 0); }

int relay(const std::vector<std::string>& words) {
    End server{connected(words[0], SOCK_STREAM)};
    if (words.size() > 1) server.ssl = verified_tls(server.fd, words[1]);
    for (const int fd : {0, 1, server.fd}) ::fcntl(fd, F_SETFL, O_NONBLOCK);
    Way up({0}, server);
    Way down(server, {1});
    for (bool said = false; !down.is_over();) {
        const int from_server = if_wanted(down.empty(), POLLIN);
        const int to_server = if_wanted(!up.empty(), POLLOUT);
        pollfd polled[] = {{up.is_over() ? -1 : 0, if_wanted(up.empty(), POLLIN), 0},
                           {down.empty() ? -1 : 1, POLLOUT, 0},
                           {server.fd, static_cast<short>(from_server | to_server), 0}};
        ::poll(polled, 3, -1);
        const short event = polled[2].revents;
        if ((polled[1].revents != 0 || (event & ~POLLOUT) != 0) && !down.move()) return 1;
        if ((polled[0].revents != 0 || (event & POLLOUT) != 0) && !up.move()) return 1;
        if (up.is_over() && !said) {
            if (server.ssl) ::SSL_shutdown(server.ssl);
            ::shutdown(server.fd, SHUT_WR);
            said = true;
        }
    }
    return 0;
}

}  // namespace

int by_hand(const std::vector<std::string>& words) {
    const std::vector<std::string> arguments(words.begin() + 2, words.end());
    if (words[1] == "serve") serve(arguments);
    if (words[1] == "datagrams") serve_datagrams();
    if (words[1] == "queue") serve_queue();
    return relay(arguments);
}

Command by_hand_command(const std::string& name, const Command& arguments) {
    Command command{"/proc/self/exe", "by-hand", name};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return command;
}

int bound_socket(int type) {
    const int fd = ::socket(AF_INET, type, 0);
    sockaddr_in name = loopback("0");
    socklen_t size = sizeof name;
    require(::bind(fd, generic(name), size) == 0);
    require(type != SOCK_STREAM || ::listen(fd, 1024) == 0);
    ::getsockname(fd, reinterpret_cast<sockaddr*>(&name), &size);
    std::printf("127.0.0.1:%d\n", ntohs(name.sin_port));
    std::fflush(stdout);
    return fd;
}

int accepted(int listener, int flags) {
    const int fd = ::accept4(listener, nullptr, nullptr, flags);
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

Client::Client(const std::string& port, int type, SSL_CTX* ctx) : fd_(connected(port, type)) {
    const timeval limit{.tv_sec = 5, .tv_usec = 0};  // a datagram may be lost
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (!ctx) return;
    ssl_ = ::SSL_new(ctx);
    ::SSL_set_fd(ssl_, fd_);
    require(::SSL_connect(ssl_) == 1);
}

Client::~Client() {
    ::SSL_free(ssl_);
    ::close(fd_);
}

void Client::write(std::string_view bytes) {
    const auto size = static_cast<ssize_t>(bytes.size());
    require((ssl_ ? ::SSL_write(ssl_, bytes.data(), static_cast<int>(size))
                  : ::send(fd_, bytes.data(), bytes.size(), 0)) == size);
}

std::string_view Client::read(std::size_t size) {
    static char room[in_flight];
    for (std::size_t got = 0; got < size;) {
        const ssize_t count = ssl_ ? ::SSL_read(ssl_, room + got, static_cast<int>(size - got))
                                   : ::recv(fd_, room + got, size - got, 0);
        require(count > 0);
        got += static_cast<std::size_t>(count);
    }
    return {room, size};
}

}  // namespace bench
