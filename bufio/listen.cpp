#include "bufio/listen.hpp"

#include <netinet/in.h>
#include <sys/stat.h>
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
    // A file that is in the way is not an address in use.
    const int code = errno == EADDRINUSE && is_other_file(address) ? EEXIST : errno;
    throw std::system_error(code, std::generic_category(),
                            "cannot listen on " + address.text());
}

// Accepting failed because of one connection, which went away while it waited.
bool is_transient(int code) {
    switch (code) {
    case EINTR:
    case ECONNABORTED:
    case EPROTO:
    case ENETDOWN:
    case ENETUNREACH:
    case EHOSTUNREACH: return true;
    default: return false;
    }
}

// A path that a server left behind when it died. One that still accepts is left alone.
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
      accepted_(std::move(accepted)),
      on_exhausted_(std::move(on_exhausted)),
      pause_(loop, [this] { watch_.want(ev::readable); }) {
    const int on = 1;
    if (!socket_) refuse(address);
    // What may run out of memory comes before there is a path to be left behind.
    watch_ =
        ev::Watch(loop, socket_.get(), ev::readable, [this](ev::Events) { accept_some(); });
    remove_stale(address);
    if (address.family() != AF_UNIX)
        ::setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    // [::] and 0.0.0.0 are two sockets, whatever the system's default.
    if (address.family() == AF_INET6)
        ::setsockopt(socket_.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (::bind(socket_.get(), address.get(), address.size) != 0) refuse(address);
    if (address.family() == AF_UNIX) path_.own(address.text());
    if (::listen(socket_.get(), backlog) != 0) refuse(address);
    if (address.family() != AF_UNIX) address_ = Address::of_socket(socket_.get());
}

Listener::~Listener() = default;

void Listener::Path::own(std::string path) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) return;
    device_ = status.st_dev;
    inode_ = status.st_ino;
    path_ = std::move(path);
}

// The socket that holds the inode is still open, so that no other file can have its number.
Listener::Path::~Path() {
    struct stat status {};
    const bool there = !path_.empty() && ::lstat(path_.c_str(), &status) == 0;
    if (there && status.st_dev == device_ && status.st_ino == inode_) ::unlink(path_.c_str());
}

void Listener::pause(int code) {
    pause_.start(pause_length);
    watch_.want(ev::none);
    if (!std::exchange(exhausted_, true)) on_exhausted_(code);
}

void Listener::accept_some() {
    for (int i = 0; i < batch; ++i) {
        Address peer;
        peer.size = sizeof peer.storage;
        Fd socket(
            ::accept(socket_.get(), reinterpret_cast<sockaddr*>(&peer.storage), &peer.size));
        if (!socket && is_transient(errno)) continue;
        if (!socket && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
        if (!socket) return pause(errno);
        exhausted_ = false;
        prepare_socket(socket.get(), address_.family());
        accepted_(std::move(socket), peer);
    }
}

}  // namespace bufio
