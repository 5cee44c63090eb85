// UDP sockets that move many datagrams per system call if possible, and a transport whose
// frames are datagrams.
#pragma once

#include "bufio/address.hpp"
#include "bufio/fd.hpp"
#include "bufio/transport.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace bufio {

// The largest payload of a UDP datagram over IPv4, in bytes.
constexpr std::size_t max_datagram = 65507;

struct Datagram {  // received
    std::string_view bytes;
    Address peer;              // its sender
    Address local;             // the local address that received it; a wildcard if unknown
    bool is_to_group = false;  // sent to a broadcast or multicast address
};

// A datagram to send. A bound socket needs `to`. If it is bound to a wildcard address, it sends
// from `from`; if that is null or a wildcard, the route selects the address.
struct Packet {
    std::string_view bytes;
    const Address* to = nullptr;
    const Address* from = nullptr;
};

// Returns a non-blocking UDP socket bound to this address. Throws std::system_error.
Fd bound_datagram_socket(const Address& address);

class PacketSocket {
public:
    static constexpr std::size_t max_batch = 64;  // datagrams per system call

    // Takes ownership of a non-blocking UDP socket, bound or connected. If it is bound to a
    // wildcard address, the system reports each datagram's local address from now on.
    explicit PacketSocket(Fd socket);

    // Returns one or more waiting datagrams, at most a batch. On failure returns none and sets
    // errno. The bytes are valid until any socket of this thread receives again.
    std::span<const Datagram> receive();
    // Sends packets, at most a batch, until the system refuses one, and returns their number.
    // If the system refuses the first one, returns 0 and sets errno.
    std::size_t send(std::span<const Packet> packets);

    int descriptor() const { return socket_.get(); }
    const Address& address() const { return address_; }  // local address, with the actual port

private:
    Fd socket_;
    unsigned lone_receives_ = 0;  // consecutive calls that returned one datagram
    Address address_;
};

// The transport makes each datagram a frame: its size, as two bytes in network order, and its
// bytes. Takes ownership of a non-blocking UDP socket, and stores a reference to `peer`.
//
// Write whole frames. A datagram that the system refuses for its size or for lack of memory is
// dropped. Any other error of a connected socket is a failure, with Reason::refused or
// Reason::connect if the peer is absent. A bound socket (`is_connected` is false) drops each
// datagram that is refused. It sends to `peer`, in which each read stores the sender of the
// last datagram.
std::unique_ptr<Transport> make_packet_transport(Fd socket, Address& peer,
                                                 bool is_connected = true);

}  // namespace bufio
