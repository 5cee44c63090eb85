#include "app/protocol/first_words.hpp"

#include "bufio/fd.hpp"
#include "tests/support/catch.hpp"

#include <sys/socket.h>

#include <array>
#include <string>
#include <vector>

namespace {

using bufio::Fd;
using bufio::IoStatus;

struct Row {
    std::string framing;
    std::vector<std::string> lines;
    std::string received;  // what the service sends, whatever it has received
    std::string sent;      // what it has received in the end
    std::string end;       // how opening the connection fails; empty if it succeeds
    std::vector<std::string> notes;
    std::string rest = {};  // input after the opening
};

const Row rows[] = {
    {"resp",
     {"AUTH secret", "PING"},
     "+OK\r\n$4\r\nPONG\r\n:1\r\n",
     "AUTH secret\r\nPING\r\n",
     "",
     {"--on-connect 1, AUTH ...: +OK", "--on-connect 2, PING: $4", "PONG"},
     ":1\r\n"},
    {"resp",
     {"AUTH a", "GET b"},
     "-WRONGPASS no\r\n",
     "AUTH a\r\n",
     "the server refused --on-connect 1: -WRONGPASS no",
     {"--on-connect 1, AUTH ...: -WRONGPASS no"}},
    {"resp",
     {"SUBSCRIBE a"},
     ">2\r\n+x\r\n+y\r\n+OK\r\n",
     "SUBSCRIBE a\r\n",
     "",
     {"greeting: >2", "+x", "+y", "--on-connect 1, SUBSCRIBE ...: +OK"}},
    {"resp",
     {"GET a"},
     "nonsense\r\n",
     "GET a\r\n",
     "the server sent \"nonsense\", which is not valid for -f resp",
     {}},
    {"smtp",
     {"EHLO me"},
     "220 mail\r\n250-mail\r\n250 HELP\r\n",
     "EHLO me\r\n",
     "",
     {"greeting: 220 mail", "--on-connect 1, EHLO ...: 250-mail", "250 HELP"}},
    {"smtp",
     {"NOOP"},
     "220 mail\r\n450 later\r\n",
     "NOOP\r\n",
     "the server refused --on-connect 1: 450 later",
     {"greeting: 220 mail", "--on-connect 1, NOOP: 450 later"}},
    {"line",
     {"hello", "you there"},
     "hello\n",
     "hello\nyou there\n",
     "",
     {"--on-connect 1, hello", "--on-connect 2, you ..."},
     "hello\n"},
    {"len2", {"a"}, "", std::string("\0\1a", 3), "", {"--on-connect 1, a"}},
};

std::string receive(int descriptor) {
    std::array<char, 4096> bytes{};
    const ssize_t count = ::recv(descriptor, bytes.data(), bytes.size(), 0);
    return {bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
}

}  // namespace

TEST_CASE("first words wait for replies, wherever these are cut") {
    for (const Row& row : rows) {
        CAPTURE(row.framing, row.received);
        for (std::size_t cut = 0; cut <= row.received.size(); ++cut) {
            CAPTURE(cut);
            std::array<int, 2> ends{};
            REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()) == 0);
            const Fd peer(ends[1]);
            std::vector<std::string> notes;
            const auto transport =
                yodel::say_first(bufio::make_plain_transport(Fd(ends[0])),
                                 *yodel::find_framing(row.framing), false, row.lines, notes);
            IoStatus status = transport->handshake().status;
            std::string sent = receive(peer.get());
            for (const std::string& part :
                 {row.received.substr(0, cut), row.received.substr(cut)}) {
                if (part.empty() || status == IoStatus::failed) continue;
                CHECK(::send(peer.get(), part.data(), part.size(), MSG_NOSIGNAL) > 0);
                if (status == IoStatus::wants_read) status = transport->handshake().status;
                sent += receive(peer.get());
            }
            CHECK(sent == row.sent);
            CHECK(notes == row.notes);
            CHECK(status == (row.end.empty() ? IoStatus::done : IoStatus::failed));
            if (!row.end.empty()) {
                CHECK(transport->failure().text("the server") == row.end);
                continue;
            }
            std::array<char, 64> bytes{};
            std::string rest;
            while (rest.size() < row.rest.size()) {
                const auto result = transport->read(bytes.data(), 2);
                REQUIRE(result.count > 0);
                rest.append(bytes.data(), result.count);
            }
            CHECK(rest == row.rest);
            CHECK_FALSE(transport->buffers_input());
        }
    }
}

TEST_CASE("a connection that closes during the first words has closed early") {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()) == 0);
    Fd peer(ends[1]);
    std::vector<std::string> notes;
    const std::vector<std::string> lines{"PING"};
    const auto transport = yodel::say_first(bufio::make_plain_transport(Fd(ends[0])),
                                            *yodel::find_framing("resp"), false, lines, notes);
    CHECK(transport->handshake().status == IoStatus::wants_read);
    REQUIRE(::shutdown(peer.get(), SHUT_WR) == 0);
    CHECK(transport->handshake().status == IoStatus::failed);
    CHECK(transport->failure().reason == bufio::Reason::closed_early);
    CHECK(transport->failure().text("the server") ==
          "the server closed the connection before it answered --on-connect 1");
}
