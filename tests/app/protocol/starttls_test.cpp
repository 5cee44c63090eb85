#include "app/protocol/starttls.hpp"

#include "tests/support/catch.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <array>

using namespace yodel;
using bufio::Fd;
using bufio::IoStatus;

namespace {

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

// A client on one end of a socket pair; the test plays the service on the other end.
struct Client {
    explicit Client(const Starttls& service) {
        std::array<int, 2> ends{};
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()) == 0);
        peer.reset(ends[1]);
        transport =
            connect_starttls(service, Fd(ends[0]), bufio::TlsContext::client({.verify = false}),
                             "localhost", notes);
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
    // Returns the error text after the steps and their answers, the last of which is replaced.
    std::string failure(const std::vector<Step>& steps, const std::string& last) {
        for (std::size_t i = 0; i + 1 < steps.size(); ++i)
            REQUIRE(receive(steps[i].answer) == IoStatus::wants_read);
        CHECK(receive(last) == IoStatus::failed);
        CHECK(transport->failure().reason == bufio::Reason::tls);
        return transport->failure().text("the server");
    }

    std::vector<std::string> notes;
    Fd peer;
    std::unique_ptr<bufio::Transport> transport;
};

constexpr char hello = '\x16';  // the first byte of a TLS handshake

}  // namespace

TEST_CASE("starts TLS after the conversation in clear, cut at each byte") {
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
            Client client(*service);
            const std::string text = client.failure(steps, row.answer);
            INFO(text);
            CHECK(text.find(row.clause) != std::string::npos);
        }
    }
}

TEST_CASE("refuses bytes in clear behind the last answer") {
    for (const auto& [name, service] : starttls_services()) {
        const std::vector<Step>& steps = conversations.at(name);
        const std::string last = steps.back().answer;
        CHECK(Client(*service).failure(steps, last + "x").find("more in clear") !=
              std::string::npos);
        CHECK(Client(*service).failure(steps, last + last).find("more in clear") !=
              std::string::npos);
    }
}

TEST_CASE("limits what a service sends in clear") {
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
    CHECK(client.transport->failure().text("the server") ==
          "the server closed the connection before it greeted");
}
