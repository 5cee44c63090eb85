// Users of datagram sockets.
#pragma once

#include "bufio/datagram.hpp"
#include "bufio/dial.hpp"
#include "tests/bufio/fixture.hpp"

namespace test {

using bufio::Datagram;
using bufio::DatagramSocket;

// Stores received datagrams, unless on_received is set.
struct Correspondent final : DatagramSocket::User {
    void connect(ev::Loop& loop, const bufio::Address& to, DatagramSocket::Limits limits = {}) {
        bufio::Fd fd = bufio::open_datagram_socket(to.family());
        REQUIRE(::connect(fd.get(), to.get(), to.size) == 0);
        socket = std::make_unique<DatagramSocket>(loop, std::move(fd), user(), limits);
    }
    void listen(ev::Loop& loop, const bufio::Address& address,
                DatagramSocket::Limits limits = {}) {
        socket = std::make_unique<DatagramSocket>(loop, address, user(), limits);
    }
    void datagrams_received(std::span<const Datagram> datagrams) override {
        ++calls;
        for (const Datagram& each : datagrams) {
            got.emplace_back(each.bytes);
            last = each;
        }
        if (on_received) on_received(datagrams);
    }
    void datagrams_written() override { ++written_calls; }
    void datagrams_ended() override {
        ++ends;
        if (on_end) on_end();
    }

    std::vector<std::string> got;
    Datagram last;  // without its bytes
    int calls = 0;
    int written_calls = 0;
    int ends = 0;
    std::function<void(std::span<const Datagram>)> on_received;
    std::function<void()> on_end;
    std::unique_ptr<DatagramSocket> socket;

private:
    DatagramSocket::User& user() { return *this; }
};

// Makes the server echo every datagram.
inline void echo(Correspondent& server) {
    server.on_received = [&server](std::span<const Datagram> datagrams) {
        for (const Datagram& each : datagrams)
            server.socket->send(each.bytes, each.peer, each.local);
    };
}

// A bound socket and a socket connected to it.
struct DatagramPair {
    explicit DatagramPair(DatagramSocket::Limits limits = {},
                          const bufio::Address& address = loopback()) {
        server.listen(loop, address, limits);
        client.connect(loop, server.socket->address(), limits);
    }
    void send(std::string_view bytes) {
        REQUIRE(client.socket->send(bytes));
        client.socket->flush();
    }
    void until_client_got(std::size_t count) {
        REQUIRE(run_until(loop, [&] { return client.got.size() >= count; }));
    }
    void until_server_got(std::size_t count) {
        REQUIRE(run_until(loop, [&] { return server.got.size() >= count; }));
    }

    ev::Loop loop;
    Correspondent server;
    Correspondent client;
};

}  // namespace test
