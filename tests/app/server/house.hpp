// An echo server and clients that use system calls only, on one loop.
#pragma once

#include "app/server/echo_server.hpp"
#include "app/text/units.hpp"
#include "tests/app/fixture.hpp"
#include "tests/support/escapes.hpp"
#include "tests/support/table.hpp"
#include "tests/support/virtual_time.hpp"

#include <netinet/tcp.h>

#include <cerrno>

namespace test {

// A client of a server under test.
struct RawClient {
    enum class Kind { stream, datagrams };

    // `receive_buffer`: its size in bytes; 0: the system's default.
    explicit RawClient(const bufio::Address& to, Kind of = Kind::stream, int receive_buffer = 0)
        : kind(of), socket(bufio::open_socket(to.family(), of != Kind::stream)) {
        const int on = 1;
        ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        if (receive_buffer > 0)
            ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUF, &receive_buffer,
                         sizeof receive_buffer);
        ::connect(socket.get(), to.get(), to.size);
    }

    // Returns the number of bytes that the system accepted.
    std::size_t send(std::string_view bytes) const {
        const ssize_t count = ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        return count > 0 ? static_cast<std::size_t>(count) : 0;
    }
    // Returns true if anything was received, even the end.
    bool receive(std::size_t max_size = 65536) {
        std::string bytes(max_size, '\0');
        const ssize_t count = ::recv(socket.get(), bytes.data(), bytes.size(), 0);
        if (count >= 0) bytes.resize(static_cast<std::size_t>(count));
        if (count >= 0) got += bytes;
        if (count >= 0 && kind == Kind::datagrams) datagrams.push_back(bytes);
        ended = ended || (count == 0 && kind == Kind::stream);
        reset = reset || (count < 0 && errno == ECONNRESET);
        return count >= 0;
    }
    bool over() const { return ended || reset; }
    void shut() const { ::shutdown(socket.get(), SHUT_WR); }
    void abort() {
        const linger at_once{1, 0};
        ::setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        socket.reset();
    }

    Kind kind;
    bufio::Fd socket;
    std::string got;
    std::vector<std::string> datagrams;
    bool ended = false;
    bool reset = false;
};

// A server and its log.
template <class AnyLoop>
struct HouseOn {
    using Kind = RawClient::Kind;

    explicit HouseOn(yodel::EchoServer::Options options = {}, Kind of = Kind::stream)
        : kind(of),
          server(loop, std::move(options), [this](auto&, auto& text) { log.push_back(text); }),
          address(of == Kind::stream ? server.listen(any_loopback_port())
                                     : server.listen_datagrams(any_loopback_port())) {}

    template <class Condition>
    void until(Condition condition) {
        turn_until(loop, condition);
    }
    // Waits until the server counts this many connections, received datagrams and the like.
    void until_count(std::uint64_t yodel::Counters::*counter, std::uint64_t count) {
        until([&] { return server.counters().*counter == count; });
    }
    RawClient peer(int receive_buffer = 0) const {
        return RawClient(address, kind, receive_buffer);
    }

    AnyLoop loop;
    Kind kind;
    std::vector<std::string> log;
    yodel::EchoServer server;
    bufio::Address address;
};

// Plays a script of one peer. After each step the server has done all that it can. A verb may
// also be the name of a counter.
inline void play(yodel::EchoServer::Options options, const std::string& script,
                 RawClient::Kind kind = RawClient::Kind::stream) {
    HouseOn<VirtualLoop> house(std::move(options), kind);
    RawClient peer = house.peer();
    std::size_t drained = 0;
    if (kind == RawClient::Kind::stream) house.until_count(&yodel::Counters::accepted, 1);
    const auto make_step = [&](const std::string& verb, const std::string& what) {
        if (verb == "send") peer.send(test::bytes(what));
        if (verb == "shut") peer.shut();
        if (verb == "leave") peer.socket.reset();
        if (verb == "drain")
            house.server.drain(*yodel::parse_duration(what), [&] { ++drained; });
        const bool passes = verb.starts_with('+');
        house.loop.pass(passes ? *yodel::parse_duration(verb.substr(1)) : ev::Duration(1000));
        if (verb == "drained")
            return std::string(drained == 0 ? "no" : drained == 1 ? "yes" : "twice");
        if (verb == "log") return yodel::join(std::exchange(house.log, {}), ", ");
        for (const auto& [name, counter] : yodel::counter_rows)
            if (verb == name) return std::to_string(house.server.counters().*counter);
        std::string text;
        if (verb != "got") return text;
        while (peer.receive() && !peer.over()) {
        }
        text = shown(std::exchange(peer.got, {}));
        if (kind == RawClient::Kind::datagrams)
            text = shown(yodel::join(std::exchange(peer.datagrams, {}), " | "));
        if (peer.over()) text += peer.ended ? " end" : " reset";
        return text;
    };
    std::string verbs = "send shut leave drain got drained log";
    for (const auto& row : yodel::counter_rows) verbs.append(" ").append(row.first);
    play_script(script, verbs, make_step);
}

}  // namespace test
