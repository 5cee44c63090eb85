// From a name to a connected socket: every address is tried, of both families in turn, the next
// one as soon as one fails or dawdles, and the first to connect wins (RFC 8305, "Happy
// Eyeballs").
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
    Fd socket;        // connected; empty if `end` tells why not
    Address address;  // that won
    End end;
    ev::Duration lookup_time{};
    ev::Duration connect_time{};
};

// Calls back once, never from its constructor, unless it is destroyed before; that gives up all
// attempts. It has no deadline of its own.
class Dialer {
public:
    using Callback = std::function<void(DialResult)>;
    Dialer(ev::Loop& loop, Endpoint endpoint, Callback done);

    // What it is doing now, for display: "resolving" or the address tried last.
    std::string phase() const;

private:
    struct Attempt {
        Address address;
        Fd socket;
        ev::Watch watch;
    };

    void begin();
    std::string start_lookup();
    void on_resolved(LookupResult result);
    void try_next();
    bool attempt(const Address& address);
    bool bind_source(int fd, int family) const;
    void check(Attempt& attempt);
    void failed(const Address& address, int code);
    void finish(DialResult dialed);

    ev::Loop& loop_;
    Endpoint endpoint_;
    Callback done_;
    ev::Time started_;
    ev::Time resolved_at_{};
    bool resolved_ = false;
    std::optional<Lookup> lookup_;
    std::vector<Address> sources_;    // to connect from, one of each family; empty: any
    std::vector<Address> addresses_;  // in the order of trying
    std::size_t next_ = 0;            // the first address not yet tried
    std::vector<Attempt> attempts_;   // room for all addresses: an attempt never moves
    std::size_t under_way_ = 0;       // of these, not yet failed
    std::string failures_;
    ev::Timer timer_;  // begins the look-up, then starts the next attempt
};

// The order of RFC 8305: the families in turn, beginning with that of the first address.
std::vector<Address> interleave(const std::vector<Address>& addresses);

}  // namespace bufio
