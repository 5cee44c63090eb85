// Listening: hands over each connection that comes in.
#pragma once

#include "bufio/address.hpp"
#include "bufio/fd.hpp"
#include "ev/loop.hpp"

#include <functional>

namespace bufio {

// When the process has run out of descriptors or memory, accepting pauses for a second instead
// of spinning; the connections wait in the system's queue.  A unix-domain path is made by the
// constructor, also in place of one that a dead server has left, and removed by the destructor.
class Listener {
public:
    using Callback = std::function<void(Fd socket, const Address& peer)>;

    // Throws std::system_error: the address can't be listened on. A port of 0 is any free one.
    // The listener must not be destroyed by the callback.
    Listener(ev::Loop& loop, const Address& address, Callback accepted);
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    const Address& address() const { return address_; }  // with the port that it got

private:
    void accept_some();
    void pause();

    Fd socket_;
    Address address_;
    Callback accepted_;
    ev::Timer pause_;
    ev::Watch watch_;
};

}  // namespace bufio
