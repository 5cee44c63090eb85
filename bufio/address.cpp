#include "bufio/address.hpp"

#include "bufio/system.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string_view>

namespace bufio {

static const sockaddr_in& as_ipv4(const Address& address) {
    return reinterpret_cast<const sockaddr_in&>(address.storage);
}

static const sockaddr_in6& as_ipv6(const Address& address) {
    return reinterpret_cast<const sockaddr_in6&>(address.storage);
}

Address::Address(const sockaddr* from, socklen_t length) : size(length) {
    std::memcpy(&storage, from, length);
}

Address Address::unix_path(const std::string& path) {
    sockaddr_un name{};
    if (path.size() >= sizeof name.sun_path) return {};
    name.sun_family = AF_UNIX;
    path.copy(name.sun_path, path.size());
    const auto length = offsetof(sockaddr_un, sun_path) + path.size() + 1;
    return {reinterpret_cast<const sockaddr*>(&name), static_cast<socklen_t>(length)};
}

Address Address::of_socket(int fd) {
    Address address;
    address.size = sizeof address.storage;
    ::getsockname(fd, reinterpret_cast<sockaddr*>(&address.storage), &address.size);
    return address;
}

int Address::port() const {
    if (family() == AF_INET) return ntohs(as_ipv4(*this).sin_port);
    return family() == AF_INET6 ? ntohs(as_ipv6(*this).sin6_port) : 0;
}

std::string Address::text() const {
    char host[INET6_ADDRSTRLEN] = "";
    if (family() == AF_INET) {
        ::inet_ntop(AF_INET, &as_ipv4(*this).sin_addr, host, sizeof host);
        return std::string(host) + ":" + std::to_string(port());
    }
    if (family() == AF_INET6) {
        ::inet_ntop(AF_INET6, &as_ipv6(*this).sin6_addr, host, sizeof host);
        return "[" + std::string(host) + "]:" + std::to_string(port());
    }
    // An abstract address of Linux begins with a null byte.
    const char* const path = reinterpret_cast<const sockaddr_un&>(storage).sun_path;
    return family() == AF_UNIX && *path != '\0' ? path : "unnamed";
}

bool Address::is_wildcard() const {
    if (family() == AF_INET) return as_ipv4(*this).sin_addr.s_addr == htonl(INADDR_ANY);
    return family() == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&as_ipv6(*this).sin6_addr);
}

bool Address::is_group() const {
    if (family() != AF_INET)
        return family() == AF_INET6 && IN6_IS_ADDR_MULTICAST(&as_ipv6(*this).sin6_addr);
    const std::uint32_t host = ntohl(as_ipv4(*this).sin_addr.s_addr);
    return (host & 0xf0000000) == 0xe0000000 || host == INADDR_BROADCAST;
}

// Without SO_BROADCAST the system refuses to connect to a broadcast address. The port is
// irrelevant, but some systems reject 0.
bool is_broadcast_or_multicast(const Address& address) {
    if (address.family() != AF_INET || address.is_group()) return address.is_group();
    Address probe = address;
    reinterpret_cast<sockaddr_in&>(probe.storage).sin_port = htons(9);
    const Fd socket = open_socket(AF_INET, true);
    return ::connect(socket.get(), probe.get(), probe.size) != 0 && errno == EACCES;
}

bool is_same_host(const Address& a, const Address& b) {
    if (a.family() != b.family()) return false;
    if (a.family() == AF_INET) return as_ipv4(a).sin_addr.s_addr == as_ipv4(b).sin_addr.s_addr;
    return a.family() == AF_INET6 &&
           std::memcmp(&as_ipv6(a).sin6_addr, &as_ipv6(b).sin6_addr, sizeof(in6_addr)) == 0;
}

bool is_non_socket_file(const Address& address) {
    struct stat status {};
    return address.family() == AF_UNIX && ::stat(address.text().c_str(), &status) == 0 &&
           !S_ISSOCK(status.st_mode);
}

void prepare_socket(int fd, bool is_tcp) {
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    ::fcntl(fd, F_SETFL, O_NONBLOCK);
    const int on = 1;
    if (is_tcp) ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

Fd open_socket(int family, bool is_udp) {
    Fd fd(::socket(family, is_udp ? SOCK_DGRAM : SOCK_STREAM, 0));
    if (fd) prepare_socket(fd.get(), !is_udp && family != AF_UNIX);
    return fd;
}

// Makes [::] exclude 0.0.0.0, whatever the system's default is.
bool bind_socket(int fd, const Address& address) {
    const int on = 1;
    if (address.family() == AF_INET6)
        ::setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    return ::bind(fd, address.get(), address.size) == 0;
}

int pending_socket_error(int fd) {
    int code = 0;
    socklen_t size = sizeof code;
    ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &size);
    return code;
}

std::size_t ephemeral_port_count() {
    std::size_t first = 0;
    std::size_t last = 0;
#if BUFIO_HAS_PROC_SYS
    std::ifstream("/proc/sys/net/ipv4/ip_local_port_range") >> first >> last;  // also for IPv6
#endif
    return first > 0 && last >= first ? last - first + 1 : 0;
}

// --- Host names.

namespace {

bool is_address_of(int family, const std::string& text) {
    in6_addr ignored;
    return text.find('\0') == text.npos && ::inet_pton(family, text.c_str(), &ignored) == 1;
}

// Returns true for labels of 1 to 63 ASCII letters, digits, - and _, separated by dots, and of
// at most 253 characters in all.
bool is_host_name(std::string_view name) {
    constexpr char characters[] =
        "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";
    if (name.size() > 253) return false;
    for (;;) {
        const std::size_t dot = name.find('.');
        const std::string_view label = name.substr(0, dot);
        if (label.empty() || label.size() > 63 ||
            label.find_first_not_of(characters) != label.npos)
            return false;
        if (dot == name.npos) return true;
        name.remove_prefix(dot + 1);
    }
}

}  // namespace

bool is_address(const std::string& text) {
    return is_address_of(AF_INET, text) || is_address_of(AF_INET6, text);
}

std::string name_in_certificate(const std::string& host) {
    if (is_address(host)) return host;
    const std::size_t scope = host.find('%');
    if (scope != host.npos) {
        const std::string address = host.substr(0, scope);
        return is_address_of(AF_INET6, address) && scope + 1 < host.size() ? address
                                                                           : std::string();
    }
    const bool has_final_dot = !host.empty() && host.back() == '.';
    const std::string name = host.substr(0, host.size() - (has_final_dot ? 1 : 0));
    return is_host_name(name) && !is_address(name) ? name : std::string();
}

}  // namespace bufio
