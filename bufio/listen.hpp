// Listening sockets.
#pragma once

#include "bufio/dial.hpp"
#include "ev/loop.hpp"

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>

namespace bufio {

// Removes a path when it is destroyed, unless another file has taken its place. The file or
// socket must still be open then, so that its inode number can't have been reused.
class OwnedPath {
public:
    OwnedPath() = default;
    ~OwnedPath();
    OwnedPath(const OwnedPath&) = delete;
    void own(std::string path);  // of a file or socket that was just made
    void renamed(std::string path) { path_ = std::move(path); }  // the file has another name

private:
    std::string path_;  // empty if there is none
    dev_t device_ = 0;
    ino_t inode_ = 0;
};

// Passes each accepted connection to a callback. When the process runs out of descriptors or
// memory, accepting pauses for a second, or until resume(). For a unix-domain socket the
// constructor creates the path, and replaces a socket left by a dead server.
class Listener {
public:
    using Callback = std::function<void(Fd socket, const Address& peer)>;
    using OnExhausted = std::function<void(int code)>;

    // Throws std::system_error if it can't listen on the address. Port 0 means any free port.
    // `on_exhausted` gets the errno of the first pause until all waiting connections have been
    // accepted. The callbacks must not destroy the listener.
    Listener(
        ev::Loop& loop, const Address& address, Callback accepted,
        OnExhausted on_exhausted = [](int) {});
    Listener(const Listener&) = delete;

    void resume();            // call it after freeing a descriptor or memory
    void pause(bool paused);  // may be called from the callback

    const Address& address() const { return address_; }  // with the actual port

private:
    void accept_some();
    void update_interest();

    Fd socket_;
    OwnedPath path_;  // of a unix-domain socket; after the socket, see above
    Address address_;
    Callback on_accepted_;
    OnExhausted on_exhausted_;
    bool paused_ = false;
    bool exhausted_ = false;  // on_exhausted_ was called for the current shortage
    ev::Timer resume_timer_;
    ev::Watch watch_;
};

// Waits for peers on a local address, and passes on one at a time. The others wait in the
// system's queue.
class Acceptor {
public:
    // Throws std::system_error if it can't listen on the address.
    Acceptor(ev::Loop& loop, const Address& address, bool udp);

    // Calls back once, from the loop, unless it is cancelled. The callback may call accept()
    // again. With UDP, the socket is a copy of the bound one, and the peer is the sender of the
    // first datagram, which is still to be read. Out of descriptors or memory, the result has
    // an end instead of a socket. The caller then waits before it calls accept() again.
    void accept(Dialer::Callback accepted);
    void cancel();

    const Address& address() const { return address_; }  // with the actual port

private:
    void accept_datagram();
    void fail(int code);
    void pass_on(DialResult result);

    ev::Loop& loop_;
    Address address_;
    Dialer::Callback on_accepted_;
    std::optional<Listener> listener_;
    Fd datagrams_;  // used instead with UDP
    ev::Watch watch_;
};

}  // namespace bufio
