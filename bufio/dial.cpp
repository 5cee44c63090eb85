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
    if (!found_) return "resolving";
    return attempts_.empty() ? "connecting" : "connecting " + attempts_.back().address.text();
}

void Dialer::begin() {
    timer_ = ev::Timer(loop_, [this] { try_next(); });
    Found known = look_up_numeric(endpoint_);
    if (!known.addresses.empty() || !known.error.empty()) return found(std::move(known));
    lookup_.emplace(loop_, endpoint_, [this](Found result) { found(std::move(result)); });
}

void Dialer::found(Found result) {
    found_ = true;
    found_at_ = loop_.now();
    if (result.addresses.empty()) {
        Dialed dialed;
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
    Dialed dialed;
    dialed.end = {Reason::connect, "cannot connect to " + endpoint_.text() + ": " + failures_};
    finish(std::move(dialed));
}

// False if it failed at once. One that succeeds at once is seen to be writable in the next
// turn.
bool Dialer::attempt(const Address& address) {
    Fd socket = open_socket(address.family());
    if (!socket || (::connect(socket.get(), address.get(), address.size) != 0 &&
                    errno != EINPROGRESS && errno != EINTR)) {
        failed(address, errno);
        return false;
    }
    Attempt& made = attempts_.emplace_back(Attempt{address, std::move(socket), {}});
    ++under_way_;
    made.watch = ev::Watch(loop_, made.socket.get(), ev::writable,
                           [this, &made](ev::Events) { check(made); });
    return true;
}

void Dialer::check(Attempt& attempt) {
    int code = 0;
    socklen_t size = sizeof code;
    ::getsockopt(attempt.socket.get(), SOL_SOCKET, SO_ERROR, &code, &size);
    attempt.watch = {};
    if (code != 0) {
        attempt.socket.reset();
        --under_way_;
        failed(attempt.address, code);
        return try_next();
    }
    Dialed dialed;
    dialed.socket = std::move(attempt.socket);
    dialed.address = attempt.address;
    finish(std::move(dialed));
}

void Dialer::failed(const Address& address, int code) {
    if (!failures_.empty()) failures_ += "; ";
    if (addresses_.size() > 1) failures_ += address.text() + ": ";
    failures_ += std::generic_category().message(code);
}

// The callback may destroy the dialer, so it comes last, from a place of its own.
void Dialer::finish(Dialed dialed) {
    timer_.cancel();
    attempts_.clear();
    dialed.lookup_time = found_at_ - started_;
    dialed.connect_time = loop_.now() - found_at_;
    const Callback done = std::exchange(done_, nullptr);
    done(std::move(dialed));
}

}  // namespace bufio
