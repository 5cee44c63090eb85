#include "bufio/lookup.hpp"

#include "ev/threads/loop_thread.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>

#include <atomic>
#include <cassert>
#include <cerrno>
#include <new>
#include <system_error>

namespace bufio {

namespace {

LookupResult call_getaddrinfo(const Endpoint& endpoint, int flags, int& code) {
    addrinfo hints{};
    hints.ai_family = endpoint.family;
    hints.ai_socktype = endpoint.udp ? SOCK_DGRAM : SOCK_STREAM;
    hints.ai_flags = flags | (endpoint.passive ? AI_PASSIVE : 0);
    addrinfo* list = nullptr;
    const char* const host = endpoint.host.empty() ? nullptr : endpoint.host.c_str();
    code = ::getaddrinfo(host, endpoint.service.c_str(), &hints, &list);
    if (code == EAI_MEMORY) throw std::bad_alloc();
    if (code == EAI_SYSTEM) return {{}, std::generic_category().message(errno)};
    if (code != 0) return {{}, ::gai_strerror(code)};
    LookupResult result;
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(list, ::freeaddrinfo);
    for (const addrinfo* entry = list; entry; entry = entry->ai_next)
        result.addresses.emplace_back(entry->ai_addr, entry->ai_addrlen);
    return result;
}

}  // namespace

std::string Endpoint::text() const {
    if (!path.empty()) return path;
    const bool v6 = host.find(':') != std::string::npos;
    return (v6 ? "[" + host + "]" : host) + ":" + service;
}

Endpoint Endpoint::dialed() const {
    Endpoint to = *this;
    if (!connect_host.empty()) to.host = connect_host;
    if (!connect_service.empty()) to.service = connect_service;
    return to;
}

// RFC 6761 reserves the name localhost for the loopback, so it is resolved without the
// resolver, which may lack a hosts file.
LookupResult resolve_without_network(const Endpoint& target) {
    const Endpoint endpoint = target.dialed();
    int code = 0;
    if (!endpoint.path.empty()) {
        try {
            return {{Address::unix_path(endpoint.path)}, {}};
        } catch (const std::system_error& error) {
            return {{}, error.code().message()};
        }
    }
    if (endpoint.host == "localhost") {
        Endpoint loopback = endpoint;
        loopback.host.clear();
        loopback.passive = false;
        return call_getaddrinfo(loopback, AI_NUMERICHOST, code);
    }
    LookupResult result = call_getaddrinfo(endpoint, AI_NUMERICHOST, code);
    if (code == EAI_NONAME && !endpoint.numeric) result.error.clear();
    return result;
}

LookupResult look_up(const Endpoint& endpoint) {
    LookupResult result = resolve_without_network(endpoint);
    int code = 0;
    if (result.addresses.empty() && result.error.empty())
        result = call_getaddrinfo(endpoint.dialed(), 0, code);
    return result;
}

struct Lookup::Shared {
    LookupResult result;  // written by the thread, and read by the loop once it is `ready`
    std::atomic<bool> ready = false;
    Fd done;  // the writing end of the pipe
};

Lookup::Lookup(ev::Loop& loop, const Endpoint& endpoint, Callback done)
    : shared_(std::make_shared<Shared>()) {
    int ends[2];
    if (::pipe(ends) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    for (const int end : ends) ::fcntl(end, F_SETFD, FD_CLOEXEC);
    wake_.reset(ends[0]);
    shared_->done.reset(ends[1]);
    watch_ =
        ev::Watch(loop, wake_.get(), ev::readable, [this, done = std::move(done)](ev::Events) {
            assert(shared_->ready);
            watch_.want(ev::none);
            done(std::move(shared_->result));
        });
    ev::start_thread([shared = shared_, endpoint] {
        try {
            shared->result = look_up(endpoint);
        } catch (const std::bad_alloc&) {
            shared->result.error = "out of memory";  // too short to need an allocation
        }
        shared->ready = true;
        shared->done.reset();  // closing the pipe wakes the loop
    }).detach();
}

}  // namespace bufio
