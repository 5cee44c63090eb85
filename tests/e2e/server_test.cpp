// yodeld as its users meet it.

#include "tests/e2e/programs.hpp"
#include "tests/support/catch.hpp"

#include <csignal>

using test::Outcome;
using test::Process;
using test::run;
using test::Server;
using test::yodel;
using test::yodeld;

namespace {

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the first line says where it listens") {
    Server server;
    CHECK(server.process().output() == "listening 127.0.0.1:" + server.port() + "\n");
}

TEST_CASE("several ports are listened on at once") {
    Process server({yodeld, "0", "[::1]:0", "127.0.0.1:0"});
    REQUIRE(server.wait_for_output("listening [::1]:"));
    REQUIRE(server.wait_for_output("127.0.0.1:"));
    server.kill(SIGTERM);
    CHECK(server.wait_exit() == 0);
    CHECK(std::count(server.output().begin(), server.output().end(), '\n') == 3);
}

TEST_CASE("what a client sent before it closed its side comes back whole") {
    Server server;
    const std::string bytes(3'000'000, 'x');
    const Outcome outcome =
        run({"socat", "-t", "10", "-", "TCP:127.0.0.1:" + server.port()}, bytes);
    CHECK((outcome.output == bytes));
}

TEST_CASE("on TERM and INT it delivers what is on its way and leaves with 0") {
    const int signal = GENERATE(SIGTERM, SIGINT);
    Server server;
    Process client({yodel, "127.0.0.1", server.port()});
    client.write("a\n");
    REQUIRE(client.wait_for_output("a\n"));
    server.process().kill(signal);
    CHECK(server.process().wait_exit() == 0);
    CHECK(server.process().errors().empty());
    client.close_input();
    CHECK(client.wait_exit() == 0);
}

TEST_CASE("a second signal does not wait for anybody") {
    Server server({"--grace", "1h"});
    Process silent({"socat", "-u", "TCP:127.0.0.1:" + server.port(), "EXEC:sleep 60"});
    Process client({yodel, "127.0.0.1", server.port()});
    client.write("a\n");
    REQUIRE(client.wait_for_output("a\n"));
    server.process().kill(SIGTERM);
    client.close_input();
    CHECK(client.wait_exit() == 0);
    server.process().kill(SIGTERM);
    CHECK(server.process().wait_exit() == 0);
}

TEST_CASE("an idle client is dropped, a busy one is not") {
    Server server({"--idle-timeout", "200ms"});
    Process client({yodel, "127.0.0.1", server.port()});
    for (int i = 0; i < 10; ++i) {
        const std::string line = "line " + std::to_string(i) + "\n";
        client.write(line);
        REQUIRE(client.wait_for_output(line));
    }
    CHECK(server.process().wait_for_errors("idle for 200ms"));
    client.wait_exit();
    CHECK(contains(client.output(), "line 9\n"));
}

TEST_CASE("a client above the limit is turned away") {
    Server server({"--max-conns", "1"});
    Process first({yodel, "127.0.0.1", server.port()});
    first.write("a\n");
    REQUIRE(first.wait_for_output("a\n"));
    const Outcome second = run({yodel, "127.0.0.1", server.port()}, "b\n");
    CHECK(second.status != 0);
    CHECK(second.output.empty());
    CHECK(server.process().wait_for_errors("closed at once, 1 connections are the most"));
    first.write("c\n");
    CHECK(first.wait_for_output("c\n"));
}

TEST_CASE("a client that never finishes its handshake is dropped") {
    test::Certificates certificates;
    certificates.self_sign("self", "DNS:localhost");
    auto options = certificates.server_options("self");
    options.insert(options.end(), {"--handshake-timeout", "50ms"});
    Server server(options);
    Process silent({"socat", "TCP:127.0.0.1:" + server.port(), "EXEC:sleep 60"});
    CHECK(server.process().wait_for_errors("no TLS handshake within 50ms"));
}

TEST_CASE("what it can't do it says, with the right exit status") {
    struct Case {
        std::vector<std::string> arguments;
        int status;
        std::string sentence;
    };
    const Case each = GENERATE(
        Case{{}, 2, "a port to listen on is missing"}, Case{{"99999"}, 2, "is not a port"},
        Case{{"--nonsense", "0"}, 2, "there is no option --nonsense"},
        Case{{"--tls", "0"}, 2, "--tls needs --cert"},
        Case{{"--max-conns", "0", "0"}, 2, "is not a number of connections"},
        Case{{"--tls", "--cert", "/no/such/file", "0"}, 58, "/no/such/file"});
    std::vector<std::string> command{yodeld};
    command.insert(command.end(), each.arguments.begin(), each.arguments.end());
    const Outcome outcome = run(command);
    CAPTURE(outcome.errors);
    CHECK(outcome.status == each.status);
    CHECK(contains(outcome.errors, each.sentence));
}

TEST_CASE("a port that is taken is named") {
    Server other;
    const Outcome outcome = run({yodeld, other.port()});
    CHECK(outcome.status == 1);
    CHECK(outcome.errors ==
          "yodeld: cannot listen on 127.0.0.1:" + other.port() + ": Address already in use\n");
}
