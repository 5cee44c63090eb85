#include "bufio/listen.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

namespace bufio {

namespace {

// Limits the calls of accept() in one turn, so that a flood can't starve other callbacks.
constexpr int max_accepts_per_turn = 64;
// The length of the accept queue; the system caps it.
constexpr int backlog = 4096;
constexpr ev::Duration accept_pause = std::chrono::seconds(1);

[[noreturn]] void throw_listen_error(const Address& address, bool is_udp) {
    // The system also reports "address in use" if the path is a file other than a socket.
    const int code = errno == EADDRINUSE && is_non_socket_file(address) ? EEXIST : errno;
    throw std::system_error(code, std::generic_category(),
                            (is_udp ? "cannot listen on udp " : "cannot listen on ") +
                                address.text());
}

// Returns true if accepting can continue, because only one waiting connection was lost.
bool can_accept_next(int code) {
    constexpr int codes[] = {ECONNABORTED, EPROTO, ENETDOWN, ENETUNREACH, EHOSTUNREACH};
    return std::find(std::begin(codes), std::end(codes), code) != std::end(codes);
}

// Removes a socket's path that a dead server left behind, but not the path of a live server.
void remove_stale(const Address& address) {
    struct stat status {};
    if (address.family() != AF_UNIX || ::lstat(address.text().c_str(), &status) != 0 ||
        !S_ISSOCK(status.st_mode))
        return;
    const Fd probe = open_socket(AF_UNIX);
    if (::connect(probe.get(), address.get(), address.size) != 0 && errno == ECONNREFUSED)
        ::unlink(address.text().c_str());
}

}  // namespace

ListeningSocket::ListeningSocket(const Address& bind_address, bool is_udp)
    : fd(open_socket(bind_address.family(), is_udp)), address(bind_address) {
    const bool is_path = bind_address.family() == AF_UNIX;
    const int on = 1;
    // Copied before the path exists, because a std::bad_alloc would leave the path behind.
    std::string text = bind_address.text();
    if (!fd) throw_listen_error(bind_address, is_udp);
    if (!is_udp) remove_stale(bind_address);
    if (!is_udp && !is_path) ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (!bind_socket(fd.get(), bind_address)) throw_listen_error(bind_address, is_udp);
    if (is_path) path.own(std::move(text));
    if (!is_udp && ::listen(fd.get(), backlog) != 0) throw_listen_error(bind_address, is_udp);
    // Without its port, which peers need, the socket is useless.
    if (!is_path) address = Address::of_socket(fd.get());
    if (address.family() == AF_UNSPEC) throw_listen_error(bind_address, is_udp);
}

Fd ListeningSocket::accept(Address& peer) const {
    peer.size = sizeof peer.storage;
    Fd socket(::accept(fd.get(), reinterpret_cast<sockaddr*>(&peer.storage), &peer.size));
    if (socket) prepare_socket(socket.get(), address.family() != AF_UNIX);
    return socket;
}

void OwnedPath::own(std::string path) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) return;
    device_ = status.st_dev;
    inode_ = status.st_ino;
    path_ = std::move(path);
}

OwnedPath::~OwnedPath() {
    struct stat status {};
    const bool exists = !path_.empty() && ::lstat(path_.c_str(), &status) == 0;
    if (exists && status.st_dev == device_ && status.st_ino == inode_) ::unlink(path_.c_str());
}

Listener::Listener(ev::Loop& loop, const Address& address, Callback on_accepted,
                   OnExhausted on_exhausted)
    : socket_(address, false),
      on_accepted_(std::move(on_accepted)),
      on_exhausted_(std::move(on_exhausted)),
      watch_(loop, socket_.fd.get(), ev::readable, [this](ev::Events) { accept_some(); }),
      resume_timer_(loop, [this] { watch_.want(ev::readable); }) {}

// Accepts later, from the loop, so that no callback runs inside this call.
void Listener::resume() {
    if (resume_timer_.pending()) resume_timer_.start(ev::Duration::zero());
}

void Listener::accept_some() {
    for (int i = 0; i < max_accepts_per_turn; ++i) {
        Address peer;
        Fd socket = socket_.accept(peer);
        const int code = errno;
        if (socket) {
            on_accepted_(std::move(socket), peer);
        } else if (!can_accept_next(code)) {
            const bool was_exhausted = std::exchange(is_exhausted_, !would_block(code));
            if (!is_exhausted_) return;
            resume_timer_.start(accept_pause);
            watch_.want(ev::none);
            if (!was_exhausted) on_exhausted_(code);
            return;
        }
    }
}

void Acceptor::accept(Dialer::Callback done) {
    watch_ = ev::Watch(loop_, socket_.fd.get(), ev::readable,
                       [this, done = std::move(done)](ev::Events) { accept_peer(done); });
}

void Acceptor::accept_peer(const Dialer::Callback& done) {
    DialResult result;
    Address& peer = result.address;
    if (is_udp_) {
        peer.size = sizeof peer.storage;
        if (::recvfrom(socket_.fd.get(), nullptr, 0, MSG_PEEK,
                       reinterpret_cast<sockaddr*>(&peer.storage), &peer.size) < 0)
            return;
        result.socket.reset(::fcntl(socket_.fd.get(), F_DUPFD_CLOEXEC, 0));
    } else {
        result.socket = socket_.accept(peer);
    }
    if (!result.socket) {
        if (would_block(errno) || can_accept_next(errno)) return;
        result.end = system_end(Reason::connect, "accepting failed:", errno);
    }
    const Dialer::Callback callback = done;  // cancel() destroys the original
    cancel();
    callback(std::move(result));
}

}  // namespace bufio
