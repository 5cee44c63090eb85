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

// The most connections accepted in one turn, so that a storm of them can't starve the others.
constexpr int max_accepts_per_turn = 64;
// The length of the queue of connections to be accepted; the system caps it at its own limit.
constexpr int backlog = 4096;
constexpr ev::Duration accept_pause = std::chrono::seconds(1);

[[noreturn]] void refuse(const Address& address) {
    // The system reports "address in use" also if a file that is no socket is in the way.
    const int code = errno == EADDRINUSE && is_other_file(address) ? EEXIST : errno;
    throw std::system_error(code, std::generic_category(),
                            "cannot listen on " + address.text());
}

// True if accepting failed only for one connection, which was lost while it waited.
bool lost_one_connection(int code) {
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

// Removes a path that a server left behind when it died, but not one that is still listened on.
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
                   OnExhausted on_exhausted, Sharing sharing)
    : socket_(open_socket(address.family())),
      address_(address),
      accepted_(std::move(accepted)),
      on_exhausted_(std::move(on_exhausted)),
      resume_timer_(loop, [this] { watch_.want(ev::readable); }) {
    const int on = 1;
    if (!socket_) refuse(address);
    // The watch is made before the path is, because making it may throw std::bad_alloc, which
    // would leave the path behind.
    watch_ =
        ev::Watch(loop, socket_.get(), ev::readable, [this](ev::Events) { accept_some(); });
    remove_stale(address);
    if (address.family() != AF_UNIX)
        ::setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (!bind_socket(socket_.get(), address, sharing)) refuse(address);
    if (address.family() == AF_UNIX) path_.own(address.text());
    if (::listen(socket_.get(), backlog) != 0) refuse(address);
    if (address.family() != AF_UNIX) address_ = Address::of_socket(socket_.get());
    if (address_.family() == AF_UNSPEC) refuse(address);
}

Listener::~Listener() = default;

void Listener::Path::own(std::string path) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) return;
    device_ = status.st_dev;
    inode_ = status.st_ino;
    path_ = std::move(path);
}

// The socket is still open here and holds its inode, so that no other file can have its number.
Listener::Path::~Path() {
    struct stat status {};
    const bool there = !path_.empty() && ::lstat(path_.c_str(), &status) == 0;
    if (there && status.st_dev == device_ && status.st_ino == inode_) ::unlink(path_.c_str());
}

void Listener::pause_accepting(int code) {
    resume_timer_.start(accept_pause);
    watch_.want(ev::none);
    if (exhausted_) return;
    exhausted_ = true;
    on_exhausted_(code);
}

// From the loop: the caller may not yet have freed the descriptor.
void Listener::resume() {
    if (resume_timer_.pending()) resume_timer_.start(ev::Duration::zero());
}

void Listener::accept_some() {
    for (int i = 0; i < max_accepts_per_turn; ++i) {
        Address peer;
        peer.size = sizeof peer.storage;
        Fd socket(
            ::accept(socket_.get(), reinterpret_cast<sockaddr*>(&peer.storage), &peer.size));
        if (!socket && lost_one_connection(errno)) continue;
        if (!socket && errno != EAGAIN && errno != EWOULDBLOCK) return pause_accepting(errno);
        if (!socket) exhausted_ = false;
        if (!socket) return;
        prepare_socket(socket.get(), address_.family());
        accepted_(std::move(socket), peer);
    }
}

}  // namespace bufio
