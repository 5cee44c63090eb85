// The protocols of the books, with peers that share no code with the programs.

#include "tests/e2e/programs.hpp"
#include "tests/support/catch.hpp"

using test::Outcome;
using test::Peer;
using test::run;
using test::Server;
using test::yodel;

namespace {

const std::string length_echo = test::peers + "/length_echo.py";
const std::string caret_echo = test::peers + "/caret_echo.py";

}  // namespace

TEST_CASE(
    "a length-framed server in Python answers several messages at once, and one of 32 MiB") {
    Peer peer({"python3", length_echo, "serve", "PORT"});
    const std::string input =
        "hello1\nhello2\nhello3\n" + std::string(32 << 20, 'x') + "\nhello5\n";
    const Outcome outcome = run({yodel, "-f", "len4le", "127.0.0.1", peer.port()}, input);
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 0);
    CHECK((outcome.output == input));
    CHECK(outcome.errors.find("5 sent, 5 echoed") != std::string::npos);
}

TEST_CASE("a length-framed client in Python that reads only after sending all gets all") {
    const std::string size = GENERATE("1", "65536", "33554432");
    std::vector<std::string> command{"python3", length_echo, "ask", "", size};
    std::vector<std::string> options{"-f", "len4le"};
    const bool tls = GENERATE(false, true);
    if (tls) options.emplace_back("--self-signed");
    if (tls) command.emplace_back("tls");
    Server server(options);
    command[3] = server.port();
    const Outcome outcome = run(command);
    CAPTURE(outcome.errors);
    CHECK(outcome.output == "all came back\n");
}

TEST_CASE("yodeld does not answer a part of a length-framed message") {
    Server server({"-f", "len4le"});
    const Outcome outcome = run({"python3", length_echo, "cut", server.port(), "9"});
    CHECK(outcome.output == std::string("\5\0\0\0whole", 9));
    CHECK(server.process().wait_for_errors("closed inside a message, after 5 of 10 bytes\n"));
}

TEST_CASE("a caret server in Python increments every byte") {
    Peer peer({"python3", caret_echo, "serve", "PORT"});
    const Outcome outcome =
        run({yodel, "-f", "caret", "127.0.0.1", peer.port()}, "abc\nhello\n^\n");
    CAPTURE(outcome.errors);
    CHECK(outcome.output == "bcd\nifmmp\n_\n");
    CHECK(outcome.errors.find("3 sent, 3 echoed") != std::string::npos);
    CHECK(outcome.status == 0);
}

TEST_CASE("yodeld answers the caret session of the protocol's description") {
    Peer peer({"python3", caret_echo, "serve", "PORT"});
    const Outcome outcome =
        run({yodel, "-f", "raw", "--expect", "none", "127.0.0.1", peer.port()},
            "^abc$de^abte$fxyz^12325$^ab0000$abab");
    CHECK(outcome.output == "*bcdbcuf23436bc1111");
    CHECK(outcome.status == 0);
}

TEST_CASE("yodeld serves several caret clients in Python at once, with messages cut anywhere") {
    Server server({"-f", "caret"});
    const Outcome outcome = run({"python3", caret_echo, "ask", server.port(), "5"});
    CAPTURE(outcome.errors);
    CHECK(outcome.output == "all came back\n");
}

TEST_CASE("caret refuses a message that it can't carry, and a server without a greeting") {
    Server server({"-f", "caret"});
    const Outcome empty = run({yodel, "-f", "caret", "127.0.0.1", server.port()}, "a\n\nb\n");
    CHECK(empty.output == "b\n");
    CHECK(empty.status == 1);
    CHECK(empty.errors.find("a message of 0 bytes does not fit") != std::string::npos);
    Server lines;
    const Outcome stranger = run({yodel, "-f", "caret", "127.0.0.1", lines.port()}, "a\n");
    CHECK(stranger.status == 56);
    CHECK(stranger.errors.find("did not send the greeting *") != std::string::npos);
}

TEST_CASE("an idle connection is dropped, one with traffic is not") {
    Server server({"--idle-timeout", "400ms"});
    const Outcome busy = run({yodel, "-c", "7", "-i", "100ms", "127.0.0.1", server.port()});
    CAPTURE(busy.errors);
    CHECK(busy.status == 0);
    test::Process idle({yodel, "127.0.0.1", server.port()});
    CHECK(idle.wait_exit() != -1);
}
