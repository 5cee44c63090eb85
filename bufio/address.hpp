// Socket addresses: IPv4, IPv6 and unix-domain.
#pragma once

#include "bufio/fd.hpp"

#include <sys/socket.h>

#include <string>

namespace bufio {

struct Address {
    sockaddr_storage storage{};
    socklen_t size = 0;

    Address() { storage.ss_family = AF_UNSPEC; }
    Address(const sockaddr* from, socklen_t length);
    static Address unix_path(const std::string& path);  // throws std::system_error: too long
    static Address of_socket(int fd);                   // our own end

    const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
    int family() const { return storage.ss_family; }
    int port() const;          // 0 where there is none
    std::string text() const;  // 127.0.0.1:7, [::1]:7, or the path
};

// True for a unix-domain path where something else than a socket is found.
bool is_other_file(const Address& address);

// Makes a socket of this family non-blocking and closed on exec, and a TCP one send without
// Nagle's delay, so that what is written is on its way.
void prepare_socket(int fd, int family);

// A new one, prepared; empty, and errno set, on failure.
Fd open_socket(int family);

// The errno of what went wrong with it in the meantime, told once; 0: nothing.
int pending_socket_error(int fd);

}  // namespace bufio
