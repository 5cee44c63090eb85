// yodel on a terminal, as a user meets it.

#include "tests/e2e/programs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/tty.hpp"

#include <csignal>
#include <fstream>

using test::Server;
using test::Tty;
using test::yodel;

namespace {

std::string last_row(const Tty& tty, int rows) { return tty.row(rows - 1); }

void type(Tty& tty, const std::string& line) { tty.send(line + "\r"); }

// The program is gone, with this status, and has left the terminal as it was.
void check_gone(Tty& tty, const termios& before, int status) {
    const auto exited = tty.wait_exit();
    CAPTURE(tty.screen());
    REQUIRE(exited);
    CHECK(*exited == status);
    CHECK(test::same_settings(before, tty.settings()));
    CHECK_FALSE(tty.alternate_screen());
    CHECK(tty.cursor_shown());
    CHECK(tty.modes().count(2004) == 0);
}

}  // namespace

TEST_CASE("a line is sent, its echo is shown with its time, and ^D leaves") {
    Tty tty({.arguments = {yodel}});
    const termios before = tty.settings();
    REQUIRE(tty.wait_for("up 00:0"));
    type(tty, "hello");
    REQUIRE(tty.wait_for("ms ‹ hello ✓"));
    CHECK(tty.shows(" › hello"));
    CHECK(tty.wait_for("1↑ 1↓ 0… 0✗ 0?"));
    CHECK(last_row(tty, 24).empty());
    tty.send("\x04");
    check_gone(tty, before, 0);
}

TEST_CASE("with TLS the program trusts the certificate that it made for itself") {
    Tty tty({.arguments = {yodel, "--tls"}});
    REQUIRE(tty.wait_for("up 00:0"));
    CHECK(tty.shows("TLSv1.3"));
    CHECK_FALSE(tty.shows("UNVERIFIED"));
    type(tty, "hello");
    REQUIRE(tty.wait_for("ms ‹ hello ✓"));
}

TEST_CASE("^C clears the line, then asks, then quits") {
    Tty tty({.arguments = {yodel}});
    const termios before = tty.settings();
    REQUIRE(tty.wait_for("up 00:0"));
    tty.send("half a line");
    REQUIRE(tty.wait_for([&] { return last_row(tty, 24) == "half a line"; }));
    tty.send("\x03");
    REQUIRE(tty.wait_for([&] { return last_row(tty, 24).empty(); }));
    tty.send("\x03");
    REQUIRE(tty.wait_for("^C again to quit"));
    tty.send("\x03");
    check_gone(tty, before, 0);
}

TEST_CASE("signals end it with the terminal restored, and by themselves") {
    const int signal = GENERATE(SIGINT, SIGTERM, SIGHUP);
    Tty tty({.arguments = {yodel}});
    const termios before = tty.settings();
    REQUIRE(tty.wait_for("up 00:0"));
    tty.kill(signal);
    check_gone(tty, before, 128 + signal);
    CHECK(tty.shows("yodel: ended by "));
}

TEST_CASE("our own abort leaves the terminal as it was") {
    Tty tty({.arguments = {yodel}});
    const termios before = tty.settings();
    REQUIRE(tty.wait_for("up 00:0"));
    tty.kill(SIGABRT);
    check_gone(tty, before, 128 + SIGABRT);
}

TEST_CASE("a terminal that hangs up ends it") {
    Tty tty({.arguments = {yodel}});
    REQUIRE(tty.wait_for("up 00:0"));
    tty.hang_up();
    const auto exited = tty.wait_exit();
    REQUIRE(exited);
    CHECK(*exited == 128 + SIGHUP);
}

TEST_CASE("it is readable at every size") {
    struct Case {
        int rows;
        int columns;
    };
    const Case size = GENERATE(Case{5, 20}, Case{24, 80}, Case{200, 500});
    Tty tty({.arguments = {yodel}, .size = {size.rows, size.columns}});
    REQUIRE(tty.wait_for("up 00:0"));
    type(tty, "hello");
    REQUIRE(tty.wait_for("‹ hello"));
    CHECK(tty.row(size.rows - 2).find("up 00:0") != std::string::npos);
}

TEST_CASE("small sizes keep the line, then the state, then the messages") {
    Tty tty({.arguments = {yodel}, .size = {1, 10}});
    const termios before = tty.settings();
    tty.send("abc");
    REQUIRE(tty.wait_for([&] { return tty.row(0) == "abc"; }));
    tty.resize({2, 10});
    REQUIRE(tty.wait_for(
        [&] { return tty.row(1) == "abc" && tty.row(0).find("up") != std::string::npos; }));
    tty.resize({1, 1});
    tty.send("\x03\x03\x03");
    check_gone(tty, before, 0);
}

TEST_CASE("a storm of resizing leaves the screen whole") {
    Tty tty({.arguments = {yodel}});
    REQUIRE(tty.wait_for("up 00:0"));
    type(tty, "hello");
    REQUIRE(tty.wait_for("‹ hello ✓"));
    for (int i = 0; i < 300; ++i) tty.resize({1 + i * 7 % 60, 1 + i * 13 % 150});
    tty.resize({0, 0});
    tty.resize({24, 80});
    REQUIRE(tty.wait_for([&] {
        return tty.shows(" › hello") && tty.shows("‹ hello ✓") &&
               tty.row(22).find("up 0") != std::string::npos;
    }));
    type(tty, "again");
    REQUIRE(tty.wait_for("‹ again ✓"));
}

