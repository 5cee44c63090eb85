// Names to addresses.  A numeric host is answered without delay; a name is looked up on a
// thread of its own, because the system's resolver blocks for as long as it likes.
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
    std::string host;          // a name, an address, or empty with a unix-domain path
    std::string service;       // a port or a service's name
    std::string path;          // of a unix-domain socket
    int family = AF_UNSPEC;    // AF_INET or AF_INET6: addresses of this family alone
    bool numeric = false;      // never ask the resolver
    bool passive = false;      // to listen on, not to connect to
    std::string source_host;   // numeric address to connect from; empty: any
    std::string source_port;   // likewise
    std::string text() const;  // HOST:PORT, [v6]:PORT or the path
};

struct LookupResult {
    std::vector<Address> addresses;  // in the resolver's order of preference
    std::string error;               // why there are none
};

// What can be told without asking the network: a path, a numeric host, localhost. No addresses
// and no error: it takes a Lookup.
LookupResult resolve_without_network(const Endpoint& endpoint);

// Blocks while the resolver does.
LookupResult look_up(const Endpoint& endpoint);

// One look-up in the background. It calls back once, unless it is destroyed before; its thread
// then goes on by itself and what it finds is dropped.
class Lookup {
public:
    using Callback = std::function<void(LookupResult)>;
    // Throws std::system_error: out of descriptors or threads.
    Lookup(ev::Loop& loop, const Endpoint& endpoint, Callback done);

private:
    struct Shared;
    std::shared_ptr<Shared> shared_;
    Fd wake_;  // readable once the thread is done
    ev::Watch watch_;
};

}  // namespace bufio
