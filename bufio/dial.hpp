// Turns a name into a connected socket. Alternates between IPv6 and IPv4 addresses. The next
// attempt starts when an attempt fails or is slow, and the first to connect wins (RFC 8305,
// "Happy Eyeballs"). A datagram socket connects without waiting for an answer, so it uses the
// first address that the system accepts. IPv4 addresses come first, because most servers on a
// name such as localhost listen there.
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
    Address address = {};         // the peer's, if there is a socket
    End end = {};                 // if there is no socket
    ev::Duration lookup_time{};   // 0 for a known or numeric address
    ev::Duration connect_time{};  // since the end of the look-up
};

// Why one address could not be connected to.
struct DialFailure {
    std::string text;
    bool refused = false;  // by the peer's system
};

// A dialer whose endpoint has an acceptor waits for a peer. Its times are then 0.
//
// A dialer calls back once, from the loop and never from its constructor. The callback may
// destroy it. Destroying it earlier cancels all attempts without a callback. It has no
// deadline.
class Dialer {
public:
    using Callback = std::function<void(DialResult)>;
    Dialer(ev::Loop& loop, Endpoint endpoint, Callback done);
    ~Dialer();

    // Returns the current activity, for display: "resolving", "connecting" and the last address
    // tried, or "listening" and the address.
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
    void on_writable(Attempt& attempt);
    void add_failure(const Address& address, const DialFailure& failure);
    void finish(DialResult result);

    ev::Loop& loop_;
    Endpoint endpoint_;
    Callback done_;
    ev::Time started_{};
    ev::Time resolved_at_{};
    bool resolved_ = false;
    std::optional<Lookup> lookup_;
    std::vector<Address> sources_;    // local addresses to connect from; empty for any
    std::vector<Address> addresses_;  // in the order of the attempts
    std::size_t next_address_ = 0;    // index of the first address not yet tried
    std::vector<Attempt> attempts_;   // capacity for all addresses, so that no attempt moves
    std::size_t attempts_in_progress_ = 0;  // attempts that have not failed yet
    std::string failures_text_;
    std::size_t refusals_ = 0;      // attempts that were refused
    ev::Timer start_timer_;         // due, so that the loop calls begin()
    ev::Timer next_attempt_timer_;  // starts an additional attempt
};

// Returns the addresses with alternating families, beginning with `first_family`.
std::vector<Address> interleave(const std::vector<Address>& addresses, int first_family);

}  // namespace bufio
