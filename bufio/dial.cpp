#include "bufio/dial.hpp"

#include "bufio/listen.hpp"
#include "ev/threads/loop_thread.hpp"

#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cerrno>
#include <new>
#include <system_error>
#include <utility>

namespace bufio {

// --- Look-up.

// Returns neither addresses nor an error if the name needs the resolver, which `flags`
// excludes.
static LookupResult call_getaddrinfo(const Endpoint& endpoint, int flags = 0) {
    addrinfo hints{};
    hints.ai_family = endpoint.family;
    hints.ai_socktype = endpoint.is_udp ? SOCK_DGRAM : SOCK_STREAM;
    // RFC 6761 reserves the name localhost for the loopback, so it is resolved even if the
    // system has no hosts file.
    const bool is_localhost = endpoint.host == "localhost";
    hints.ai_flags = flags | (endpoint.is_passive && !is_localhost ? AI_PASSIVE : 0);
    addrinfo* list = nullptr;
    const char* const host =
        is_localhost || endpoint.host.empty() ? nullptr : endpoint.host.c_str();
    const int code = ::getaddrinfo(host, endpoint.service.c_str(), &hints, &list);
    if (code == EAI_MEMORY) throw std::bad_alloc();
    if (code == EAI_SYSTEM) return {{}, std::generic_category().message(errno)};
    if (code == EAI_NONAME && flags == AI_NUMERICHOST && !endpoint.is_numeric && !is_localhost)
        return {};
    if (code != 0) return {{}, ::gai_strerror(code)};
    LookupResult result;
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> guard(list, ::freeaddrinfo);
    for (const addrinfo* entry = list; entry; entry = entry->ai_next)
        result.addresses.emplace_back(entry->ai_addr, entry->ai_addrlen);
    return result;
}

std::string Endpoint::text() const {
    if (!path.empty()) return path;
    const bool is_v6 = host.find(':') != std::string::npos;
    return (is_v6 ? "[" + host + "]" : host) + ":" + service;
}

Endpoint Endpoint::dialed() const {
    Endpoint target = *this;
    if (!connect_host.empty()) target.host = connect_host;
    if (!connect_service.empty()) target.service = connect_service;
    return target;
}

LookupResult resolve_without_network(const Endpoint& target) {
    const Endpoint endpoint = target.dialed();
    if (endpoint.path.empty()) return call_getaddrinfo(endpoint, AI_NUMERICHOST);
    const Address address = Address::unix_path(endpoint.path);
    if (address.family() == AF_UNIX) return {{address}, {}};
    return {{}, std::generic_category().message(ENAMETOOLONG)};
}

LookupResult look_up(const Endpoint& endpoint) {
    LookupResult result = resolve_without_network(endpoint);
    const bool needs_resolver = result.addresses.empty() && result.error.empty();
    return needs_resolver ? call_getaddrinfo(endpoint.dialed()) : result;
}

struct Lookup::Shared {
    LookupResult result;  // written by the thread, and read by the loop afterwards
    std::atomic<bool> is_ready = false;
    ev::Pipe pipe;  // wakes the loop
};

Lookup::Lookup(ev::Loop& loop, const Endpoint& endpoint, Callback done)
    : shared_(std::make_shared<Shared>()),
      watch_(loop, shared_->pipe.fd(), ev::readable,
             [this, done = std::move(done)](ev::Events events) {
                 if (events & ev::error) ev::throw_error(EBADF, "poll");  // no result arrives
                 assert(shared_->is_ready);
                 watch_.want(ev::none);
                 done(std::move(shared_->result));
             }) {
    ev::start_thread([shared = shared_, endpoint] {
        try {
            shared->result = look_up(endpoint);
        } catch (const std::bad_alloc&) {
            shared->result.error = "out of memory";  // too short to need an allocation
        }
        shared->is_ready = true;
        shared->pipe.wake();
    }).detach();
}

// --- Dialing.

namespace {

// The delay after which another attempt starts while one is in progress, as RFC 8305
// recommends.
constexpr ev::Duration attempt_delay = std::chrono::milliseconds(250);

// Maximum number of attempts in progress. A name may have dozens of addresses.
constexpr std::ptrdiff_t max_parallel_attempts = 6;

// Returns the text for an errno that means that no ephemeral port is left or that the given
// source port is in use.
std::string unavailable_port_text(const Endpoint& endpoint, int code) {
    const std::size_t ports = endpoint.source_port.empty() ? ephemeral_port_count() : 0;
    if (ports == 0) return std::generic_category().message(code);
    return "no ephemeral port is left; the system has " + std::to_string(ports) +
           " ports for each destination";
}

End failure_because(std::string detail) {
    return {Reason::connect, By::system, "", std::move(detail)};
}

// Returns the reason why the socket can't connect. ECONNREFUSED may also mean that the path is
// not a socket, and EACCES that a UDP address is a broadcast or multicast address. A lack of
// ephemeral ports is EADDRNOTAVAIL, or EAGAIN for UDP.
End failure_of(const Endpoint& endpoint, const Address& address, int code) {
    if (code == ECONNREFUSED && is_non_socket_file(address))
        return failure_because("it is not a socket");
    if (code == EACCES && endpoint.is_udp)
        return failure_because("broadcast and multicast addresses are not supported");
    if (code == EADDRNOTAVAIL || (code == EAGAIN && endpoint.is_udp))
        return failure_because(unavailable_port_text(endpoint, code));
    return system_end(Reason::connect, "", code);
}

// Binds to the source address of this family. Returns true without binding if no sources are
// given or the family is AF_UNIX. Returns false, with errno set, if no source has this family
// or bind() fails.
bool bind_source(int fd, const Endpoint& endpoint, const std::vector<Address>& sources,
                 int family) {
    if (sources.empty() || family == AF_UNIX) return true;
    const auto source =
        std::find_if(sources.begin(), sources.end(),
                     [&](const Address& address) { return address.family() == family; });
    if (source == sources.end()) {
        errno = EAFNOSUPPORT;
        return false;
    }
    // With TCP, a closed connection may still hold the port. With UDP, this option would let
    // two sockets share the port.
    const int may_reuse = endpoint.is_udp ? 0 : 1;
    ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &may_reuse, sizeof may_reuse);
    return ::bind(fd, source->get(), source->size) == 0;
}

}  // namespace

