// The server of a simulated session: ours, with faults. It can stop and restart. A relay stands
// before it if it speaks WebSocket.
#pragma once

#include "app/server/echo_server.hpp"
#include "bufio/dial.hpp"
#include "ev/loop.hpp"
#include "tests/simulation/plan.hpp"
#include "tests/simulation/relay.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace simulation {

class Service {
public:
    // `path` is available for a unix-domain socket.
    Service(ev::Loop& loop, const Plan& plan, std::string path);

    bufio::Endpoint endpoint() const;
    // Cuts all connections and stops listening.
    void stop();
    // Restarts the server. Only for a path, because a port may have been taken.
    void restart();
    bool can_restart() const { return plan_.carrier == Carrier::path; }
    bool is_running() const { return server_ != nullptr; }

    // Bytes and datagrams received and sent: each change is activity. A datagram may be empty.
    std::uint64_t traffic() const;
    std::size_t connections() const { return counters().connections; }
    std::uint64_t datagrams_answered() const { return counters().datagrams_out; }
    // Bytes received whose answers were not sent.
    std::uint64_t backlog() const;
    // Maximum bytes that the server stores for a connection, or for all datagrams.
    std::size_t buffer() const;
    void drain(ev::Duration grace);
    bool drained() const { return drained_ || !is_running(); }

private:
    yodel::Counters counters() const;

    ev::Loop& loop_;
    const Plan& plan_;
    const bufio::Endpoint endpoint_;
    bufio::Address address_;
    std::unique_ptr<yodel::EchoServer> server_;
    std::unique_ptr<Relay> relay_;
    std::uint64_t traffic_before_ = 0;  // traffic of earlier servers
    std::size_t logged_ = 0;            // bytes of text
    bool drained_ = false;
};

}  // namespace simulation
