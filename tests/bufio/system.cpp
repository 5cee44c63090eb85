#include "tests/bufio/system.hpp"

#include <netdb.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace test {

namespace {
Faults* current = nullptr;
constexpr int ours = -1;  // ai_flags of lists that make_list() has made

addrinfo* make_entry(const bufio::Address& address) {
    auto* const made = static_cast<addrinfo*>(std::calloc(1, sizeof(addrinfo)));
    auto* const storage = static_cast<sockaddr*>(std::malloc(sizeof address.storage));
    std::memcpy(storage, &address.storage, sizeof address.storage);
    made->ai_flags = ours;
    made->ai_family = address.family();
    made->ai_addr = storage;
    made->ai_addrlen = address.size;
    return made;
}

addrinfo* make_list(const std::vector<bufio::Address>& addresses) {
    addrinfo* list = nullptr;
    for (auto it = addresses.rbegin(); it != addresses.rend(); ++it) {
        addrinfo* const entry = make_entry(*it);
        entry->ai_next = list;
        list = entry;
    }
    return list;
}

bool refused(long allowed) {
    if (allowed >= 0) return false;
    errno = static_cast<int>(-allowed);
    return true;
}
}  // namespace

Faults::Faults() { current = this; }
Faults::~Faults() { current = nullptr; }

}  // namespace test

using test::current;

extern "C" {

ssize_t __real_recv(int fd, void* to, std::size_t size, int flags);
ssize_t __wrap_recv(int fd, void* to, std::size_t size, int flags);
ssize_t __wrap_recv(int fd, void* to, std::size_t size, int flags) {
    if (!current) return __real_recv(fd, to, size, flags);
    ++current->recv_calls;
    const long allowed = current->recv ? current->recv(size) : static_cast<long>(size);
    if (test::refused(allowed)) return -1;
    return __real_recv(fd, to, std::min(size, static_cast<std::size_t>(allowed)), flags);
}

ssize_t __real_send(int fd, const void* from, std::size_t size, int flags);
ssize_t __wrap_send(int fd, const void* from, std::size_t size, int flags);
ssize_t __wrap_send(int fd, const void* from, std::size_t size, int flags) {
    if (!current) return __real_send(fd, from, size, flags);
    ++current->send_calls;
    const long allowed = current->send ? current->send(size) : static_cast<long>(size);
    if (test::refused(allowed)) return -1;
    return __real_send(fd, from, std::min(size, static_cast<std::size_t>(allowed)), flags);
}

int __real_getsockopt(int fd, int level, int name, void* to, socklen_t* size);
int __wrap_getsockopt(int fd, int level, int name, void* to, socklen_t* size);
int __wrap_getsockopt(int fd, int level, int name, void* to, socklen_t* size) {
    const bool faulty = current && current->getsockopt;
    const long allowed = faulty ? current->getsockopt(*size) : static_cast<long>(*size);
    if (test::refused(allowed)) return -1;
    *size = std::min(*size, static_cast<socklen_t>(allowed));
    return __real_getsockopt(fd, level, name, to, size);
}

int __real_accept(int fd, sockaddr* peer, socklen_t* size);
int __wrap_accept(int fd, sockaddr* peer, socklen_t* size);
int __wrap_accept(int fd, sockaddr* peer, socklen_t* size) {
    const int code = current && current->accept ? current->accept() : 0;
    return test::refused(-code) ? -1 : __real_accept(fd, peer, size);
}

int __real_getsockname(int fd, sockaddr* own, socklen_t* size);
int __wrap_getsockname(int fd, sockaddr* own, socklen_t* size);
int __wrap_getsockname(int fd, sockaddr* own, socklen_t* size) {
    const int code = current && current->getsockname ? current->getsockname() : 0;
    return test::refused(-code) ? -1 : __real_getsockname(fd, own, size);
}

int __real_connect(int fd, const sockaddr* to, socklen_t size);
int __wrap_connect(int fd, const sockaddr* to, socklen_t size);
int __wrap_connect(int fd, const sockaddr* to, socklen_t size) {
    const int code =
        current && current->connect ? current->connect(bufio::Address(to, size)) : 0;
    return test::refused(-code) ? -1 : __real_connect(fd, to, size);
}

void __real_freeaddrinfo(addrinfo* list);
int __real_getaddrinfo(const char* host, const char* service, const addrinfo* hints,
                       addrinfo** list);
int __wrap_getaddrinfo(const char* host, const char* service, const addrinfo* hints,
                       addrinfo** list);
int __wrap_getaddrinfo(const char* host, const char* service, const addrinfo* hints,
                       addrinfo** list) {
    if (!current || !current->resolve || !host || (hints->ai_flags & AI_NUMERICHOST) != 0)
        return __real_getaddrinfo(host, service, hints, list);
    const auto resolve = current->resolve;  // the thread may outlive the test
    *list = test::make_list(resolve(host));
    return *list ? 0 : EAI_NONAME;
}

void __wrap_freeaddrinfo(addrinfo* list);
void __wrap_freeaddrinfo(addrinfo* list) {
    if (list->ai_flags != test::ours) return __real_freeaddrinfo(list);
    while (list) {
        addrinfo* const next = list->ai_next;
        std::free(list->ai_addr);
        std::free(list);
        list = next;
    }
}

}  // extern "C"
