// Two streams that are connected to each other, plain or over TLS.
#pragma once

#include "bufio/tls.hpp"
#include "tests/bufio/fixture.hpp"

namespace test {

using Transports =
    std::pair<std::unique_ptr<bufio::Transport>, std::unique_ptr<bufio::Transport>>;

// Returns the transports of a client and of its server.
inline Transports make_transports(bool tls) {
    auto [one, other] = socket_pair();
    if (!tls)
        return {bufio::make_plain_transport(std::move(one)),
                bufio::make_plain_transport(std::move(other))};
    static const bufio::TlsContext server = bufio::TlsContext::server();
    bufio::TlsClientOptions options;
    options.pins = {server.pin()};
    return {bufio::TlsContext::client(options).connect(std::move(one), "localhost"),
            server.accept(std::move(other))};
}

struct Pair : Stage {
    explicit Pair(Transports transports, Stream::Limits limits = {}) {
        near.open(loop, std::move(transports.first), limits);
        far.open(loop, std::move(transports.second), limits);
    }

    bool opened() {
        return run_until([&] { return near.stream->is_open() && far.stream->is_open(); });
    }
    void echo() {
        far.on_change = [](Stream& stream) {
            if (stream.write(stream.received())) stream.consume(stream.received().size());
        };
    }

    Taker near;
    Taker far;
};

}  // namespace test
