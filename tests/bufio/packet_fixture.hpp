// A stream over UDP, and the socket of its peer.
#pragma once

#include "bufio/packets.hpp"
#include "tests/bufio/fixture.hpp"

#include <poll.h>

namespace test {

using bufio::Datagram;
using bufio::PacketSocket;

// Returns a UDP socket connected to this address.
inline Fd connected_to(const bufio::Address& to) {
    Fd socket = bufio::open_socket(to.family(), true);
    REQUIRE(::connect(socket.get(), to.get(), to.size) == 0);
    return socket;
}

// Returns the datagrams as a stream contains them.
inline std::string framed(const std::vector<std::string>& datagrams) {
    std::string bytes;
    for (const std::string& each : datagrams) {
        bytes += {static_cast<char>(each.size() >> 8), static_cast<char>(each.size())};
        bytes += each;
    }
    return bytes;
}

// Waits for datagrams, and returns a copy of their bytes.
inline std::vector<std::string> received(PacketSocket& socket) {
    pollfd wanted{socket.descriptor(), POLLIN, 0};
    REQUIRE(::poll(&wanted, 1, 20'000) == 1);
    std::vector<std::string> all;
    for (const Datagram& each : socket.receive()) all.emplace_back(each.bytes);
    return all;
}

struct PacketPair : Stage {
    explicit PacketPair(const bufio::Address& local = loopback())
        : far(bufio::bound_datagram_socket(local)), peer(far.address()) {
        near.open(loop, bufio::make_packet_transport(connected_to(peer), peer));
    }
    void send(const std::vector<std::string>& datagrams) {
        REQUIRE(near.stream->write(framed(datagrams)));
    }
    // Answers the datagrams that the peer receives next.
    void echo() {
        std::vector<bufio::Packet> answers;
        for (const Datagram& each : far.receive())
            answers.push_back({each.bytes, &each.peer, &each.local});
        if (!answers.empty()) far.send(answers);
    }

    PacketSocket far;
    bufio::Address peer;
    Taker near;
};

}  // namespace test
