// The least that a client can be: bytes from standard input to a loopback port and back, by one
// poll and two buffers. usage: client_relay PORT
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>

namespace {

constexpr std::size_t size = 64 * 1024;
char room[size];

bool write_all(int fd, ssize_t count) {
    for (ssize_t at = 0; at < count;) {
        const ssize_t part = ::write(fd, room + at, static_cast<std::size_t>(count - at));
        if (part <= 0) return false;
        at += part;
    }
    return true;
}

// False at the end of the input.
bool relay(int from, int to) {
    const ssize_t count = ::read(from, room, size);
    return count > 0 && write_all(to, count);
}

}  // namespace

int main(int, char* argv[]) {
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = htons(static_cast<in_port_t>(std::atoi(argv[1])));
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket, reinterpret_cast<sockaddr*>(&name), sizeof name) != 0) return 7;
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    pollfd polled[] = {{0, POLLIN, 0}, {socket, POLLIN, 0}};
    for (;;) {
        ::poll(polled, 2, -1);
        if (polled[1].revents != 0 && !relay(socket, 1)) return 0;
        if (polled[0].revents == 0 || relay(0, socket)) continue;
        ::shutdown(socket, SHUT_WR);
        polled[0].fd = -1;
    }
}
