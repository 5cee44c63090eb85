// What the tests of the app's parts share: one loop, and a port of the loopback.
#pragma once

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
#include <utility>

namespace test {

inline bufio::Address any_loopback_port() {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return {reinterpret_cast<const sockaddr*>(&name), sizeof name};
}

// A server of TLS with a certificate of its own: it accepts, and says nothing.
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

// Turns until the condition holds; a time limit makes a hang a failure.
inline void turn_until(ev::Loop& loop, const std::function<bool()>& condition) {
    const ev::Time limit = ev::Clock::now() + std::chrono::seconds(20);
    while (!condition()) {
        REQUIRE(ev::Clock::now() < limit);
        loop.step(std::chrono::milliseconds(1));
    }
}

}  // namespace test
