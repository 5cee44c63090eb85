#include "bufio/listen.hpp"

#include "bufio/packets.hpp"

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

// Limits the connections accepted in one turn, so that a flood can't starve other callbacks.
constexpr int max_accepts_per_turn = 64;
// The length of the accept queue; the system caps it.
constexpr int backlog = 4096;
constexpr ev::Duration accept_pause = std::chrono::seconds(1);

[[noreturn]] void refuse(const Address& address) {
    // The system also reports "address in use" if the path is a file other than a socket.
    const int code = errno == EADDRINUSE && is_non_socket_file(address) ? EEXIST : errno;
    throw std::system_error(code, std::generic_category(),
                            "cannot listen on " + address.text());
}

// True if accept() can continue immediately: a single connection was lost while it waited.
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

Listener::Listener(ev::Loop& loop, const Address& address, Callback accepted,
                   OnExhausted on_exhausted)
    : socket_(open_socket(address.family())),
      address_(address),
      on_accepted_(std::move(accepted)),
      on_exhausted_(std::move(on_exhausted)),
      resume_timer_(loop, [this] { update_interest(); }) {
    const int on = 1;
    if (!socket_) refuse(address);
    // The watch is made before the path, because a std::bad_alloc in between would leave the
    // path behind.
    watch_ =
        ev::Watch(loop, socket_.get(), ev::readable, [this](ev::Events) { accept_some(); });
    remove_stale(address);
    if (address.family() != AF_UNIX)
        ::setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (!bind_socket(socket_.get(), address)) refuse(address);
    if (address.family() == AF_UNIX) path_.own(address.text());
    if (::listen(socket_.get(), backlog) != 0) refuse(address);
    if (address.family() != AF_UNIX) address_ = Address::of_socket(socket_.get());
    if (address_.family() == AF_UNSPEC) refuse(address);
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

// Accepts later, from the loop, because the caller may not have freed the descriptor yet.
void Listener::resume() {
    if (resume_timer_.pending()) resume_timer_.start(ev::Duration::zero());
}

void Listener::pause(bool paused) {
    paused_ = paused;
    update_interest();
}

void Listener::update_interest() {
    watch_.want(paused_ || resume_timer_.pending() ? ev::none : ev::readable);
}

void Listener::accept_some() {
    for (int i = 0; i < max_accepts_per_turn && !paused_; ++i) {
        Address peer;
        peer.size = sizeof peer.storage;
        Fd socket(
            ::accept(socket_.get(), reinterpret_cast<sockaddr*>(&peer.storage), &peer.size));
        if (!socket && can_accept_next(errno)) continue;
        if (!socket) {
            const int code = errno;
            const bool was_exhausted = std::exchange(exhausted_, !would_block(code));
            if (exhausted_) resume_timer_.start(accept_pause);
            update_interest();
            if (exhausted_ && !was_exhausted) on_exhausted_(code);
            return;
        }
        prepare_socket(socket.get(), address_.family() != AF_UNIX);
        on_accepted_(std::move(socket), peer);
    }
}

// --- Acceptor.

Acceptor::Acceptor(ev::Loop& loop, const Address& address, bool udp) : loop_(loop) {
    if (udp) {
        datagrams_ = bound_datagram_socket(address);
        address_ = Address::of_socket(datagrams_.get());
        return;
    }
    listener_.emplace(
        loop, address,
        [this](Fd socket, const Address& peer) {
            pass_on({.socket = std::move(socket), .address = peer});
        },
        [this](int code) { fail(code); });
    address_ = listener_->address();
    cancel();
}

void Acceptor::accept(Dialer::Callback accepted) {
    on_accepted_ = std::move(accepted);
    if (listener_) return listener_->pause(false);
    watch_ = ev::Watch(loop_, datagrams_.get(), ev::readable,
                       [this](ev::Events) { accept_datagram(); });
}

void Acceptor::cancel() {
    on_accepted_ = nullptr;
    if (listener_) listener_->pause(true);
    watch_ = {};
}

void Acceptor::accept_datagram() {
    Address peer;
    peer.size = sizeof peer.storage;
    const auto count = ::recvfrom(datagrams_.get(), nullptr, 0, MSG_PEEK,
                                  reinterpret_cast<sockaddr*>(&peer.storage), &peer.size);
    if (count < 0) return;
    Fd copy(::fcntl(datagrams_.get(), F_DUPFD_CLOEXEC, 0));
    if (!copy) return fail(errno);
    pass_on({.socket = std::move(copy), .address = peer});
}

void Acceptor::fail(int code) {
    pass_on({.end = system_end(Reason::connect, "accepting failed:", code)});
}

void Acceptor::pass_on(DialResult result) {
    const Dialer::Callback accepted = std::exchange(on_accepted_, nullptr);
    cancel();
    accepted(std::move(result));
}

}  // namespace bufio