TEST_CASE("^Z suspends with the terminal restored, and going on shows all again") {
    Tty tty({.arguments = {"bash", "--norc", "-i"}, .environment = {"PS1=$ "}});
    REQUIRE(tty.wait_for("$"));
    type(tty, yodel);
    REQUIRE(tty.wait_for("up 00:0"));
    type(tty, "hello");
    REQUIRE(tty.wait_for("‹ hello ✓"));
    tty.send("\x1a");
    const bool stopped = tty.wait_for("Stopped");
    CAPTURE(tty.screen());
    REQUIRE(stopped);
    CHECK_FALSE(tty.alternate_screen());
    type(tty, "fg");
    REQUIRE(tty.wait_for([&] { return tty.alternate_screen() && tty.shows("‹ hello ✓"); }));
    type(tty, "again");
    REQUIRE(tty.wait_for("‹ again ✓"));
    tty.send("\x04");
    REQUIRE(tty.wait_for([&] { return !tty.alternate_screen(); }));
    type(tty, "exit");
    CHECK(tty.wait_exit());
}

TEST_CASE("what can't be connected to is said on the screen, and at the end") {
    const std::string port = std::to_string(test::free_port());
    Tty tty({.arguments = {yodel, "127.0.0.1", port}});
    const termios before = tty.settings();
    REQUIRE(tty.wait_for("cannot connect to 127.0.0.1:" + port + ": Connection refused"));
    type(tty, "hello");
    REQUIRE(tty.wait_for("not connected; kept until then: hello"));
    tty.send("\x03\x03\x03");
    check_gone(tty, before, 7);
    CHECK(tty.shows("yodel: cannot connect to 127.0.0.1:" + port + ": Connection refused"));
}

TEST_CASE("connecting can be given up, and tried again") {
    test::Peer peer({"socat", "TCP-LISTEN:PORT,fork,bind=127.0.0.1", "EXEC:sleep 60"});
    Tty tty({.arguments = {yodel, "--tls", "127.0.0.1", peer.port()}});
    REQUIRE(tty.wait_for("handshake"));
    tty.send("\x03");
    REQUIRE(tty.wait_for("closed: disconnected"));
    tty.send("\x1br");
    REQUIRE(tty.wait_for("handshake"));
}

TEST_CASE("a server that goes away is missed at once") {
    Server server;
    Tty tty({.arguments = {yodel, "127.0.0.1", server.port()}});
    REQUIRE(tty.wait_for("up 00:0"));
    server.process().kill(SIGTERM);
    REQUIRE(tty.wait_for("the server has closed its side"));
    CHECK(tty.wait_for("half-closed (server)"));
}

TEST_CASE("bytes that could command a terminal are shown instead") {
    Tty tty({.arguments = {yodel}});
    REQUIRE(tty.wait_for("up 00:0"));
    type(tty, "\x1b[200~\x1b]0;OWNED\x07 \x1b[2J\x1b[201~");
    REQUIRE(tty.wait_for("‹ ^[]0;OWNED^G ^[[2J ✓"));
    CHECK(tty.title() != "OWNED");
    CHECK(tty.shows("up 00:0"));
}

TEST_CASE("a flood does not stop the keys") {
    Tty tty({.arguments = {yodel, "--expect", "none"}});
    REQUIRE(tty.wait_for("up 00:0"));
    std::string lines;
    for (int i = 0; i < 20'000; ++i)
        lines += "line of a flood, number " + std::to_string(i) + "\n";
    tty.send("\x1b[200~" + lines + "\x1b[201~\r");
    tty.send("still here");
    REQUIRE(tty.wait_for([&] { return last_row(tty, 24) == "still here"; }));
    REQUIRE(tty.wait_for("number 19999"));
}

TEST_CASE("without a locale for it, drawing keeps to ASCII") {
    Tty tty({.arguments = {yodel}, .environment = {"LC_ALL=C"}});
    REQUIRE(tty.wait_for("* up 00:0"));
    type(tty, "hello");
    REQUIRE(tty.wait_for("ms < hello ok"));
}

TEST_CASE("terminals of other kinds do") {
    const std::string term = GENERATE("screen", "linux", "vt100");
    Tty tty({.arguments = {yodel}, .environment = {"TERM=" + term}});
    REQUIRE(tty.wait_for("up 00:0"));
    type(tty, "hello");
    REQUIRE(tty.wait_for("hello ✓"));
}

TEST_CASE("a terminal that can't place its cursor gets the pipe mode") {
    const std::string term = GENERATE("TERM=dumb", "TERM");
    Server server;
    Tty tty({.arguments = {yodel, "127.0.0.1", server.port()}, .environment = {term}});
    type(tty, "hello");
    REQUIRE(tty.wait_for([&] { return tty.row(1) == "hello"; }));
    tty.send("\x04");
    REQUIRE(tty.wait_for("1 sent, 1 echoed, 0 bad, 0 lost"));
    CHECK(tty.wait_exit() == 0);
}

TEST_CASE("a terminal of unknown kind is refused in a sentence") {
    Tty tty({.arguments = {yodel}, .environment = {"TERM=no-such-terminal"}});
    CHECK(tty.wait_exit() == 1);
    CHECK(tty.shows("no-such-terminal"));
}

TEST_CASE("pipe mode on a terminal makes unsafe bytes visible") {
    test::Folder folder;
    std::ofstream(folder.path("greeting")) << "\x1b]0;OWNED\x07\n";
    test::Peer peer({"socat", "TCP-LISTEN:PORT,fork,bind=127.0.0.1",
                     "EXEC:cat " + folder.path("greeting") + " -"});
    Tty tty({.arguments = {yodel, "--no-tui", "127.0.0.1", peer.port()}});
    const bool seen = tty.wait_for("^[]0;OWNED^G");
    CAPTURE(tty.screen());
    CHECK(seen);
    CHECK(tty.title() != "OWNED");
}
