// A minimal client: relays standard input to a loopback port and back, with one poll and two
// buffers. usage: client_relay PORT [CA-FILE]; with the file it uses verified TLS.
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <initializer_list>

namespace {

constexpr std::size_t chunk = 64 * 1024;

int sock;
SSL* ssl;  // null: plain

// Returns the bytes moved, 0 at the end or after a failure, or -1 if the call would block.
ssize_t moved(ssize_t count) { return count < 0 && errno != EAGAIN ? 0 : count; }

ssize_t moved_by_tls(int count) {
    if (count > 0) return count;
    const int why = SSL_get_error(ssl, count);
    return why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE ? -1 : 0;
}

ssize_t take(int fd, char* to) {
    if (fd == sock && ssl) return moved_by_tls(SSL_read(ssl, to, chunk));
    return moved(::read(fd, to, chunk));
}

ssize_t give(int fd, const char* from, std::size_t size) {
    if (fd == sock && ssl) return moved_by_tls(SSL_write(ssl, from, static_cast<int>(size)));
    return moved(::write(fd, from, size));
}

// One direction. Writes all bytes before it reads more.
struct Way {
    int from;
    int to;
    char buffer[chunk] = {};
    std::size_t begin = 0;
    std::size_t end = 0;
    bool over = false;

    bool empty() const { return begin == end; }

    void give_rest() {
        while (!empty()) {
            const ssize_t count = give(to, buffer + begin, end - begin);
            if (count == 0) std::exit(1);
            if (count < 0) return;
            begin += static_cast<std::size_t>(count);
        }
    }

    void go_on() {
        give_rest();
        while (empty() && !over) {
            const ssize_t count = take(from, buffer);
            if (count < 0) return;
            over = count == 0;
            begin = 0;
            end = static_cast<std::size_t>(count);
            give_rest();
            if (from != sock || !ssl || SSL_pending(ssl) == 0) return;
        }
    }
};

void connect(const char* port) {
    sock = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = htons(static_cast<in_port_t>(std::atoi(port)));
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(sock, reinterpret_cast<sockaddr*>(&name), sizeof name) != 0) std::exit(7);
    const int on = 1;
    ::setsockopt(sock, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

void start_tls(const char* authority) {
    SSL_CTX* const ctx = SSL_CTX_new(TLS_client_method());
    SSL_CTX_load_verify_file(ctx, authority);
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    ssl = SSL_new(ctx);
    SSL_set1_host(ssl, "localhost");
    SSL_set_fd(ssl, sock);
    if (SSL_connect(ssl) != 1) std::exit(60);
}

void say_end() {
    if (ssl) SSL_shutdown(ssl);
    ::shutdown(sock, SHUT_WR);
}

short if_wanted(bool wanted, short events) { return static_cast<short>(wanted ? events : 0); }

}  // namespace

int main(int, char* argv[]) {
    connect(argv[1]);
    if (argv[2]) start_tls(argv[2]);
    for (const int fd : {0, 1, sock}) ::fcntl(fd, F_SETFL, O_NONBLOCK);
    static Way up{0, sock};
    static Way down{sock, 1};
    for (bool said = false; !down.over;) {
        const int from_socket = if_wanted(down.empty(), POLLIN);
        const int to_socket = if_wanted(!up.empty(), POLLOUT);
        pollfd polled[] = {{up.over ? -1 : 0, if_wanted(up.empty(), POLLIN), 0},
                           {down.empty() ? -1 : 1, POLLOUT, 0},
                           {sock, static_cast<short>(from_socket | to_socket), 0}};
        ::poll(polled, 3, -1);
        if (polled[1].revents != 0 || (polled[2].revents & ~POLLOUT) != 0) down.go_on();
        if (polled[0].revents != 0 || (polled[2].revents & POLLOUT) != 0) up.go_on();
        if (up.over && !said) say_end();
        said = up.over;
    }
}