Dialer::Dialer(ev::Loop& loop, Endpoint endpoint, Callback done)
    : loop_(loop),
      endpoint_(std::move(endpoint)),
      done_(std::move(done)),
      start_timer_(loop, [this] { begin(); }),
      next_attempt_timer_(loop, [this] { try_next(); }) {
    start_timer_.start(ev::Duration::zero());
}

Dialer::~Dialer() {
    if (endpoint_.acceptor) endpoint_.acceptor->cancel();
}

std::string Dialer::phase() const {
    if (endpoint_.acceptor) return "listening " + endpoint_.acceptor->address().text();
    if (attempts_.empty()) return "resolving";
    return "connecting " + attempts_[next_attempt_ - 1].address.text();
}

void Dialer::begin() {
    started_at_ = loop_.now();
    if (endpoint_.acceptor)
        return endpoint_.acceptor->accept([this](DialResult result) {
            started_at_ = resolved_at_ = loop_.now();
            finish(std::move(result));
        });
    LookupResult source;  // empty if neither address nor port to connect from was given
    if (!endpoint_.source_host.empty() || !endpoint_.source_port.empty())
        source = resolve_without_network(
            {.host = endpoint_.source_host,
             .service = endpoint_.source_port.empty() ? "0" : endpoint_.source_port,
             .is_numeric = true,
             .is_passive = true});
    sources_ = std::move(source.addresses);
    if (!source.error.empty())
        return on_resolved({{}, endpoint_.source_host + ": " + source.error});
    if (endpoint_.known_addresses) return on_resolved({*endpoint_.known_addresses, {}});
    LookupResult result = resolve_without_network(endpoint_);
    if (result.addresses.empty() && result.error.empty()) {
        try {
            lookup_.emplace(loop_, endpoint_,
                            [this](const LookupResult& answer) { on_resolved(answer); });
            return;
        } catch (const std::system_error& error) {
            result.error = error.what();
        }
    }
    on_resolved(result);
}

void Dialer::on_resolved(const LookupResult& result) {
    lookup_.reset();
    resolved_at_ = loop_.now();
    if (result.addresses.empty())
        return finish({.end = {Reason::lookup, By::system, "cannot resolve",
                               endpoint_.dialed().text() + ": " + result.error}});
    // The families alternate. A datagram socket connects without waiting for an answer, so it
    // begins with IPv4, because most servers on a name such as localhost listen there.
    const int first_family = endpoint_.is_udp ? AF_INET : result.addresses.front().family();
    std::array<std::vector<Address>, 2> families;
    for (const Address& address : result.addresses)
        families[address.family() != first_family].push_back(address);
    for (std::size_t i = 0; attempts_.size() < result.addresses.size(); ++i)
        for (const std::vector<Address>& family : families)
            if (i < family.size()) attempts_.push_back({family[i], {}, {}});
    try_next();
}

