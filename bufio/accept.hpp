// Waits for peers on a local address, and passes on one at a time. The others wait in the
// system's queue.
#pragma once

#include "bufio/dial.hpp"
#include "bufio/listen.hpp"
#include "bufio/packets.hpp"

#include <functional>
#include <optional>

namespace bufio {

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
    void pass_on(End end, Fd socket, const Address& peer);

    ev::Loop& loop_;
    Address address_;
    Dialer::Callback on_accepted_;
    std::optional<Listener> listener_;
    Fd datagrams_;  // used instead with UDP
    ev::Watch watch_;
};

}  // namespace bufio
