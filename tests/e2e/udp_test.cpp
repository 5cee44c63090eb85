// The programs with datagrams on a terminal.

#include "tests/e2e/programs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"
#include "tests/support/tty.hpp"

using test::contains;
using test::yodel;
using test::yodel_load;

TEST_CASE("duplicates, replies reordered, and the jitter are shown during a load", "[slow]") {
    test::Server server({"-u", "--dup", "100%"});
    std::vector<std::string> load{
        yodel_load, "--connections", "2",  "--threads", "2",
        "--rate",   "200",           "-m", "1500ms",    "udp://127.0.0.1:" + server.port()};
    const bool page = GENERATE(false, true);
    if (!page) load.insert(load.begin() + 1, "--no-tui");
    test::Tty tty({.arguments = load, .size = {24, 120}});
    REQUIRE(tty.wait_for([&] {
        return contains(tty.output(), " duplicate, 0 reordered") &&
               contains(tty.output(), page ? "jitter " : " ms, jitter ");
    }));
    CHECK(tty.wait_exit() == 0);
}

TEST_CASE("the screen supports datagrams, and shows duplicates") {
    test::Server server({"-u", "--dup", "1"});
    test::Tty tty(
        {.arguments = {yodel, "udp://127.0.0.1:" + server.port()}, .size = {24, 110}});
    REQUIRE(tty.wait_for("○ ready 00:"));
    REQUIRE(
        tty.wait_for("sending to udp://127.0.0.1:" + server.port() + "; only a reply shows"));
    REQUIRE(tty.wait_for("udp://127.0.0.1:" + server.port()));
    tty.send("hello\r");
    REQUIRE(tty.wait_for("hello ✓"));
    REQUIRE(tty.wait_for("● up 00:"));
    REQUIRE(tty.wait_for("hello - a duplicate reply"));
    REQUIRE(tty.wait_for("1 duplicate"));
    tty.send("\x1bs");
    REQUIRE(tty.wait_for("jitter"));
    tty.send("\x1bi");
    REQUIRE(tty.wait_for("took        look-up"));
    CHECK_FALSE(contains(tty.screen(), "TCP"));
    tty.send("\x03\x03\x03");
    CHECK(tty.wait_exit() == 0);
}

TEST_CASE("on the screen, a port without a server is refused, and tried again") {
    const std::string port = std::to_string(test::free_port());
    test::Tty tty({.arguments = {yodel, "udp://127.0.0.1:" + port}});
    REQUIRE(tty.wait_for("ready 00:"));
    tty.send("hello\r");
    REQUIRE(tty.wait_for("Connection refused"));
    REQUIRE(tty.wait_for("○ refused; send to try again"));
    CHECK_FALSE(contains(tty.screen(), "connected to"));
    tty.send("\x04");
    CHECK(tty.wait_exit() == 7);
    CHECK(contains(tty.screen(),
                   "yodel: cannot connect to 127.0.0.1:" + port + ": Connection refused"));
}
