// The server of a simulated session: ours, with faults. It can stop and restart.
#pragma once

#include "app/server/echo_server.hpp"
#include "bufio/dial.hpp"
#include "ev/loop.hpp"
#include "tests/simulation/heap.hpp"
#include "tests/simulation/plan.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace simulation {

// Returns a loopback address that no other program uses, so that no other program sends a
// datagram to a server or takes its port. Linux provides 2^24 of these addresses, other systems
// one.
inline std::string own_host() {
#ifdef __linux__
    const int id = ::getpid();
    return "127." + std::to_string(id >> 8 & 0xff) + "." + std::to_string(id & 0xff) + ".1";
#else
    return "127.0.0.1";
#endif
}

inline bufio::Endpoint endpoint_of(const Plan& plan, std::string path) {
    bufio::Endpoint endpoint;
    endpoint.is_udp = plan.carrier == Carrier::datagrams;
    if (plan.carrier == Carrier::path) {
        endpoint.path = std::move(path);
    } else {
        endpoint.host = own_host();
        endpoint.service = "0";
    }
    return endpoint;
}

class Service {
public:
    // `path` is available for a unix-domain socket.
    Service(ev::Loop& loop, const Plan& plan, std::string path)
        : loop_(loop),
          plan_(plan),
          endpoint_(endpoint_of(plan, std::move(path))),
          address_(bufio::resolve_without_network(endpoint_).addresses.front()) {
        restart();
    }

    bufio::Endpoint endpoint() const {
        bufio::Endpoint endpoint = endpoint_;
        if (plan_.carrier != Carrier::path) endpoint.service = std::to_string(address_.port());
        return endpoint;
    }

    // Cuts all connections and stops listening.
    void stop() {
        traffic_before_ = traffic();
        server_.reset();
    }

    // Restarts the server. Only for a path, because a port may have been taken.
    void restart() {
        const Heap heap(Owner::product);
        stop();
        server_ = std::make_unique<EchoServer>(loop_, plan_.server, [](auto&, auto&) {});
        if (plan_.carrier == Carrier::datagrams)
            address_ = server_->listen_datagrams(address_);
        else
            address_ = server_->listen(address_);
    }

    bool can_restart() const { return plan_.carrier == Carrier::path; }
    bool is_running() const { return server_ != nullptr; }

    // Bytes and datagrams received and sent: each change is activity. A datagram may be empty.
    std::uint64_t traffic() const {
        const Counters now = counters();
        return traffic_before_ + now.bytes_in + now.bytes_out + now.datagram_bytes_in +
               now.datagram_bytes_out + now.datagrams_in + now.datagrams_out;
    }

    std::size_t connections() const { return counters().connections; }
    // Bytes received whose answers were not sent.
    std::uint64_t backlog() const {
        const Counters now = counters();
        const std::uint64_t in = now.bytes_in + now.datagram_bytes_in;
        return in - std::min(in, now.bytes_out + now.datagram_bytes_out);
    }

    // Maximum bytes that the server stores for a connection, or for all datagrams.
    std::size_t max_buffer() const {
        if (plan_.carrier != Carrier::datagrams) return plan_.server.effective_max_buffer();
        return plan_.server.max_buffer.value_or(16 * 1024 * 1024);
    }

    void drain(ev::Duration grace) {
        if (server_) server_->drain(grace, [this] { drained_ = true; });
    }

    bool drained() const { return drained_ || !is_running(); }

private:
    Counters counters() const { return server_ ? server_->counters() : Counters(); }

    ev::Loop& loop_;
    const Plan& plan_;
    const bufio::Endpoint endpoint_;
    bufio::Address address_;
    std::unique_ptr<EchoServer> server_;
    std::uint64_t traffic_before_ = 0;  // traffic of earlier servers
    bool drained_ = false;
};

}  // namespace simulation
