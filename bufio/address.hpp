// Socket addresses (IPv4, IPv6 and unix-domain), host names, and basic calls for sockets.
#pragma once

#include "bufio/fd.hpp"

#include <sys/socket.h>

#include <cstddef>
#include <string>

namespace bufio {

struct Address {
    sockaddr_storage storage{};
    socklen_t size = 0;

    Address() { storage.ss_family = AF_UNSPEC; }
    Address(const sockaddr* from, socklen_t length);
    // The family is AF_UNSPEC if the path is too long for the system.
    static Address unix_path(const std::string& path);
    // The local address. On failure the family is AF_UNSPEC and errno is set.
    static Address of_socket(int fd);

    const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
    int family() const { return storage.ss_family; }
    int port() const;          // 0 if the family has no ports
    std::string text() const;  // 127.0.0.1:7, [::1]:7, the path, or "unnamed"
    bool is_wildcard() const;  // 0.0.0.0 or [::], which stand for any address
    // True for multicast and 255.255.255.255, but not for the broadcast address of a network.
    bool is_group() const;
};

bool is_broadcast_or_multicast(const Address& address);

bool is_same_host(const Address& a, const Address& b);  // ignores ports; false for paths

bool is_non_socket_file(const Address& address);

// Makes a socket non-blocking and close-on-exec, and disables Nagle's algorithm for TCP.
void prepare_socket(int fd, bool is_tcp);

Fd open_socket(int family, bool is_udp = false);  // prepared; on failure empty, with errno set

bool bind_socket(int fd, const Address& address);  // sets errno on failure
int pending_socket_error(int fd);                  // an errno, which is cleared, or 0
std::size_t ephemeral_port_count();                // 0 if unknown

bool is_address(const std::string& text);  // numeric IPv4 or IPv6, without a scope

// Returns the host in the form that certificates use: an address without its scope, a name
// without its final dot, or an empty text if the host is neither an address nor a name. A name
// contains no wildcard and no leading dot, which OpenSSL would treat as a wildcard.
std::string name_in_certificate(const std::string& host);

}  // namespace bufio
