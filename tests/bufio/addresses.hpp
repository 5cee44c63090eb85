// Addresses and endpoints for tests of dialing and look-ups.
#pragma once

#include "bufio/address.hpp"
#include "bufio/dial.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <string>
#include <vector>

namespace test {

inline bufio::Address v6(int last, int port) {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(static_cast<std::uint16_t>(port));
    ::inet_pton(AF_INET6, "2001:db8::", &address.sin6_addr);
    address.sin6_addr.s6_addr[15] = static_cast<unsigned char>(last);
    return {reinterpret_cast<const sockaddr*>(&address), sizeof address};
}

inline bufio::Address v4(int last, int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(0x7f000000u + static_cast<unsigned>(last));
    return {reinterpret_cast<const sockaddr*>(&address), sizeof address};
}

inline bufio::Address any_address() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    return {reinterpret_cast<const sockaddr*>(&address), sizeof address};
}

inline std::vector<std::string> texts(const std::vector<bufio::Address>& addresses) {
    std::vector<std::string> list;
    for (const bufio::Address& address : addresses) list.push_back(address.text());
    return list;
}

inline bufio::Endpoint to(const std::string& host, int port) {
    bufio::Endpoint endpoint;
    endpoint.host = host;
    endpoint.service = std::to_string(port);
    return endpoint;
}

}  // namespace test
