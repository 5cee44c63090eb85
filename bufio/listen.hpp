// Listening: hands over each connection that comes in.
#pragma once

#include "bufio/address.hpp"
#include "bufio/fd.hpp"
#include "ev/loop.hpp"

#include <sys/types.h>

#include <functional>
#include <string>

namespace bufio {

// When the process has run out of descriptors or memory, accepting pauses for a second instead
// of spinning; the connections wait in the system's queue.  A unix-domain path is made by the
// constructor, also in place of one that a dead server has left, and removed by the destructor,
// unless something else stands there by then.
class Listener {
public:
    using Callback = std::function<void(Fd socket, const Address& peer)>;
    using OnExhausted = std::function<void(int code)>;

    // Throws std::system_error: the address can't be listened on. A port of 0 is any free one.
    // `on_exhausted` gets the errno of the first pause, and then none until one was accepted
    // again. The listener must not be destroyed by its callbacks.
    Listener(
        ev::Loop& loop, const Address& address, Callback accepted,
        OnExhausted on_exhausted = [](int) {});
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    const Address& address() const { return address_; }  // with the port that it got

private:
    // The path of a unix-domain socket, while it is ours.
    class Path {
    public:
        Path() = default;
        ~Path();
        Path(const Path&) = delete;
        Path& operator=(const Path&) = delete;
        void own(std::string path);  // that a socket has just been bound to

    private:
        std::string path_;  // empty: there is none
        dev_t device_ = 0;
        ino_t inode_ = 0;
    };

    void accept_some();
    void pause(int code);

    Fd socket_;
    Path path_;  // after the socket, so that it goes first
    Address address_;
    Callback accepted_;
    OnExhausted on_exhausted_;
    bool exhausted_ = false;  // and that is told
    ev::Timer pause_;
    ev::Watch watch_;
};

}  // namespace bufio
