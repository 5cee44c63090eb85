// Socket addresses: IPv4, IPv6 and unix-domain.
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
    // Throws std::system_error if the path is too long for the system.
    static Address unix_path(const std::string& path);
    // Returns the local address of a socket. On failure the family is AF_UNSPEC and errno is
    // set.
    static Address of_socket(int fd);

    const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
    int family() const { return storage.ss_family; }
    int port() const;          // 0 if the family has no ports
    std::string text() const;  // 127.0.0.1:7, [::1]:7, the path, or "unnamed"
    bool is_wildcard() const;  // 0.0.0.0 or [::], which stand for any address
    // True for a multicast address and for 255.255.255.255. The broadcast address of a single
    // network can't be recognized by its form.
    bool is_multicast() const;
};

// True for a multicast address or a broadcast address of this machine's networks. Asks the
// system for the latter.
bool is_broadcast_or_multicast(const Address& address);

// True if both are the same IP address, whatever their ports. False for paths.
bool same_host(const Address& a, const Address& b);

// True if the address is a unix-domain path, and the file there is not a socket.
bool is_non_socket_file(const Address& address);

// Makes a socket of this family non-blocking and close-on-exec. Also disables Nagle's algorithm
// on a TCP socket (TCP_NODELAY).
void prepare_socket(int fd, int family);

// Returns a new stream socket, prepared by prepare_socket(). On failure it is empty and errno
// is set.
Fd open_socket(int family);

// Returns a new UDP socket for IPv4 or IPv6, non-blocking and close-on-exec. On failure it is
// empty and errno is set.
Fd open_datagram_socket(int family);

// Binds the socket to the address. Returns false, with errno set, on failure.
bool bind_socket(int fd, const Address& address);

// Returns the socket's pending error (SO_ERROR) as an errno, and clears it; 0: none.
int pending_socket_error(int fd);

// Returns the size of the system's ephemeral port range; 0: unknown.
std::size_t ephemeral_port_count();

// True for a numeric IPv4 or IPv6 address without a scope.
bool is_address(const std::string& text);

// Returns the host in the form that certificates use: an IPv6 address without its scope, a name
// without its final dot. Returns an empty text if the host is neither an address nor a name. A
// name is at most 253 bytes long, in labels of 1 to 63 letters, digits, hyphens and
// underscores. Wildcards are refused, because only certificates may contain them. So is a
// leading dot, which OpenSSL would treat as a wildcard.
std::string name_in_certificate(const std::string& host);

}  // namespace bufio
