// Servers and sessions that the tests of the rooms inside app share, all on one loop.
#pragma once

#include "app/protocol/session.hpp"
#include "bufio/address.hpp"
#include "bufio/listen.hpp"
#include "bufio/packets.hpp"
#include "bufio/stream.hpp"
#include "bufio/tls.hpp"
#include "ev/loop.hpp"
#include "tests/support/catch.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <span>

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

// A session's owner that ignores all reports.
struct NoUser : yodel::Session::Owner {
    virtual ~NoUser() = default;
    void session_changed() override {}
    void session_event(const yodel::Event&) override {}
};

// The other side of a connection. It acts only on the test's calls.
class Peer {
public:
    virtual ~Peer() = default;
    virtual int port() const = 0;
    virtual bool connected() const = 0;
    virtual void send(std::string_view bytes) = 0;
    virtual void leave() = 0;      // refuses new connections
    virtual void come_back() = 0;  // accepts connections again, on the same port
    virtual void connect() {}      // only of a client
    void reset() {
        stream->abort();
        stream.reset();
    }

    std::string got;
    std::unique_ptr<bufio::Stream> stream;  // the last connection; null if there was none
};

// A server that serves only the latest connection.
class ManualServer final : public Peer, private bufio::Stream::Owner {
public:
    explicit ManualServer(ev::Loop& loop) : loop_(loop) { come_back(); }
    int port() const override { return address_.port(); }
    bool connected() const override { return stream != nullptr; }
    void send(std::string_view bytes) override { stream->write(bytes); }
    void leave() override { listener_.reset(); }
    void come_back() override {
        const auto accept = [this](bufio::Fd socket, const bufio::Address&) {
            auto transport = bufio::make_plain_transport(std::move(socket));
            stream = std::make_unique<bufio::Stream>(loop_, std::move(transport), owner());
        };
        listener_.emplace(loop_, address_, accept);
        address_ = listener_->address();
    }

private:
    bufio::Stream::Owner& owner() { return *this; }
    void stream_changed(bufio::Stream& changed) override {
        got += changed.received();
        changed.consume(changed.received().size());
    }

    ev::Loop& loop_;
    bufio::Address address_ = any_loopback_port();
    std::optional<bufio::Listener> listener_;
};

// A client for a session that listens. The acceptor belongs to the session's options.
class ManualClient final : public Peer, private bufio::Stream::Owner {
public:
    explicit ManualClient(ev::Loop& loop)
        : acceptor(loop, any_loopback_port(), false), loop_(loop) {}
    int port() const override { return acceptor.address().port(); }
    bool connected() const override { return stream != nullptr; }
    void send(std::string_view bytes) override { stream->write(bytes); }
    void leave() override {}
    void come_back() override {}
    void connect() override {
        const bufio::Address& to = acceptor.address();
        bufio::Fd socket = bufio::open_socket(to.family());
        const int result = ::connect(socket.get(), to.get(), to.size);
        REQUIRE((result == 0 || errno == EINPROGRESS));
        bufio::Stream::Owner& owner = *this;
        stream = std::make_unique<bufio::Stream>(
            loop_, bufio::make_plain_transport(std::move(socket)), owner);
    }

    bufio::Acceptor acceptor;

private:
    void stream_changed(bufio::Stream& changed) override {
        got += changed.received();
        changed.consume(changed.received().size());
    }

    ev::Loop& loop_;
};

// Sends to the sender of the last datagram. Appends a line end to each received datagram.
class DatagramPeer final : public Peer {
public:
    explicit DatagramPeer(ev::Loop& loop) : loop_(loop) { come_back(); }
    int port() const override { return address_.port(); }
    bool connected() const override { return true; }
    void send(std::string_view bytes) override {
        const bufio::Packet packet{bytes, &client_};
        REQUIRE(socket_->send({&packet, 1}) == 1);
    }
    void leave() override {
        watch_ = {};
        socket_.reset();
    }
    void come_back() override {
        socket_.emplace(bufio::bound_datagram_socket(address_));
        address_ = socket_->address();
        watch_ = ev::Watch(loop_, socket_->descriptor(), ev::readable,
                           [this](ev::Events) { receive(); });
    }

private:
    void receive() {
        for (const bufio::Datagram& each : socket_->receive()) {
            got += std::string(each.bytes) + "\n";
            client_ = each.peer;
        }
    }

    ev::Loop& loop_;
    bufio::Address address_ = any_loopback_port();
    bufio::Address client_;
    std::optional<bufio::PacketSocket> socket_;
    ev::Watch watch_;
};

// Returns a loopback port whose server no longer listens.
inline int unused_port(ev::Loop& loop) { return ManualServer(loop).port(); }

// A TLS server with a self-signed certificate. It accepts connections, and sends nothing.
class SilentTlsServer final : private bufio::Stream::Owner {
public:
    explicit SilentTlsServer(ev::Loop& loop)
        : tls_(bufio::TlsContext::server()),
          listener_(loop, any_loopback_port(), [&](bufio::Fd socket, const bufio::Address&) {
              bufio::Stream::Owner& owner = *this;
              socket_ = socket.get();
              stream_ =
                  std::make_unique<bufio::Stream>(loop, tls_.accept(std::move(socket)), owner);
          }) {}
    int port() const { return listener_.address().port(); }
    // Ends its side of the TCP connection without close_notify.
    void cut() const { ::shutdown(socket_, SHUT_WR); }

private:
    void stream_changed(bufio::Stream&) override {}

    bufio::TlsContext tls_;
    int socket_ = -1;
    std::unique_ptr<bufio::Stream> stream_;
    bufio::Listener listener_;
};

// Runs turns of the loop until the condition holds. A time limit turns a hang into a failure.
inline void turn_until(ev::Loop& loop, const std::function<bool()>& condition) {
    const ev::Time limit = ev::Clock::now() + std::chrono::seconds(20);
    while (!condition()) {
        REQUIRE(ev::Clock::now() < limit);
        loop.step(std::chrono::milliseconds(1));
    }
}

}  // namespace test
