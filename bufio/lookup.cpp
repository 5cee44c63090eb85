#include "bufio/lookup.hpp"

#include "ev/threads/loop_thread.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>

#include <atomic>
#include <cassert>
#include <cerrno>
#include <memory>
#include <new>
#include <system_error>

namespace bufio {

namespace {

std::string error_text(int code) {
    if (code == EAI_SYSTEM) return std::generic_category().message(errno);
    return ::gai_strerror(code);
}

LookupResult call_getaddrinfo(const Endpoint& endpoint, int flags, int& code) {
    addrinfo hints{};
    hints.ai_family = endpoint.family;
    hints.ai_socktype = endpoint.datagrams ? SOCK_DGRAM : SOCK_STREAM;
    hints.ai_flags = flags | (endpoint.passive ? AI_PASSIVE : 0);
    addrinfo* list = nullptr;
    const char* const host = endpoint.host.empty() ? nullptr : endpoint.host.c_str();
    code = ::getaddrinfo(host, endpoint.service.c_str(), &hints, &list);
    if (code == EAI_MEMORY) throw std::bad_alloc();
    LookupResult result;
    if (code != 0) {
        result.error = error_text(code);
        return result;
    }
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(list, ::freeaddrinfo);
    for (const addrinfo* entry = list; entry; entry = entry->ai_next)
        result.addresses.emplace_back(entry->ai_addr, entry->ai_addrlen);
    return result;
}

LookupResult look_up_path(const std::string& path) {
    try {
        return {{Address::unix_path(path)}, {}};
    } catch (const std::system_error& error) {
        return {{}, error.code().message()};
    }
}

// RFC 6761 reserves the name localhost for the loopback, so it is resolved without asking the
// resolver, which may lack a file of hosts.
Endpoint loopback(Endpoint endpoint) {
    endpoint.host.clear();
    endpoint.passive = false;
    return endpoint;
}

}  // namespace

std::string Endpoint::text() const {
    if (!path.empty()) return path;
    const bool v6 = host.find(':') != std::string::npos;
    return (v6 ? "[" + host + "]" : host) + ":" + service;
}

LookupResult resolve_without_network(const Endpoint& endpoint) {
    if (!endpoint.path.empty()) return look_up_path(endpoint.path);
    int code = 0;
    if (endpoint.host == "localhost")
        return call_getaddrinfo(loopback(endpoint), AI_NUMERICHOST, code);
    LookupResult result = call_getaddrinfo(endpoint, AI_NUMERICHOST, code);
    if (code == EAI_NONAME && !endpoint.numeric) result.error.clear();
    return result;
}

LookupResult look_up(const Endpoint& endpoint) {
    LookupResult result = resolve_without_network(endpoint);
    int code = 0;
    if (result.addresses.empty() && result.error.empty())
        result = call_getaddrinfo(endpoint, 0, code);
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
            shared->result.error = "out of memory";  // too short to need memory itself
        }
        shared->ready = true;
        shared->done.reset();  // closing the pipe wakes the loop
    }).detach();
}

}  // namespace bufio
