#include "app/server/own_server.hpp"

#include "app/server/datagram_server.hpp"
#include "app/server/echo_server.hpp"
#include "app/text/exit_status.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace yodel {

namespace {

bufio::Address loopback_address(const bufio::Endpoint& endpoint) {
    const bufio::LookupResult found = bufio::resolve_without_network(endpoint);
    if (found.addresses.empty())
        throw std::runtime_error("cannot resolve the local address " + endpoint.host);
    return found.addresses.front();
}

// Answers only our own messages, so a message that is repeated again and again is not a loop.
std::unique_ptr<DatagramServer> datagram_server(ev::Loop& loop) {
    DatagramServer::Options options;
    options.reflect_any = true;
    return std::make_unique<DatagramServer>(loop, std::move(options), [](auto&) {});
}

std::unique_ptr<EchoServer> stream_server(ev::Loop& loop, const OwnServer::Options& given) {
    EchoServer::Options options;
    options.framing = &given.framing;
    options.max_connections = std::max(options.max_connections, given.connections);
    if (given.tls) {
        options.tls = bufio::TlsContext::self_signed_server();
        given.tls->pins = {options.tls->pin()};
    }
    return std::make_unique<EchoServer>(loop, std::move(options), [](auto&) {});
}

}  // namespace

OwnServer::OwnServer(ev::Loop& loop, bufio::Endpoint& endpoint, const Options& options) {
    if (!options.framing.can_echo())
        throw UsageError(options.framing.label() +
                         " needs a target, because the built-in server only echoes");
    endpoint.host = endpoint.family == AF_INET6 ? "::1" : "127.0.0.1";
    endpoint.service = "0";
    if (endpoint.udp)
        datagrams_ = datagram_server(loop);
    else
        streams_ = stream_server(loop, options);
    const bufio::Address any_port = loopback_address(endpoint);
    const bufio::Address bound =
        datagrams_ ? datagrams_->listen(any_port) : streams_->listen(any_port);
    endpoint.service = std::to_string(bound.port());
}

OwnServer::~OwnServer() = default;

}  // namespace yodel
