// A UDP socket: connected to one peer, or bound to a local address and open to all peers. It
// moves datagrams, several per system call if possible (recvmmsg, sendmmsg), and does not
// interpret them.
//
// datagrams_received() passes received datagrams to the user, a batch at a time. While the
// socket is paused they wait in the system's buffer; once that is full, the system drops new
// datagrams. send() puts a datagram into a bounded queue, and flush() passes as much of the
// queue as possible to the system. After datagrams_received() has returned, the socket flushes
// by itself. A datagram that does not fit into the queue is refused as a whole.
//
// A socket bound to a wildcard address asks the system for each datagram's local address
// (IP_PKTINFO, IPV6_PKTINFO), so that an answer can leave from that address. If the system
// can't report it, the answer leaves from the address that the route selects.
//
// A connected socket ends when the system reports an error for its peer, such as an ICMP "port
// unreachable". end() then contains the reason: Reason::connect if the error shows that the
// peer is absent. A bound socket never ends. It drops and counts a datagram that the system
// refuses to send, and pauses reading for a second after a failure to receive.
//
// The socket calls its user from the loop, never from inside the user's own calls. The user
// may do anything in the callback, including destroying the socket. An exception that it
// throws passes through the loop; after that the socket may only be destroyed.
#pragma once

#include "bufio/address.hpp"
#include "bufio/buffer.hpp"
#include "bufio/end.hpp"
#include "bufio/fd.hpp"
#include "bufio/lifetime.hpp"
#include "ev/loop.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace bufio {

// The largest payload of a UDP datagram over IPv4, in bytes.
constexpr std::size_t max_datagram = 65507;

// A received datagram. It is valid only during the callback.
struct Datagram {
    std::string_view bytes;
    Address peer;           // its sender
    Address local;          // the local address it was sent to; the wildcard if unknown
    bool to_group = false;  // sent to a broadcast or multicast address
};

// Returns a non-blocking UDP socket bound to this address. Throws std::system_error.
Fd bound_datagram_socket(const Address& address);

class DatagramSocket {
public:
    class User {
    public:
        virtual void datagrams_received(std::span<const Datagram> datagrams) = 0;
        // The queue is empty again after the system's send buffer was full.
        virtual void datagrams_written() {}
        // The connected socket has ended; see end().
        virtual void datagrams_ended() {}

    protected:
        ~User() = default;
    };

    struct Limits {
        std::size_t output = 4 * 1024 * 1024;  // bytes in the queue, addresses included
        std::size_t batch = 64;                // maximum datagrams per system call
    };

    // Takes ownership of a non-blocking socket connected to its peer, such as a Dialer makes.
    DatagramSocket(ev::Loop& loop, Fd connected, User& user, Limits limits);
    DatagramSocket(ev::Loop& loop, Fd connected, User& user)
        : DatagramSocket(loop, std::move(connected), user, Limits()) {}
    // Takes ownership of a socket that is bound to this address.
    DatagramSocket(ev::Loop& loop, Fd bound, const Address& address, User& user)
        : DatagramSocket(loop, std::move(bound), address, user, Limits(), false) {}
    // Makes a socket bound to this address. Throws std::system_error.
    DatagramSocket(ev::Loop& loop, const Address& address, User& user, Limits limits);
    DatagramSocket(ev::Loop& loop, const Address& address, User& user)
        : DatagramSocket(loop, address, user, Limits()) {}
    DatagramSocket(const DatagramSocket&) = delete;

    // Queues a datagram of up to max_datagram bytes for the next flush(). Returns false, and
    // queues nothing, if the queue lacks space or the socket has ended. The first form is for
    // connected sockets. The second is for bound sockets and sends to `to`. A socket bound to a
    // wildcard address sends from the local address `from`; if `from` is a wildcard or omitted,
    // the route selects the address.
    bool send(std::string_view bytes) { return queue(bytes) != nullptr; }
    bool send(std::string_view bytes, const Address& to, const Address& from = {});
    void flush();

    // Queued datagrams that the system has not yet accepted.
    std::size_t pending() const { return queue_.size() - queue_begin_; }
    std::size_t pending_bytes() const { return bytes_.size(); }
    // The number of datagrams that have left the queue: accepted or refused by the system.
    // refused() counts the refused datagrams alone.
    std::uint64_t dequeued() const { return dequeued_; }
    std::uint64_t refused() const { return refused_; }

    // Stops or resumes reading. A paused connected socket still ends if an error is reported.
    void pause_reading(bool paused);

    const Address& address() const { return address_; }  // local address, with the actual port
    // Reason::none while the socket has not ended.
    const End& end() const { return end_; }

private:
    struct Queued {
        std::size_t size = 0;  // bytes
        Address to;            // unspecified on a connected socket
        Address from;
    };
    DatagramSocket(ev::Loop& loop, Fd socket, const Address& address, User& user, Limits limits,
                   bool connected);
    void on_events(ev::Events events);
    void receive();
    void write_queue();
    Queued* queue(std::string_view bytes);
    std::size_t write_some();
    std::size_t write_refused(int code);
    void receive_failed(int code);
    void end_with(End end);
    void notify_of_end();
    void update_interest();

    Fd socket_;
    User& user_;
    const Limits limits_;
    const bool connected_;
    bool bound_to_wildcard_ = false;  // the system reports each datagram's local address
    bool paused_ = false;
    bool blocked_ = false;        // the system's send buffer is full
    unsigned lone_receives_ = 0;  // consecutive calls that returned one datagram
    Address address_;
    Address peer_;  // set for a connected socket
    End end_;
    Buffer bytes_;  // the queued datagrams, back to back
    std::vector<Queued> queue_;
    std::size_t queue_begin_ = 0;  // index of the first entry that has not left the queue
    std::uint64_t dequeued_ = 0;
    std::uint64_t refused_ = 0;
    Lifetime lifetime_;
    ev::Timer resume_timer_;  // ends a pause after a failure to receive
    ev::Timer end_timer_;  // reports from the loop an end that occurred in a call by the user
    ev::Watch watch_;
};

}  // namespace bufio
