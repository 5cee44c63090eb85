// Connected sockets, and functions that run a loop until a condition is true.
#pragma once

#include "bufio/dial.hpp"
#include "bufio/stream.hpp"
#include "ev/loop.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/descriptors.hpp"
#include "tests/support/text.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace test {

using namespace std::chrono_literals;
using bufio::Fd;
using bufio::Reason;
using bufio::Stream;

// The time after which a hang counts as a failure. Tests that pass never wait for it.
constexpr ev::Duration patience = 60s;

template <class Condition>
bool run_until(ev::Loop& loop, Condition condition) {
    const ev::Time give_up = ev::Clock::now() + patience;
    while (!condition()) {
        if (ev::Clock::now() > give_up || !loop.step(1ms)) return condition();
    }
    return true;
}

// What a test with a loop of its own derives from.
struct Stage {
    bool run_until(const std::function<bool()>& condition) {
        return test::run_until(loop, condition);
    }
    ev::Loop loop;
};

// Runs a few turns without waiting.
inline void run_pending(ev::Loop& loop, int turns = 8) {
    for (int i = 0; i < turns; ++i) loop.step(ev::Duration::zero());
}

inline std::pair<Fd, Fd> socket_pair() {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    for (const int end : ends) ::fcntl(end, F_SETFL, O_NONBLOCK);
    return {Fd(ends[0]), Fd(ends[1])};
}

inline bufio::Endpoint to(const std::string& host, int port) {
    return {.host = host, .service = std::to_string(port)};
}

inline bufio::Address at(const std::string& host, int port = 0) {
    return bufio::resolve_without_network(to(host, port)).addresses.at(0);
}

inline bufio::Address loopback(int port = 0) { return at("127.0.0.1", port); }

// Returns a listening socket on the loopback, and stores its address in `local`.
inline Fd listen_somewhere(bufio::Address& local, int backlog = 16) {
    Fd listening = bufio::open_socket(AF_INET);
    local = loopback();
    REQUIRE(::bind(listening.get(), local.get(), local.size) == 0);
    REQUIRE(::listen(listening.get(), backlog) == 0);
    local = bufio::Address::of_socket(listening.get());
    return listening;
}

// Returns a connected pair of non-blocking TCP sockets.
inline std::pair<Fd, Fd> tcp_pair() {
    bufio::Address where;
    const Fd listening = listen_somewhere(where);
    Fd one(::socket(AF_INET, SOCK_STREAM, 0));
    REQUIRE(::connect(one.get(), where.get(), where.size) == 0);
    Fd other(::accept(listening.get(), nullptr, nullptr));
    for (const int fd : {one.get(), other.get()}) ::fcntl(fd, F_SETFL, O_NONBLOCK);
    return {std::move(one), std::move(other)};
}

inline void reset(Fd& socket) {
    const linger at_once{1, 0};
    ::setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    socket.reset();
}

// Restores the default action of SIGPIPE, which ends the process, for its lifetime.
class DeadlySigpipe {
public:
    DeadlySigpipe() { before_ = std::signal(SIGPIPE, SIG_DFL); }
    ~DeadlySigpipe() { std::signal(SIGPIPE, before_); }
    DeadlySigpipe(const DeadlySigpipe&) = delete;
    DeadlySigpipe& operator=(const DeadlySigpipe&) = delete;

private:
    void (*before_)(int);
};

inline bool check_contains(const std::string& text, const std::string& part) {
    INFO(text);
    const bool found = contains(text, part);
    CHECK(found);
    return found;
}

inline std::string pattern(std::size_t size) {
    std::string bytes(size, '\0');
    unsigned state = 1;
    for (char& byte : bytes) {
        state = state * 1103515245 + 12345;
        byte = static_cast<char>(state >> 16);
    }
    return bytes;
}

// A stream's owner that consumes all bytes, unless on_change is set.
class Taker final : public Stream::Owner {
public:
    void open(ev::Loop& loop, std::unique_ptr<bufio::Transport> transport,
              Stream::Limits limits = {}) {
        stream = std::make_unique<Stream>(loop, std::move(transport), *this, limits);
    }

    void stream_changed(Stream& s) override {
        ++calls;
        if (s.end()) ++ends;
        if (on_change) return on_change(s);
        take(s);
    }

    void take(Stream& s) {
        got += s.received();
        s.consume(s.received().size());
    }

    Reason reason() const { return stream->end().reason; }
    std::string text() const { return stream->end().text(); }

    std::string got;
    int calls = 0;
    int ends = 0;  // calls that reported the end; more than one is an error
    std::function<void(Stream&)> on_change;
    std::unique_ptr<Stream> stream;
};

}  // namespace test
