// From names to addresses.  A numeric host is answered without delay; a name is looked up on a
// thread of its own, because the system's resolver blocks for an unbounded time.
#pragma once

#include "bufio/address.hpp"
#include "bufio/fd.hpp"
#include "ev/loop.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace bufio {

struct Endpoint {
    std::string host = {};     // a name, an address, or empty with a unix-domain path
    std::string service = {};  // a port or a service's name
    std::string path = {};     // of a unix-domain socket; if it is not empty, it alone counts
    int family = AF_UNSPEC;    // AF_INET or AF_INET6 allows addresses of this family only
    bool numeric = false;      // true: the resolver is never asked
    bool datagrams = false;    // true: sockets of datagrams (UDP) instead of connections (TCP)
    bool passive = false;      // true: the address is to be listened on, not connected to
    std::string source_host = {};  // the numeric address to connect from; empty: any
    std::string source_port = {};  // the port to connect from; empty: any
    // The addresses of the host if it was looked up before; null: look it up.
    std::shared_ptr<const std::vector<Address>> known = nullptr;

    std::string text() const;  // HOST:PORT, [v6]:PORT or the path
};

struct LookupResult {
    std::vector<Address> addresses;  // in the resolver's order of preference
    std::string error;               // why there are no addresses
};

// Resolves what needs no resolver: a path, a numeric host, localhost. If the result has neither
// addresses nor an error, the host is a name that takes a Lookup.
LookupResult resolve_without_network(const Endpoint& endpoint);

// Blocks as long as the resolver does.
LookupResult look_up(const Endpoint& endpoint);

// One look-up in the background. It calls back once, from the loop, unless it is destroyed
// before that. The thread of a destroyed look-up goes on by itself, and its result is dropped.
class Lookup {
public:
    using Callback = std::function<void(LookupResult)>;
    // Throws std::system_error if there are no descriptors or threads left.
    Lookup(ev::Loop& loop, const Endpoint& endpoint, Callback done);

private:
    struct Shared;
    std::shared_ptr<Shared> shared_;
    Fd wake_;  // the end of a pipe, readable once the thread has finished
    ev::Watch watch_;
};

}  // namespace bufio
