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
    // Returns the address of our own end of a socket, or one of the family AF_UNSPEC, with
    // errno set, if the system fails to report it.
    static Address of_socket(int fd);

    const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
    int family() const { return storage.ss_family; }
    int port() const;          // 0 if the family has no ports
    std::string text() const;  // 127.0.0.1:7, [::1]:7, the path, or "unnamed"
    bool is_wildcard() const;  // 0.0.0.0 or [::], which stand for any address
    // A multicast address, or the broadcast address 255.255.255.255. The broadcast addresses of
    // single networks can't be seen from outside.
    bool is_multicast() const;
};

// True for a multicast address and, by asking the system, for a broadcast address of the
// networks that this machine is in.
bool reaches_many(const Address& address);

// True if both are of the same host, whatever their ports.
bool same_host(const Address& a, const Address& b);

// True for a unix-domain path at which there is a file that is not a socket.
bool is_other_file(const Address& address);

// Makes a socket of this family non-blocking and closed on exec. A TCP socket also gets
// TCP_NODELAY, so that written bytes leave without Nagle's delay.
void prepare_socket(int fd, int family);

// Returns a new socket, prepared as above; on failure it is empty and errno is set.
Fd open_socket(int family);

// The same for datagrams, which are of IPv4 or IPv6.
Fd open_datagram_socket(int family);

// Several sockets, each on its own thread, may share an address with a port, on Linux and on
// FreeBSD. The system then deals out evenly what comes to them, by the addresses and ports of
// both sides, so that all from one peer's port comes to one of them.
bool ports_can_be_shared();
enum class Sharing {
    alone,     // refused while anybody else listens on the address
    together,  // refused only if another listener is alone, or belongs to another user
};

// Binds the socket to the address; a path is never shared. Returns false, with errno set, if it
// can't.
bool bind_socket(int fd, const Address& address, Sharing sharing);

// Returns the error that the system keeps for the socket, as an errno, and clears it; 0 if
// there is none.
int pending_socket_error(int fd);

// Returns the number of ephemeral ports of the system, or 0 if it is unknown.
std::size_t source_ports();

}  // namespace bufio
