// Tests the calls that move datagrams, without a DatagramSocket.
#include "bufio/datagram_calls.hpp"

#include "tests/bufio/addresses.hpp"
#include "tests/bufio/fixture.hpp"

#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <string>

using namespace test;
using bufio::Address;
using bufio::Datagram;
using bufio::DatagramControl;
using bufio::DatagramHeader;

namespace {

Fd bound(const Address& address) {
    Fd fd = bufio::open_datagram_socket(address.family());
    REQUIRE(::bind(fd.get(), address.get(), address.size) == 0);
    return fd;
}

// A datagram with its header for the call.
struct Piece {
    std::array<char, 64> bytes{};
    iovec part{bytes.data(), bytes.size()};
    DatagramControl control{};

    msghdr header() {
        msghdr made{};
        made.msg_iov = &part;
        made.msg_iovlen = 1;
        return made;
    }
};

}  // namespace

TEST_CASE("moves one datagram per call, or several if the system can", "[datagram]") {
    const Fd receiver = bound(v4(1, 0));
    const Fd sender = bufio::open_datagram_socket(AF_INET);
    Address to = Address::of_socket(receiver.get());
    std::array<Piece, 3> pieces;
    std::array<DatagramHeader, 3> headers{};
    for (std::size_t i = 0; i < 3; ++i) {
        pieces[i].bytes[0] = static_cast<char>('a' + i);
        pieces[i].part.iov_len = i + 1;
        headers[i].msg_hdr = pieces[i].header();
        headers[i].msg_hdr.msg_name = &to.storage;
        headers[i].msg_hdr.msg_namelen = to.size;
    }
    for (int sent = 0; sent < 3;) {
        const auto from = static_cast<std::size_t>(sent);
        const int count = bufio::send_some(sender.get(), &headers[from], 3 - from);
        REQUIRE(count > 0);
        sent += count;
    }
    for (int received = 0; received < 3;) {
        std::array<Piece, 2> in;
        std::array<DatagramHeader, 2> found{};
        for (std::size_t i = 0; i < 2; ++i) found[i].msg_hdr = in[i].header();
        const int count = bufio::receive_some(receiver.get(), found.data(), 2);
        REQUIRE(count > 0);
        CHECK(in[0].bytes[0] == 'a' + received);
        received += count;
        CHECK(found[static_cast<std::size_t>(count) - 1].msg_len ==
              static_cast<unsigned>(received));
    }
    DatagramHeader more{};
    Piece in;
    more.msg_hdr = in.header();
    CHECK(bufio::receive_some(receiver.get(), &more, 1) == -1);
    CHECK(errno == EAGAIN);
}

TEST_CASE("reports the local address of a datagram, or leaves it unchanged", "[datagram]") {
    const Fd receiver = bound(any_address());
    bufio::ask_for_local_address(receiver.get(), AF_INET);
    const int port = Address::of_socket(receiver.get()).port();
    const Fd sender = bufio::open_datagram_socket(AF_INET);
    const Address to = v4(1, port);
    REQUIRE(::sendto(sender.get(), "x", 1, 0, to.get(), to.size) == 1);
    Piece in;
    DatagramHeader header{};
    header.msg_hdr = in.header();
    header.msg_hdr.msg_control = in.control.bytes;
    header.msg_hdr.msg_controllen = sizeof in.control.bytes;
    REQUIRE(bufio::receive_some(receiver.get(), &header, 1) == 1);
    Datagram datagram;
    datagram.local = Address::of_socket(receiver.get());
    bufio::read_local_address(header.msg_hdr, datagram);
    const bool told = BUFIO_HAS_PKTINFO;
    CHECK(same_host(datagram.local, told ? v4(1, 0) : any_address()));
    CHECK(datagram.local.port() == port);
    CHECK_FALSE(datagram.to_group);
}
