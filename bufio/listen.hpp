// Listening sockets.
#pragma once

#include "bufio/dial.hpp"
#include "ev/loop.hpp"

#include <sys/types.h>

#include <functional>
#include <string>

namespace bufio {

// The destructor removes the path, unless another file has taken its place. The owned file or
// socket must still be open then, so that its inode number can't have been reused.
class OwnedPath {
public:
    OwnedPath() = default;
    ~OwnedPath();
    OwnedPath(const OwnedPath&) = delete;
    void own(std::string path);  // call it when the file or socket has just been made
    void set_path(std::string path) { path_ = std::move(path); }  // the file's new path

private:
    std::string path_;  // empty if there is none
    dev_t device_ = 0;
    ino_t inode_ = 0;
};

// A socket that waits for peers. For a unix-domain socket the constructor creates the path, and
// replaces a socket left by a dead server.
struct ListeningSocket {
    // Throws std::system_error if it can't listen on the address. Port 0 means any free port.
    // With `is_udp`, the socket is only bound.
    ListeningSocket(const Address& bind_address, bool is_udp);
    // Returns a non-blocking connection. On failure, and if no connection is waiting, the
    // result is empty and errno is set.
    Fd accept(Address& peer) const;

    Fd fd;
    OwnedPath path = {};  // a unix-domain socket's; destroyed before `fd`, see OwnedPath
    Address address;      // with the actual port
};

// Passes each accepted connection to a callback. When accepting fails, in particular for lack
// of descriptors or memory, it pauses for a second, or until resume().
class Listener {
public:
    using Callback = std::function<void(Fd socket, const Address& peer)>;
    using OnExhausted = std::function<void(int code)>;

    // Throws as ListeningSocket does. When accepting pauses, calls `on_exhausted` with the
    // errno, but not again until all waiting connections have been accepted. The callbacks must
    // not destroy the listener.
    Listener(
        ev::Loop& loop, const Address& address, Callback on_accepted,
        OnExhausted on_exhausted = [](int) {});
    Listener(const Listener&) = delete;

    void resume();  // call it after freeing a descriptor or memory

    const Address& address() const { return socket_.address; }

private:
    void accept_some();

    ListeningSocket socket_;
    Callback on_accepted_;
    OnExhausted on_exhausted_;
    bool is_exhausted_ = false;  // until all waiting connections have been accepted
    ev::Watch watch_;
    ev::Timer resume_timer_;
};

// Waits for peers on a local address, and passes on one at a time. The others wait in the
// system's queue.
class Acceptor {
public:
    Acceptor(ev::Loop& loop, const Address& address,
             bool is_udp)  // throws as ListeningSocket does
        : loop_(loop), is_udp_(is_udp), socket_(address, is_udp) {}

    // Calls back once, from the loop, unless cancel() is called first. The callback may call
    // accept() again. With UDP, the socket is a copy of the bound one, and the peer is the
    // sender of the first datagram, which is still to be read. On failure, the result has an
    // end instead of a socket; wait before you call accept() again.
    void accept(Dialer::Callback done);
    void cancel() { watch_ = {}; }

    const Address& address() const { return socket_.address; }

private:
    void accept_peer(const Dialer::Callback& done);

    ev::Loop& loop_;
    const bool is_udp_;
    ListeningSocket socket_;
    ev::Watch watch_;
};

}  // namespace bufio