// Starts to connect a stream socket, or connects a UDP socket. On failure the attempt stays
// without a socket, and the reason is returned.
End Dialer::start(Attempt& attempt) const {
    const Address& address = attempt.address;
    Fd socket = open_socket(address.family(), endpoint_.is_udp);
    if (!socket) return failure_of(endpoint_, address, errno);
    // Answers to a multicast datagram are sent from other addresses, so a connected socket
    // would drop them.
    if (endpoint_.is_udp && address.is_group()) return failure_of(endpoint_, address, EACCES);
    if (!bind_source(socket.get(), endpoint_, sources_, address.family())) {
        if (errno == EADDRNOTAVAIL && !endpoint_.source_host.empty())
            return failure_because(endpoint_.source_host +
                                   " is not an address of this machine");
        // Without a port, bind() already allocates an ephemeral port.
        if (errno == EADDRINUSE)
            return failure_because(unavailable_port_text(endpoint_, errno));
        return failure_because(std::generic_category().message(errno));
    }
    // An interrupted connect() continues in the background, as with EINPROGRESS.
    const int result = ::connect(socket.get(), address.get(), address.size);
    if (result != 0 && errno != EINPROGRESS && errno != EINTR)
        return failure_of(endpoint_, address, errno);
    attempt.socket = std::move(socket);
    return {};
}

// Starts the next attempt, unless too many are in progress. Skips addresses that fail
// immediately. Finishes when all addresses have failed.
void Dialer::try_next() {
    const auto attempts_in_progress =
        std::count_if(attempts_.begin(), attempts_.end(),
                      [](const Attempt& each) { return static_cast<bool>(each.socket); });
    while (next_attempt_ < attempts_.size() && attempts_in_progress < max_parallel_attempts) {
        Attempt& attempt = attempts_[next_attempt_++];
        if (const End failure = start(attempt)) {
            add_failure(attempt.address, failure);
            continue;
        }
        // If the attempt has already succeeded, the next turn finds the socket writable.
        attempt.watch = ev::Watch(loop_, attempt.socket.get(), ev::writable,
                                  [this, &attempt](ev::Events) { on_writable(attempt); });
        if (next_attempt_ < attempts_.size()) next_attempt_timer_.start(attempt_delay);
        return;
    }
    if (attempts_in_progress > 0) return;
    finish(
        {.end = {refused_attempts_ == attempts_.size() ? Reason::refused : Reason::connect,
                 By::system, "cannot connect to", endpoint_.text() + ": " + failures_text_}});
}

void Dialer::on_writable(Attempt& attempt) {
    attempt.watch = {};
    int code = pending_socket_error(attempt.socket.get());
    // If a socket connects to an unused local port, the system may choose that port as its
    // ephemeral port. The socket is then connected to itself.
    if (code == 0 && attempt.address.family() != AF_UNIX &&
        Address::of_socket(attempt.socket.get()).text() == attempt.address.text())
        code = ECONNREFUSED;
    if (code != 0) {
        attempt.socket.reset();
        add_failure(attempt.address, failure_of(endpoint_, attempt.address, code));
        return try_next();
    }
    finish({.socket = std::move(attempt.socket), .address = attempt.address});
}

void Dialer::add_failure(const Address& address, const End& failure) {
    if (failure.reason == Reason::refused) ++refused_attempts_;
    if (!failures_text_.empty()) failures_text_ += "; ";
    if (attempts_.size() > 1 || !endpoint_.connect_host.empty())
        failures_text_ += address.text() + ": ";
    failures_text_ += failure.detail;
}

// The callback is moved out of done_ and called last, because it may destroy the dialer.
void Dialer::finish(DialResult result) {
    next_attempt_timer_.cancel();
    attempts_.clear();
    result.lookup_time = resolved_at_ - started_at_;
    result.connect_time = loop_.now() - resolved_at_;
    const Callback done = std::exchange(done_, nullptr);
    done(std::move(result));
}

}  // namespace bufio
