// Resolves a name, if needed on a separate thread, and connects to one of its addresses.
//
// Dialing alternates between IPv6 and IPv4 addresses. The next attempt starts when an attempt
// fails or is slow, and the first to connect wins (RFC 8305, "Happy Eyeballs"). A datagram
// socket uses the first address that the system accepts, and tries IPv4 first.
#pragma once

#include "bufio/address.hpp"
#include "bufio/transport.hpp"
#include "ev/loop.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bufio {

class Acceptor;  // bufio/listen.hpp

struct Endpoint {
    std::string host = {};             // name or address; if empty, loopback, or any if passive
    std::string service = {};          // a port or a service's name
    std::string path = {};             // unix-domain socket; overrides the host if not empty
    int family = AF_UNSPEC;            // AF_INET or AF_INET6 excludes the other family
    bool is_numeric = false;           // never ask the resolver
    bool is_udp = false;               // UDP instead of TCP
    bool is_passive = false;           // listen on the address instead of connecting to it
    std::string connect_host = {};     // name or address to connect to; if empty, the host
    std::string connect_service = {};  // port to connect to; if empty, the service
    std::string source_host = {};      // numeric address to connect from; if empty, any
    std::string source_port = {};      // port to connect from; if empty, any
    // If not null, these addresses are used, and nothing is looked up.
    std::shared_ptr<const std::vector<Address>> known_addresses = nullptr;

    // If not null, a dialer lets the acceptor wait for a peer, and does not connect. Must
    // outlive the dialers.
    Acceptor* acceptor = nullptr;

    std::string text() const;  // HOST:PORT, [IPV6]:PORT or the path
    Endpoint dialed() const;   // with the host and service to connect to
};

struct LookupResult {
    std::vector<Address> addresses;  // in the resolver's order of preference
    std::string error;               // the reason, if there are no addresses
};

// Resolves an endpoint that needs no resolver: a path, an empty or numeric host, localhost. If
// the result contains neither addresses nor an error, the host is a name that needs a Lookup.
LookupResult resolve_without_network(const Endpoint& target);

LookupResult look_up(const Endpoint& endpoint);  // blocks as long as the resolver does

// A look-up in the background. It calls back once, from the loop, unless it is destroyed
// earlier. The thread of a destroyed look-up finishes on its own.
class Lookup {
public:
    using Callback = std::function<void(LookupResult)>;
    // Throws std::system_error if no descriptors or threads are left.
    Lookup(ev::Loop& loop, const Endpoint& endpoint, Callback done);

private:
    struct Shared;
    std::shared_ptr<Shared> shared_;
    ev::Watch watch_;
};

struct DialResult {
    Fd socket = {};               // non-blocking and connected (but see Acceptor), or empty
    Address address = {};         // the peer's, if there is a socket
    End end = {};                 // the reason, if there is no socket
    ev::Duration lookup_time{};   // 0 if the resolver was not asked
    ev::Duration connect_time{};  // since the end of the look-up; 0 with an acceptor
};

// A dialer calls back once, from the loop and never from its constructor. The callback may
// destroy the dialer. Destroying it earlier cancels all attempts without a callback. A dialer
// has no deadline.
class Dialer {
public:
    using Callback = std::function<void(DialResult)>;
    Dialer(ev::Loop& loop, Endpoint endpoint, Callback done);
    ~Dialer();

    std::string phase() const;  // the current activity, for display

private:
    struct Attempt {
        Address address;
        Fd socket;  // empty before the attempt, and after it has failed
        ev::Watch watch;
    };

    void begin();
    void on_resolved(const LookupResult& result);
    void try_next();
    void on_writable(Attempt& attempt);
    End start(Attempt& attempt) const;
    void add_failure(const Address& address, const End& failure);
    void finish(DialResult result);

    ev::Loop& loop_;
    Endpoint endpoint_;
    Callback done_;
    ev::Time started_at_{};
    ev::Time resolved_at_{};
    std::optional<Lookup> lookup_;
    std::vector<Address> sources_;   // local addresses to connect from; if empty, any
    std::vector<Attempt> attempts_;  // one for each address, in order; must not move
    std::size_t next_attempt_ = 0;   // index of the first address not yet tried
    std::string failures_text_;
    std::size_t refused_attempts_ = 0;
    ev::Timer start_timer_;         // calls begin() from the loop
    ev::Timer next_attempt_timer_;  // starts an additional attempt
};

}  // namespace bufio
