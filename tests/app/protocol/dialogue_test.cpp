#include "app/protocol/dialogue.hpp"

#include "bufio/fd.hpp"
#include "bufio/tls.hpp"
#include "tests/support/catch.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

using namespace yodel;
using bufio::Fd;
using bufio::IoResult;
using bufio::IoStatus;

namespace {

// A dialogue on one end of a socket pair; the test plays the service on the other end.
struct Client {
    explicit Client(const Starttls& service)
        : transport(ask_for_tls(
              bufio::TlsContext::client({.verify = false}).connect(connect(), "localhost"),
              service, notes)) {}
    Client(const std::string& framing, const std::vector<std::string>& lines)
        : transport(say_first(bufio::make_plain_transport(connect()), *find_framing(framing),
                              false, lines, notes)) {}

    Fd connect() {
        std::array<int, 2> ends{};
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()) == 0);
        peer.reset(ends[1]);
        return Fd(ends[0]);
    }
    IoStatus receive(const std::string& bytes) {
        REQUIRE(::send(peer.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
                static_cast<ssize_t>(bytes.size()));
        return transport->handshake().status;
    }
    std::string sent() const {
        std::array<char, 4096> bytes{};
        const ssize_t count = ::recv(peer.get(), bytes.data(), bytes.size(), 0);
        return {bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
    }
    std::string failure() const { return transport->failure().text("the server"); }

    std::vector<std::string> notes;
    Fd peer;
    std::unique_ptr<bufio::Transport> transport;
};

struct Step {
    std::string command;  // sent by the client
    std::string answer;
};

const std::map<std::string, std::vector<Step>> conversations{
    {"smtp",
     {{"", "220-a\r\n220 b\r\n"},
      {"EHLO localhost\r\n", "250-STARTTLS\r\n250 HELP\r\n"},
      {"STARTTLS\r\n", "220 go\r\n"}}},
    {"imap", {{"", "* OK a\r\n"}, {"a STARTTLS\r\n", "* CAPABILITY x\r\na ok\r\n"}}},
    {"pop3", {{"", "+OK a\r\n"}, {"STLS\r\n", "+OK go\r\n"}}},
    {"ftp", {{"", "120 soon\r\n220-a\r\n 530 b\r\n220 c\r\n"}, {"AUTH TLS\r\n", "234 go\r\n"}}},
};

constexpr char hello = '\x16';  // the first byte of a TLS handshake

// Returns the error text after the steps of STARTTLS, the last of which has another answer.
std::string starttls_failure(const Starttls& service, const std::vector<Step>& steps,
                             const std::string& last) {
    Client client(service);
    for (std::size_t i = 0; i + 1 < steps.size(); ++i)
        REQUIRE(client.receive(steps[i].answer) == IoStatus::wants_read);
    CHECK(client.receive(last) == IoStatus::failed);
    CHECK(client.transport->failure().reason == bufio::Reason::tls);
    return client.failure();
}

struct OnConnect {
    std::string framing;
    std::vector<std::string> lines;
    std::string received;  // what the service sends, whatever it has received
    std::string sent;      // what it has received in the end
    std::string end;       // how opening the connection fails; empty if it succeeds
    std::vector<std::string> notes;
    std::string rest = {};  // input after the opening
};

const OnConnect openings[] = {
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

// An open WebSocket, for example, whose peer breaks the protocol.
struct BrokenTransport : bufio::Transport {
    int descriptor() const override { return -1; }
    IoResult read(char*, std::size_t) override {
        fail({bufio::Reason::receive, bufio::By::peer, "sent a reserved opcode"});
        return {IoStatus::rejected};
    }
    IoResult write(const char*, std::size_t size) override { return {IoStatus::done, size}; }
    IoResult close_output() override { return {IoStatus::done}; }
};

}  // namespace

TEST_CASE("starts TLS after the conversation in plaintext, cut at each byte") {
    for (const auto& [name, service] : starttls_services()) {
        INFO(name);
        const std::vector<Step>& steps = conversations.at(name);
        Client client(*service);
        for (const Step& step : steps) {
            CHECK(client.sent() == step.command);
            for (const char byte : step.answer) {
                CHECK(client.transport->handshake().status == IoStatus::wants_read);
                CHECK(client.sent().empty());
                CHECK(client.receive({byte}) == IoStatus::wants_read);
            }
        }
        CHECK(client.sent().front() == hello);
    }
}

TEST_CASE("never starts TLS after another answer") {
    const struct {
        const char* answer;
        const char* clause;  // part of the error text
    } rows[] = {{"454 no\r\n", " with: 454 no; expected "},
                {"a NO x\r\n", " with: a NO x; expected "},
                {"454-no\r\n454 x\r\n", " with: 454-no; expected "}};
    for (const auto& [name, service] : starttls_services()) {
        const std::vector<Step>& steps = conversations.at(name);
        for (const auto& row : rows) {
            if ((name == "imap") != (row.answer[0] == 'a')) continue;  // news of IMAP
            const std::string text = starttls_failure(*service, steps, row.answer);
            INFO(text);
            CHECK(text.find(row.clause) != std::string::npos);
        }
    }
}

TEST_CASE("refuses plaintext after the last answer") {
    for (const auto& [name, service] : starttls_services()) {
        const std::vector<Step>& steps = conversations.at(name);
        const std::string last = steps.back().answer;
        for (const std::string& more : {std::string("x"), last})
            CHECK(starttls_failure(*service, steps, last + more).find("more plaintext") !=
                  std::string::npos);
    }
}

TEST_CASE("limits what a service sends in plaintext") {
    for (const auto& [name, service] : starttls_services()) {
        INFO(name);
        Client client(*service);
        std::string greeting = conversations.at(name)[0].answer;
        client.receive(greeting);
        IoStatus status = IoStatus::wants_read;
        const std::string more = name == "imap" ? std::string(1022, '*') + "\r\n"
                                                : "220-" + std::string(1018, '-') + "\r\n";
        for (int i = 0; i < 70 && status == IoStatus::wants_read; ++i)
            status = client.receive(more);
        CHECK(status == IoStatus::failed);
    }
}

TEST_CASE("reports a service that closes instead of answering") {
    Client client(*starttls_services()[0].second);
    client.peer.reset();
    CHECK(client.transport->handshake().status == IoStatus::failed);
    CHECK(client.failure() == "the server closed the connection before it greeted");
}

TEST_CASE("first words wait for replies, wherever these are cut") {
    for (const OnConnect& row : openings) {
        CAPTURE(row.framing, row.received);
        for (std::size_t cut = 0; cut <= row.received.size(); ++cut) {
            CAPTURE(cut);
            Client client(row.framing, row.lines);
            bufio::Transport& transport = *client.transport;
            IoStatus status = transport.handshake().status;
            std::string sent = client.sent();
            for (const std::string& part :
                 {row.received.substr(0, cut), row.received.substr(cut)}) {
                if (part.empty() || status == IoStatus::failed) continue;
                CHECK(::send(client.peer.get(), part.data(), part.size(), MSG_NOSIGNAL) > 0);
                if (status == IoStatus::wants_read) status = transport.handshake().status;
                sent += client.sent();
            }
            CHECK(sent == row.sent);
            CHECK(client.notes == row.notes);
            CHECK(status == (row.end.empty() ? IoStatus::done : IoStatus::failed));
            if (!row.end.empty()) {
                CHECK(client.failure() == row.end);
                continue;
            }
            std::array<char, 64> bytes{};
            std::string rest;
            while (rest.size() < row.rest.size()) {
                const auto result = transport.read(bytes.data(), 2);
                REQUIRE(result.count > 0);
                rest.append(bytes.data(), result.count);
            }
            CHECK(rest == row.rest);
            CHECK_FALSE(transport.buffers_input());
        }
    }
}

TEST_CASE("a broken protocol below the first words is reported, before and after them") {
    for (const std::string framing : {"line", "resp"}) {
        const std::vector<std::string> lines{"PING"};
        std::vector<std::string> notes;
        const auto transport = say_first(std::make_unique<BrokenTransport>(),
                                         *find_framing(framing), false, lines, notes);
        const bool waits = framing == "resp";
        CHECK(transport->handshake().status == (waits ? IoStatus::failed : IoStatus::done));
        char byte = 0;
        if (!waits) CHECK(transport->read(&byte, 1).status == IoStatus::rejected);
        CHECK(transport->failure().text() == "the peer sent a reserved opcode");
    }
}
