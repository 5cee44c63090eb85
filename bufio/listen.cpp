#include "bufio/listen.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

namespace bufio {

namespace {

// Connections taken in one turn, so that a storm of them can't starve those that stand.
constexpr int batch = 64;
// The longest queue; the system caps it at its own limit.
constexpr int backlog = 4096;
constexpr ev::Duration pause_length = std::chrono::seconds(1);

[[noreturn]] void refuse(const Address& address) {
    throw std::system_error(errno, std::generic_category(),
                            "cannot listen on " + address.text());
}

bool is_shortage(int code) {
    return code == EMFILE || code == ENFILE || code == ENOBUFS || code == ENOMEM;
}

}  // namespace

Listener::Listener(ev::Loop& loop, const Address& address, Callback accepted)
    : socket_(open_socket(address.family())),
      address_(address),
      accepted_(std::move(accepted)),
      pause_(loop, [this] { watch_.want(ev::readable); }) {
    const int on = 1;
    if (!socket_) refuse(address);
    if (address.family() != AF_UNIX)
        ::setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (::bind(socket_.get(), address.get(), address.size) != 0 ||
        ::listen(socket_.get(), backlog) != 0)
        refuse(address);
    if (address.family() != AF_UNIX) {
        address_.size = sizeof address_.storage;
        ::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address_.storage),
                      &address_.size);
    }
    watch_ =
        ev::Watch(loop, socket_.get(), ev::readable, [this](ev::Events) { accept_some(); });
}

Listener::~Listener() {
    if (socket_ && address_.family() == AF_UNIX) ::unlink(address_.text().c_str());
}

void Listener::accept_some() {
    for (int i = 0; i < batch; ++i) {
        Address peer;
        peer.size = sizeof peer.storage;
        Fd socket(
            ::accept(socket_.get(), reinterpret_cast<sockaddr*>(&peer.storage), &peer.size));
        if (!socket && is_shortage(errno)) {
            watch_.want(ev::none);
            return pause_.start(pause_length);
        }
        if (!socket && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
        if (!socket) continue;  // a connection that went away while it waited
        ::fcntl(socket.get(), F_SETFD, FD_CLOEXEC);
        ::fcntl(socket.get(), F_SETFL, O_NONBLOCK);
        if (peer.family() != AF_UNIX) set_nodelay(socket.get());
        accepted_(std::move(socket), peer);
    }
}

}  // namespace bufio
