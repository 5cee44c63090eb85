// An echo server for a client without a target, in the client's process.
#pragma once

#include "app/protocol/framing.hpp"
#include "bufio/lookup.hpp"
#include "bufio/tls.hpp"
#include "ev/loop.hpp"

#include <cstddef>
#include <memory>

namespace yodel {

class DatagramServer;
class EchoServer;

class OwnServer {
public:
    struct Options {
        const Framing& framing;
        std::size_t connections = 1;             // clients at once
        bufio::TlsClientOptions* tls = nullptr;  // changed to trust the server; null: no TLS
    };

    // Listens on a free loopback port, and completes the endpoint with it. The loop must
    // outlive the server. Throws UsageError if the framing cannot be echoed.
    OwnServer(ev::Loop& loop, bufio::Endpoint& endpoint, const Options& options);
    OwnServer(const OwnServer&) = delete;
    ~OwnServer();

private:
    std::unique_ptr<EchoServer> streams_;
    std::unique_ptr<DatagramServer> datagrams_;  // used instead if the endpoint has datagrams
};

}  // namespace yodel
