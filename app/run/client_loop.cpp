#include "app/run/client_loop.hpp"

#include <cstdint>

namespace yodel {

SandboxRules rules_to_connect(const bufio::Endpoint& endpoint) {
    constexpr std::uint16_t dns_port = 53;  // long answers come over TCP
    SandboxRules rules{.connect_ports = {dns_port}};
    if (endpoint.udp || !endpoint.path.empty()) return rules;
    rules.connect_ports.push_back(tcp_port(endpoint.dialed().service));
    const bool any_port = endpoint.source_port.empty();
    if (!any_port || !endpoint.source_host.empty())
        rules.bind_ports = {any_port ? std::uint16_t{0} : tcp_port(endpoint.source_port)};
    return rules;
}

}  // namespace yodel
