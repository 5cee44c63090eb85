// The progress of a run on a terminal: in a line, or on a page.

#include "tests/e2e/programs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"
#include "tests/support/tty.hpp"

using test::contains;
using test::Server;
using test::yodel;

TEST_CASE("progress is shown on a terminal while the replies go elsewhere") {
    test::Tty tty({.arguments = {"sh", "-c", yodel + " -c 3 -i 150ms >/dev/null"}});
    const auto progress = [&] { return contains(tty.output(), " echoed, 0 bad, 0 lost, p50"); };
    REQUIRE(tty.wait_for(progress));
    REQUIRE(tty.wait_for("yodel: 3 sent, 3 echoed, 0 bad, 0 lost; rtt"));
    CHECK(tty.wait_exit() == 0);
}

TEST_CASE("progress takes one row of a narrow terminal, and is removed at the end") {
    test::Tty tty(
        {.arguments = {"sh", "-c", yodel + " -c 3 -i 150ms >/dev/null"}, .size = {24, 20}});
    REQUIRE(tty.wait_for([&] { return contains(tty.output(), " sent, "); }));
    CHECK(tty.wait_exit() == 0);
    CHECK(tty.row(0) == "yodel: 3 sent, 3 ech");
}

TEST_CASE("a probe shows its progress in a line") {
    Server server({"--self-signed", "--tls"});
    test::Tty tty(
        {.arguments = {test::yodel_load, "-z", "--connections", "3", "-m", "500ms", "--churn",
                       "50ms", "-k", "--no-tui", "tls://127.0.0.1:" + server.port()}});
    REQUIRE(tty.wait_for(" open, "));
    REQUIRE(tty.wait_for(" connections opened, 0 failed, handshake p50 "));
    CHECK(tty.wait_exit() == 0);
    CHECK(contains(tty.row(0), " connections opened, 0 failed, "));
}
