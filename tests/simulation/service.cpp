#include "tests/simulation/service.hpp"

#include "tests/simulation/heap.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace simulation {

using namespace yodel;

namespace {

// Returns a loopback address that no other program uses, so that no other program sends a
// datagram to a server or takes its port. Linux provides 2^24 of these addresses, other systems
// one.
std::string own_host() {
#ifdef __linux__
    const int id = ::getpid();
    return "127." + std::to_string(id >> 8 & 0xff) + "." + std::to_string(id & 0xff) + ".1";
#else
    return "127.0.0.1";
#endif
}

bufio::Endpoint endpoint_of(const Plan& plan, std::string path) {
    bufio::Endpoint endpoint;
    endpoint.udp = plan.carrier == Carrier::datagrams;
    if (plan.carrier == Carrier::path) {
        endpoint.path = std::move(path);
    } else {
        endpoint.host = own_host();
        endpoint.service = "0";
    }
    return endpoint;
}

bufio::Address behind_relay(bufio::Endpoint endpoint) {
    endpoint.path += ".server";
    return bufio::resolve_without_network(endpoint).addresses.front();
}

}  // namespace

Service::Service(ev::Loop& loop, const Plan& plan, std::string path)
    : loop_(loop),
      plan_(plan),
      endpoint_(endpoint_of(plan, std::move(path))),
      address_(bufio::resolve_without_network(endpoint_).addresses.front()) {
    restart();
}

void Service::restart() {
    const Heap heap(Owner::product);
    stop();
    const auto log = [this](auto&, auto& text) { logged_ += text.size(); };
    server_ = std::make_unique<EchoServer>(loop_, plan_.server, log);
    if (plan_.carrier == Carrier::datagrams)
        address_ = server_->listen_datagrams(address_);
    else if (plan_.client.websocket)
        relay_ = std::make_unique<Relay>(loop_, plan_, address_,
                                         server_->listen(behind_relay(endpoint_)));
    else
        address_ = server_->listen(address_);
}

void Service::stop() {
    traffic_before_ = traffic();
    relay_.reset();
    server_.reset();
}

bufio::Endpoint Service::endpoint() const {
    bufio::Endpoint endpoint = endpoint_;
    if (plan_.carrier != Carrier::path) endpoint.service = std::to_string(address_.port());
    return endpoint;
}

Counters Service::counters() const { return server_ ? server_->counters() : Counters(); }

std::uint64_t Service::traffic() const {
    const Counters now = counters();
    return traffic_before_ + (relay_ ? relay_->traffic() : 0) + now.bytes_in + now.bytes_out +
           now.datagram_bytes_in + now.datagram_bytes_out + now.datagrams_in +
           now.datagrams_out;
}

std::uint64_t Service::backlog() const {
    const Counters now = counters();
    const std::uint64_t in = now.bytes_in + now.datagram_bytes_in;
    return in - std::min(in, now.bytes_out + now.datagram_bytes_out);
}

std::size_t Service::buffer() const {
    if (plan_.carrier != Carrier::datagrams) return plan_.server.buffer();
    return plan_.server.max_buffer.value_or(16 * 1024 * 1024);
}

void Service::drain(ev::Duration grace) {
    if (server_) server_->drain(grace, [this] { drained_ = true; });
}

}  // namespace simulation
