// A listening socket that passes each accepted connection to a callback.
#pragma once

#include "bufio/address.hpp"
#include "bufio/fd.hpp"
#include "ev/loop.hpp"

#include <sys/types.h>

#include <functional>
#include <string>

namespace bufio {

// When the process runs out of descriptors or memory, accepting pauses for a second, or until
// resume(), instead of spinning. Connections then wait in the system's queue. For a
// unix-domain socket the constructor creates the path, and replaces a socket left by a dead
// server. The destructor removes the path, unless another file has taken its place.
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

    // Ends a pause. Call it after freeing a descriptor or memory. May be called at any time.
    void resume();
    // May be called from the callback.
    void pause(bool paused);

    const Address& address() const { return address_; }  // with the actual port

private:
    // Owns the path of a unix-domain socket.
    class Path {
    public:
        Path() = default;
        ~Path();
        Path(const Path&) = delete;
        Path& operator=(const Path&) = delete;
        void own(std::string path);  // of a socket that was just bound

    private:
        std::string path_;  // empty if there is none
        dev_t device_ = 0;
        ino_t inode_ = 0;
    };

    void accept_some();
    void pause_accepting(int code);
    void update_interest();

    Fd socket_;
    Path path_;  // after the socket, so that the path is removed before the socket is closed
    Address address_;
    Callback on_accepted_;
    OnExhausted on_exhausted_;
    bool paused_ = false;
    bool exhausted_ = false;  // on_exhausted_ was called for the current shortage
    ev::Timer resume_timer_;
    ev::Watch watch_;
};

}  // namespace bufio
