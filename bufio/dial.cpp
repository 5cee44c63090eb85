#include "bufio/dial.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace bufio {

namespace {
// How long one attempt may dawdle before the next is started beside it: RFC 8305's
// recommendation.
constexpr ev::Duration attempt_delay = std::chrono::milliseconds(250);

// A socket that connects to a free port of this machine may be given that very port to connect
// from, and so meet itself.
bool is_connected_to_itself(int fd, const Address& peer) {
    return peer.family() != AF_UNIX && Address::of_socket(fd).text() == peer.text();
}

// None: any will do.
LookupResult look_up_source(const Endpoint& to) {
    if (to.source_host.empty() && to.source_port.empty()) return {};
    Endpoint source;
    source.host = to.source_host;
    source.service = to.source_port.empty() ? "0" : to.source_port;
    source.numeric = true;
    source.passive = true;
    return resolve_without_network(source);
}
}  // namespace

std::vector<Address> interleave(const std::vector<Address>& addresses) {
    std::vector<Address> one;
    std::vector<Address> other;
    for (const Address& address : addresses)
        (address.family() == addresses.front().family() ? one : other).push_back(address);
    std::vector<Address> all;
    for (std::size_t i = 0; i < std::max(one.size(), other.size()); ++i) {
        if (i < one.size()) all.push_back(one[i]);
        if (i < other.size()) all.push_back(other[i]);
    }
    return all;
}

Dialer::Dialer(ev::Loop& loop, Endpoint endpoint, Callback done)
    : loop_(loop),
      endpoint_(std::move(endpoint)),
      done_(std::move(done)),
      started_(loop.now()),
      timer_(loop, [this] { begin(); }) {
    timer_.start(ev::Duration::zero());
}

std::string Dialer::phase() const {
    if (!resolved_) return "resolving";
    return attempts_.empty() ? "connecting" : "connecting " + attempts_.back().address.text();
}

void Dialer::begin() {
    timer_ = ev::Timer(loop_, [this] { try_next(); });
    LookupResult source = look_up_source(endpoint_);
    sources_ = std::move(source.addresses);
    if (!source.error.empty())
        return on_resolved({{}, endpoint_.source_host + ": " + source.error});
    LookupResult known = resolve_without_network(endpoint_);
    if (known.addresses.empty() && known.error.empty()) known.error = start_lookup();
    if (!known.addresses.empty() || !known.error.empty()) on_resolved(std::move(known));
}

// Why it could not be started; empty if it is.
std::string Dialer::start_lookup() {
    try {
        lookup_.emplace(loop_, endpoint_,
                        [this](LookupResult result) { on_resolved(std::move(result)); });
        return {};
    } catch (const std::system_error& error) {
        return error.what();
    }
}

void Dialer::on_resolved(LookupResult result) {
    resolved_ = true;
    resolved_at_ = loop_.now();
    if (result.addresses.empty()) {
        DialResult dialed;
        dialed.end = {Reason::lookup,
                      "cannot resolve " + endpoint_.text() + ": " + result.error};
        return finish(std::move(dialed));
    }
    addresses_ = interleave(result.addresses);
    attempts_.reserve(addresses_.size());
    try_next();
}

// Starts attempts until one is under way; ends the dialing when none is left.
void Dialer::try_next() {
    while (next_ < addresses_.size()) {
        if (!attempt(addresses_[next_++])) continue;
        if (next_ < addresses_.size()) timer_.start(attempt_delay);
        return;
    }
    if (under_way_ > 0) return;
    DialResult dialed;
    dialed.end = {Reason::connect, "cannot connect to " + endpoint_.text() + ": " + failures_};
    finish(std::move(dialed));
}

// False if it failed at once. One that succeeds at once is seen to be writable in the next
// turn.
bool Dialer::attempt(const Address& address) {
    Fd socket = open_socket(address.family());
    if (!socket || !bind_source(socket.get(), address.family()) ||
        (::connect(socket.get(), address.get(), address.size) != 0 && errno != EINPROGRESS &&
         errno != EINTR)) {
        failed(address, errno);
        return false;
    }
    Attempt& made = attempts_.emplace_back(Attempt{address, std::move(socket), {}});
    ++under_way_;
    made.watch = ev::Watch(loop_, made.socket.get(), ev::writable,
                           [this, &made](ev::Events) { check(made); });
    return true;
}

// False, and errno set, if the address can't be connected from.
bool Dialer::bind_source(int fd, int family) const {
    if (sources_.empty() || family == AF_UNIX) return true;
    const auto source =
        std::find_if(sources_.begin(), sources_.end(),
                     [&](const Address& address) { return address.family() == family; });
    errno = EAFNOSUPPORT;
    if (source == sources_.end()) return false;
    const int on = 1;  // the port may still be held by a connection that was closed
    ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    return ::bind(fd, source->get(), source->size) == 0;
}

void Dialer::check(Attempt& attempt) {
    attempt.watch = {};
    int code = pending_socket_error(attempt.socket.get());
    if (code == 0 && is_connected_to_itself(attempt.socket.get(), attempt.address))
        code = ECONNREFUSED;
    if (code != 0) {
        attempt.socket.reset();
        --under_way_;
        failed(attempt.address, code);
        return try_next();
    }
    DialResult dialed;
    dialed.socket = std::move(attempt.socket);
    dialed.address = attempt.address;
    finish(std::move(dialed));
}

void Dialer::failed(const Address& address, int code) {
    if (!failures_.empty()) failures_ += "; ";
    if (addresses_.size() > 1) failures_ += address.text() + ": ";
    // The system calls it a refused connection, as if somebody had closed a socket there.
    const bool other = code == ECONNREFUSED && is_other_file(address);
    failures_ += other ? "it is not a socket" : std::generic_category().message(code);
}

// The callback may destroy the dialer, so it comes last, from a place of its own.
void Dialer::finish(DialResult dialed) {
    timer_.cancel();
    attempts_.clear();
    dialed.lookup_time = resolved_at_ - started_;
    dialed.connect_time = loop_.now() - resolved_at_;
    const Callback done = std::exchange(done_, nullptr);
    done(std::move(dialed));
}

}  // namespace bufio
