// Servers and sessions that the tests of the rooms inside app share, all on one loop.
#pragma once

#include "app/protocol/session.hpp"
#include "bufio/address.hpp"
#include "bufio/listen.hpp"
#include "bufio/stream.hpp"
#include "bufio/tls.hpp"
#include "ev/loop.hpp"
#include "tests/support/catch.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace test {

inline bufio::Address any_loopback_port() {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return {reinterpret_cast<const sockaddr*>(&name), sizeof name};
}

// Returns the options with a target on this machine.
inline yodel::Session::Options with_port(yodel::Session::Options options, int port) {
    options.endpoint.host = "127.0.0.1";
    options.endpoint.service = std::to_string(port);
    return options;
}

// A session's user who ignores all reports.
struct NoUser : yodel::Session::User {
    virtual ~NoUser() = default;
    void session_changed() override {}
    void session_answered(const yodel::Message&, const yodel::Reply&) override {}
    void session_lost(const yodel::Message&) override {}
    void session_unsolicited(std::string_view) override {}
};

// A server that sends only when the test makes it, and keeps all that it receives.
class ManualServer final : private bufio::Stream::User {
public:
    explicit ManualServer(ev::Loop& loop)
        : loop_(loop),
          listener_(loop, any_loopback_port(), [this](bufio::Fd socket, const bufio::Address&) {
              stream = std::make_unique<bufio::Stream>(
                  loop_, bufio::make_plain_transport(std::move(socket)), user());
          }) {}
    int port() const { return listener_.address().port(); }
    void reset() {
        stream->abort();
        stream.reset();
    }

    std::unique_ptr<bufio::Stream> stream;  // the last connection; null if there was none
    std::string got;

private:
    bufio::Stream::User& user() { return *this; }
    void stream_changed(bufio::Stream& changed) override {
        got += changed.received();
        changed.consume(changed.received().size());
    }

    ev::Loop& loop_;
    bufio::Listener listener_;
};

// Returns a loopback port without a listener: a server used it, and has gone.
inline int unused_port(ev::Loop& loop) { return ManualServer(loop).port(); }

// A TLS server with a self-signed certificate. It accepts connections, and sends nothing.
class SilentTlsServer final : private bufio::Stream::User {
public:
    explicit SilentTlsServer(ev::Loop& loop)
        : tls_(bufio::TlsContext::self_signed_server()),
          listener_(loop, any_loopback_port(), [&](bufio::Fd socket, const bufio::Address&) {
              bufio::Stream::User& user = *this;
              stream_ =
                  std::make_unique<bufio::Stream>(loop, tls_.accept(std::move(socket)), user);
          }) {}
    int port() const { return listener_.address().port(); }

private:
    void stream_changed(bufio::Stream&) override {}

    bufio::TlsContext tls_;
    std::unique_ptr<bufio::Stream> stream_;
    bufio::Listener listener_;
};

// Makes turns of the loop until the condition holds; a time limit makes a hang a failure.
inline void turn_until(ev::Loop& loop, const std::function<bool()>& condition) {
    const ev::Time limit = ev::Clock::now() + std::chrono::seconds(20);
    while (!condition()) {
        REQUIRE(ev::Clock::now() < limit);
        loop.step(std::chrono::milliseconds(1));
    }
}

}  // namespace test
