// From a name to a connected socket.  The addresses of both families are tried in turn; the
// next attempt starts when one fails or takes long, and the first to connect wins (RFC 8305,
// "Happy Eyeballs").
#pragma once

#include "bufio/end.hpp"
#include "bufio/fd.hpp"
#include "bufio/lookup.hpp"
#include "ev/loop.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace bufio {

struct DialResult {
    Fd socket = {};               // connected and non-blocking, or empty
    Address address = {};         // of the peer, if there is a socket
    End end = {};                 // why there is no socket
    ev::Duration lookup_time{};   // 0 if the address was known or numeric
    ev::Duration connect_time{};  // since the look-up
    // The untried addresses of an endpoint of datagrams. Connecting to the first one succeeds,
    // because a dead address shows only after a datagram was sent there. Pass these to
    // connect_datagrams() once that address has refused.
    std::vector<Address> untried = {};
};

// A dialer calls back once, from the loop and never from its constructor, and the callback may
// destroy it. Destroying it earlier gives up all attempts without a call. It has no deadline.
class Dialer {
public:
    using Callback = std::function<void(DialResult)>;
    Dialer(ev::Loop& loop, Endpoint endpoint, Callback done);

    // The present activity, for display: "resolving", or "connecting" and the address tried
    // last.
    std::string phase() const;

private:
    struct Attempt {
        Address address;
        Fd socket;
        ev::Watch watch;
    };

    void begin();
    void on_resolved(const LookupResult& result);
    void try_next();
    bool start_attempt(const Address& address);
    void on_writable(Attempt& attempt);
    void add_failure(const Address& address, const std::string& failure);
    void finish(DialResult result);

    ev::Loop& loop_;
    Endpoint endpoint_;
    Callback done_;
    ev::Time started_{};
    ev::Time resolved_at_{};
    bool resolved_ = false;
    std::optional<Lookup> lookup_;
    std::vector<Address> sources_;    // to connect from; empty: any
    std::vector<Address> addresses_;  // in the order of trying
    std::size_t next_ = 0;            // index of the first address not yet tried
    std::vector<Attempt> attempts_;   // reserved for all addresses, so that none moves
    std::size_t in_progress_ = 0;     // attempts that have not failed yet
    std::string failures_;
    ev::Timer start_timer_;         // runs out at once, so that begin() is called from the loop
    ev::Timer next_attempt_timer_;  // starts another attempt beside those in progress
};

// Returns a socket of datagrams that is connected to this address of the endpoint, at once and
// without a look-up; on failure it is empty and `failure` says why.
Fd connect_datagrams(const Endpoint& endpoint, const Address& address, std::string& failure);

// Returns the addresses in the order of RFC 8305: the families in turn, that of the first
// address first.
std::vector<Address> interleave(const std::vector<Address>& addresses);

}  // namespace bufio
