// A socket of datagrams (UDP): connected to one peer, or bound to an address of ours and open
// to all peers.  It moves datagrams, several a system call if the system can (recvmmsg,
// sendmmsg), and does not interpret them.
//
// Datagrams arrive by datagrams_received(), a batch at a time. While the socket is paused they
// wait in the system's buffer, and once that is full the system drops further ones.  send()
// puts a datagram into a bounded queue, and flush() passes the queue to the system as far as it
// takes it; after datagrams_received() has returned, the socket flushes by itself. A datagram
// for which there is no space is refused; nothing is ever sent in part.
//
// A bound socket passes datagrams of one size to one peer as one piece if the system can cut it
// again (UDP_SEGMENT). A connected one does not: its datagrams are measured, and each must be
// delivered or lost on its own.
//
// A socket that is bound to a wildcard address learns to which address of this host a datagram
// was sent (IP_PKTINFO, IPV6_PKTINFO), so that an answer can leave from that address. If the
// system can't report it, the answer leaves from the address of the route.
//
// A connected socket ends when the system reports an error for its peer, such as an ICMP
// message that the port is unreachable: the end is a value, Reason::connect for an error that
// shows that the peer is absent. A bound socket never ends: a datagram that the system refuses
// to send is dropped and counted, and after a failure to receive it reads nothing for a second.
//
// The user is called from the loop, never from inside a call of its own, and may do anything in
// that call, including destroying the socket. An exception that it throws passes through the
// loop; after that the socket may only be destroyed.
#pragma once

#include "bufio/address.hpp"
#include "bufio/buffer.hpp"
#include "bufio/end.hpp"
#include "bufio/fd.hpp"
#include "ev/loop.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace bufio {

// The most bytes that a datagram can hold in a packet of IPv4.
constexpr std::size_t longest_datagram = 65507;

// A datagram that was received. All of it is valid until the call that passes it returns.
struct Datagram {
    std::string_view bytes;
    Address peer;   // its sender
    Address local;  // our address to which it was sent; the wildcard address if unknown
    bool truncated = false;  // it was longer than Limits::datagram, and only its head is here
    bool to_group = false;   // it was sent to a broadcast or multicast address
};

// Chooses the number of datagrams that the next call asks for: the last number received, or
// twice it if there may be more. To ask for two after a lone datagram costs the system a second
// look; looks that find nothing become rare.
class BatchSize {
public:
    explicit BatchSize(std::size_t max) : max_(max) {}
    std::size_t next() const { return size_; }
    void received(std::size_t count);

private:
    const std::size_t max_;
    std::size_t size_ = 1;
    unsigned interval_ = 1;  // one of this many lone datagrams is followed by a look for two
    unsigned lone_ = 0;      // datagrams since the last look
};

class DatagramSocket {
public:
    class User {
    public:
        virtual void datagrams_received(std::span<const Datagram> datagrams) = 0;
        // The queue, which the system did not take for a while, is empty again.
        virtual void datagrams_written() {}
        // A connected socket has ended; see end().
        virtual void datagrams_ended() {}

    protected:
        ~User() = default;
    };

    struct Limits {
        std::size_t output = 4 * 1024 * 1024;  // bytes of the queue, addresses included
        std::size_t datagram = 65535;          // bytes of a datagram received, at most this
        std::size_t batch = 64;                // datagrams a system call, at most this
    };

    // A non-blocking socket that is connected to its peer, as a Dialer makes it.
    DatagramSocket(ev::Loop& loop, Fd connected, User& user, Limits limits);
    DatagramSocket(ev::Loop& loop, Fd connected, User& user)
        : DatagramSocket(loop, std::move(connected), user, Limits()) {}
    // A new socket that is bound to this address. Throws std::system_error.
    DatagramSocket(ev::Loop& loop, const Address& address, User& user, Limits limits,
                   Sharing sharing = Sharing::alone);
    DatagramSocket(ev::Loop& loop, const Address& address, User& user)
        : DatagramSocket(loop, address, user, Limits()) {}
    DatagramSocket(const DatagramSocket&) = delete;
    DatagramSocket& operator=(const DatagramSocket&) = delete;

    // Queues a datagram, of up to longest_datagram bytes, for the next flush(). Returns false,
    // and takes nothing, if there is no space for it, or if the socket has ended. The first
    // form is for connected sockets, the second for bound ones: `to` gets it, from the address
    // `from`, or from any if that is a wildcard or not given.
    bool send(std::string_view bytes);
    bool send(std::string_view bytes, const Address& to, const Address& from = {});
    void flush();

    // Datagrams queued that the system has not yet taken.
    std::size_t pending() const { return queue_.size() - taken_; }
    std::size_t pending_bytes() const { return bytes_.size(); }
    // Datagrams that have left the queue so far, and how many of them the system refused.
    std::uint64_t written() const { return written_; }
    std::uint64_t refused() const { return refused_; }

    // Frees the memory into which all sockets of the calling thread receive, some 4 MiB; the
    // next datagram allocates it again. Must not be called from datagrams_received(), whose
    // datagrams lie in it.
    static void free_shared_memory();

    // While paused, the socket reads nothing; one that is connected still ends by an error.
    void pause_reading(bool paused);

    const Address& address() const { return address_; }  // our own, with the actual port
    // Reason::none while the socket has not ended. Of Reason::connect, the text begins with the
    // peer's address.
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
    std::size_t write_batch();
    std::size_t write_refused(int code, std::size_t run);
    std::size_t run_length(std::size_t from, std::size_t end) const;
    void receive_failed(int code);
    void end_with(End end);
    void notify_of_end();
    void update();

    Fd socket_;
    User& user_;
    const Limits limits_;
    const bool connected_;
    bool joins_runs_;  // datagrams of one size to one peer are one piece for the system
    bool wildcard_ =
        false;  // the addresses of ours are asked for, and given, with each datagram
    bool paused_ = false;
    bool blocked_ = false;  // the system takes nothing for now
    BatchSize batch_;
    Address address_;
    Address peer_;  // of a connected socket
    End end_;
    Buffer bytes_;               // of the datagrams queued, one after the other
    std::vector<Queued> queue_;  // its first `taken_` ones have left it
    std::size_t taken_ = 0;
    std::uint64_t written_ = 0;
    std::uint64_t refused_ = 0;
    // Expires with the socket, so that a function can see whether the user has destroyed it.
    const std::shared_ptr<void> lifetime_ = std::make_shared<char>();
    ev::Timer resume_;  // ends a pause after a failure to receive
    ev::Timer ending_;  // due at once: the end, met in a call of the user, is to be reported
    ev::Watch watch_;
};

}  // namespace bufio
