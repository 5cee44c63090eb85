// A listening socket, which hands over each connection that is accepted.
#pragma once

#include "bufio/address.hpp"
#include "bufio/fd.hpp"
#include "ev/loop.hpp"

#include <sys/types.h>

#include <functional>
#include <string>

namespace bufio {

// When the process has run out of descriptors or memory, accepting pauses for a second instead
// of spinning, or until resume(). Connections then wait in the system's queue.  The constructor
// creates a unix-domain socket's path, replacing one that a dead server has left; the
// destructor removes the path, unless another file has taken its place.
class Listener {
public:
    using Callback = std::function<void(Fd socket, const Address& peer)>;
    using OnExhausted = std::function<void(int code)>;

    // Throws std::system_error if the address can't be listened on. A port of 0 means any free
    // one. A path is never shared. `on_exhausted` gets the errno of the first pause, and is not
    // called again before all that waited were accepted. The callbacks must not destroy the
    // listener.
    Listener(
        ev::Loop& loop, const Address& address, Callback accepted,
        OnExhausted on_exhausted = [](int) {}, Sharing sharing = Sharing::alone);
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    // Ends a pause, because a descriptor or memory was freed. May be called at any time.
    void resume();

    const Address& address() const { return address_; }  // with the actual port

private:
    // The path of a unix-domain socket, which is removed at the end if it is still ours.
    class Path {
    public:
        Path() = default;
        ~Path();
        Path(const Path&) = delete;
        Path& operator=(const Path&) = delete;
        // Takes over a path that a socket has just been bound to.
        void own(std::string path);

    private:
        std::string path_;  // empty if there is none
        dev_t device_ = 0;
        ino_t inode_ = 0;
    };

    void accept_some();
    void pause_accepting(int code);

    Fd socket_;
    Path path_;  // declared after the socket, so that the path is removed before that is closed
    Address address_;
    Callback accepted_;
    OnExhausted on_exhausted_;
    bool exhausted_ = false;  // on_exhausted_ was called for this shortage
    ev::Timer resume_timer_;
    ev::Watch watch_;
};

}  // namespace bufio
