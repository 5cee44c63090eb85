#include "tests/bufio/system.hpp"

#include "bufio/system.hpp"

#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace test {

namespace {

Faults* current = nullptr;

bool fails(int code) {
    errno = code;
    return code != 0;
}

// Returns how much of `size` a call may move, or -1 if it fails.
long allowed(const Faults::Moves& fault, std::size_t size) {
    const long most = fault ? fault(size) : static_cast<long>(size);
    if (most < 0) return fails(static_cast<int>(-most)) ? -1 : 0;
    return std::min(most, static_cast<long>(size));
}

// Does so for a call that is counted.
long allowed(const Faults::Moves Faults::*fault, std::size_t Faults::*calls, std::size_t size) {
    if (!current) return static_cast<long>(size);
    ++(current->*calls);
    return allowed(current->*fault, size);
}

}  // namespace

Faults::Faults() { current = this; }
Faults::~Faults() { current = nullptr; }

}  // namespace test

using test::allowed;
using test::current;
using test::fails;
using test::Faults;

extern "C" {

ssize_t __real_recv(int fd, void* to, std::size_t size, int flags);
ssize_t __wrap_recv(int fd, void* to, std::size_t size, int flags) {
    const long most = allowed(&Faults::recv, &Faults::recv_calls, size);
    return most < 0 ? -1 : __real_recv(fd, to, static_cast<std::size_t>(most), flags);
}

ssize_t __real_send(int fd, const void* from, std::size_t size, int flags);
ssize_t __wrap_send(int fd, const void* from, std::size_t size, int flags) {
    const long most = allowed(&Faults::send, &Faults::send_calls, size);
    return most < 0 ? -1 : __real_send(fd, from, static_cast<std::size_t>(most), flags);
}

ssize_t __real_recvmsg(int fd, msghdr* to, int flags);
ssize_t __wrap_recvmsg(int fd, msghdr* to, int flags) {
    return allowed(&Faults::recvmsg, &Faults::recvmsg_calls, 1) < 0
               ? -1
               : __real_recvmsg(fd, to, flags);
}

ssize_t __real_sendmsg(int fd, const msghdr* from, int flags);
ssize_t __wrap_sendmsg(int fd, const msghdr* from, int flags) {
    return allowed(&Faults::sendmsg, &Faults::sendmsg_calls, 1) < 0
               ? -1
               : __real_sendmsg(fd, from, flags);
}

#if BUFIO_HAS_MMSG
int __real_recvmmsg(int fd, mmsghdr* to, unsigned count, int flags, timespec* timeout);
int __wrap_recvmmsg(int fd, mmsghdr* to, unsigned count, int flags, timespec* timeout) {
    const long most = allowed(&Faults::recvmsg, &Faults::recvmsg_calls, count);
    return most < 0 ? -1 : __real_recvmmsg(fd, to, static_cast<unsigned>(most), flags, timeout);
}

int __real_sendmmsg(int fd, mmsghdr* from, unsigned count, int flags);
int __wrap_sendmmsg(int fd, mmsghdr* from, unsigned count, int flags) {
    const long most = allowed(&Faults::sendmsg, &Faults::sendmsg_calls, count);
    return most < 0 ? -1 : __real_sendmmsg(fd, from, static_cast<unsigned>(most), flags);
}
#endif

int __real_getsockopt(int fd, int level, int name, void* to, socklen_t* size);
int __wrap_getsockopt(int fd, int level, int name, void* to, socklen_t* size) {
    if (current) *size = static_cast<socklen_t>(allowed(current->getsockopt, *size));
    return __real_getsockopt(fd, level, name, to, size);
}

int __real_accept(int fd, sockaddr* peer, socklen_t* size);
int __wrap_accept(int fd, sockaddr* peer, socklen_t* size) {
    if (current && current->accept && fails(current->accept())) return -1;
    return __real_accept(fd, peer, size);
}

int __real_getsockname(int fd, sockaddr* own, socklen_t* size);
int __wrap_getsockname(int fd, sockaddr* own, socklen_t* size) {
    if (current && current->getsockname && fails(current->getsockname())) return -1;
    return __real_getsockname(fd, own, size);
}

int __real_connect(int fd, const sockaddr* to, socklen_t size);
int __wrap_connect(int fd, const sockaddr* to, socklen_t size) {
    if (current && current->connect && fails(current->connect(bufio::Address(to, size))))
        return -1;
    return __real_connect(fd, to, size);
}

int __real_getaddrinfo(const char* host, const char* service, const addrinfo* hints,
                       addrinfo** list);
int __wrap_getaddrinfo(const char* host, const char* service, const addrinfo* hints,
                       addrinfo** list) {
    if (!current || !current->resolve || !host || (hints->ai_flags & AI_NUMERICHOST) != 0)
        return __real_getaddrinfo(host, service, hints, list);
    const auto resolve = current->resolve;  // the thread may outlive the test
    std::vector<bufio::Address> found = resolve(host);
    std::reverse(found.begin(), found.end());
    for (const bufio::Address& address : found) {
        char name[NI_MAXHOST], port[NI_MAXSERV];
        ::getnameinfo(address.get(), address.size, name, sizeof name, port, sizeof port,
                      NI_NUMERICHOST | NI_NUMERICSERV);
        addrinfo numeric{};
        numeric.ai_flags = AI_NUMERICHOST;
        numeric.ai_socktype = hints->ai_socktype;
        addrinfo* entry = nullptr;
        if (const int code = __real_getaddrinfo(name, port, &numeric, &entry)) return code;
        entry->ai_next = std::exchange(*list, entry);
    }
    return *list ? 0 : EAI_NONAME;
}

}  // extern "C"
