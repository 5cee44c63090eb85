#include "tests/simulation/service.hpp"

#include "tests/simulation/heap.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace simulation {

using namespace yodel;

namespace {

// Any port of a loopback address that no other program knows: a server that goes away and comes
// back must find its port free, and no stranger may send a datagram to it meanwhile. Linux has
// 2^24 of these addresses, others have one.
bufio::Address any_loopback_port() {
    in_addr_t host = INADDR_LOOPBACK;
#ifdef __linux__
    host += static_cast<in_addr_t>(::getpid() & 0xffff) << 8;
#endif
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(host);
    return {reinterpret_cast<const sockaddr*>(&name), sizeof name};
}

}  // namespace

Service::Service(ev::Loop& loop, const Plan& plan, std::string path)
    : loop_(loop),
      plan_(plan),
      path_(std::move(path)),
      address_(plan.carrier == Carrier::path ? bufio::Address::unix_path(path_)
                                             : any_loopback_port()) {
    come_back();
}

void Service::come_back() {
    const Heap heap(Owner::product);
    go_away();
    const auto log = [this](const EchoServer::Event& event) { this->log(event); };
    if (plan_.carrier == Carrier::datagrams) {
        DatagramServer::Options options;
        options.faults = plan_.server.faults;
        options.reflect_any = plan_.reflects_any;
        options.max_held = buffer();
        datagrams_ = std::make_unique<DatagramServer>(loop_, options, log);
        address_ = datagrams_->listen(address_);
    } else {
        streams_ = std::make_unique<EchoServer>(loop_, plan_.server, log);
        address_ = streams_->listen(address_);
    }
}

void Service::go_away() {
    traffic_before_ = traffic();
    streams_.reset();
    datagrams_.reset();
}

bufio::Endpoint Service::endpoint() const {
    bufio::Endpoint endpoint;
    endpoint.datagrams = plan_.carrier == Carrier::datagrams;
    if (plan_.carrier == Carrier::path) {
        endpoint.path = path_;
    } else {
        const std::string text = address_.text();
        endpoint.host = text.substr(0, text.find(':'));
        endpoint.service = std::to_string(address_.port());
    }
    return endpoint;
}

std::uint64_t Service::traffic() const {
    const auto bytes = [](const auto& counters) {
        return counters.bytes_in + counters.bytes_out;
    };
    if (streams_) return traffic_before_ + bytes(streams_->counters());
    if (!datagrams_) return traffic_before_;
    const DatagramServer::Counters counters = datagrams_->counters();
    return traffic_before_ + bytes(counters) + counters.received + counters.answered;
}

std::uint64_t Service::backlog() const {
    const auto unanswered = [](const auto& counters) {
        return counters.bytes_in - std::min(counters.bytes_in, counters.bytes_out);
    };
    if (streams_) return unanswered(streams_->counters());
    return datagrams_ ? unanswered(datagrams_->counters()) : 0;
}

std::size_t Service::buffer() const {
    if (plan_.carrier != Carrier::datagrams) return plan_.server.buffer();
    return plan_.server.max_buffer.value_or(DatagramServer::Options().max_held);
}

void Service::drain(ev::Duration grace) {
    const auto note = [this] { drained_ = true; };
    if (streams_) streams_->drain(grace, note);
    if (datagrams_) datagrams_->drain(grace, note);
}

}  // namespace simulation
