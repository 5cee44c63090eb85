// Resolves names into addresses. A numeric host is answered without delay. A name is looked up
// on a separate thread, because the system's resolver may block for any length of time.
#pragma once

#include "bufio/address.hpp"
#include "bufio/fd.hpp"
#include "ev/loop.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace bufio {

class Acceptor;  // bufio/accept.hpp

struct Endpoint {
    std::string host = {};             // a name, an address, or empty with a unix-domain path
    std::string service = {};          // a port or a service's name
    std::string path = {};             // unix-domain socket; overrides the host if not empty
    int family = AF_UNSPEC;            // AF_INET or AF_INET6: addresses of this family only
    bool numeric = false;              // never ask the resolver
    bool udp = false;                  // UDP instead of TCP
    bool passive = false;              // listen on the address instead of connecting to it
    std::string connect_host = {};     // name or address to connect to; empty for the host
    std::string connect_service = {};  // empty: the service
    std::string source_host = {};      // the numeric address to connect from; empty for any
    std::string source_port = {};      // the port to connect from; empty for any
    // From an earlier look-up of the host, which is then not looked up again.
    std::shared_ptr<const std::vector<Address>> known_addresses = nullptr;

    // Waits for a peer here instead of connecting. It must outlive the dialers.
    Acceptor* acceptor = nullptr;

    std::string text() const;  // HOST:PORT, [v6]:PORT or the path
    Endpoint dialed() const;   // with the host and service that are really connected to
};

struct LookupResult {
    std::vector<Address> addresses;  // in the resolver's order of preference
    std::string error;               // the reason, if there are no addresses
};

// Resolves an endpoint that needs no resolver: a path, a numeric host, localhost. If the
// result contains neither addresses nor an error, the host is a name that needs a Lookup.
LookupResult resolve_without_network(const Endpoint& target);

// Blocks as long as the resolver does.
LookupResult look_up(const Endpoint& endpoint);

// A look-up in the background. It calls back once, from the loop, unless it is destroyed
// earlier. The thread of a destroyed look-up finishes on its own, and its result is dropped.
class Lookup {
public:
    using Callback = std::function<void(LookupResult)>;
    // Throws std::system_error if no descriptors or threads are left.
    Lookup(ev::Loop& loop, const Endpoint& endpoint, Callback done);

private:
    struct Shared;
    std::shared_ptr<Shared> shared_;
    Fd wake_;  // reading end of a pipe; readable when the thread has finished
    ev::Watch watch_;
};

}  // namespace bufio
