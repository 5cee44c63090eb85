// The page of a load on a terminal.

#include "tests/e2e/programs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"
#include "tests/support/tty.hpp"

using test::contains;
using test::Server;
using test::Tty;
using test::yodel_load;

namespace {

using Words = std::vector<std::string>;

Words load(Words options, const Server& server) {
    options.insert(options.begin(), yodel_load);
    options.insert(options.end(), {"127.0.0.1", server.port()});
    return options;
}

// Checks that the terminal shows the main screen and the cursor again, and has its former
// settings.
void check_restored(Tty& tty) {
    CHECK(!tty.alternate_screen());
    CHECK(tty.cursor_shown());
    CHECK(tty.settings_restored());
}

}  // namespace

TEST_CASE("a load on a terminal shows a page, and leaves the summary behind") {
    Server server;
    Tty tty({.arguments = load({"--connections", "3", "-m", "600ms"}, server)});
    REQUIRE(tty.wait_for("● running 0:00 of 0:00  tcp://127.0.0.1:" + server.port()));
    CHECK(tty.alternate_screen());
    REQUIRE(tty.wait_for("round trip  p50 "));
    REQUIRE(tty.wait_for("connections 3 open of 3, 0 failed"));
    REQUIRE(tty.wait_for("column: 250ms"));
    REQUIRE(tty.wait_for("█"));
    CHECK(tty.wait_exit() == 0);
    check_restored(tty);
    CHECK(tty.row(0).starts_with("yodel-load: "));
    CHECK(contains(tty.row(0), " echoed, 0 bad, 0 lost, "));
}

TEST_CASE("^C on the page of a load ends it gracefully") {
    Server server;
    Tty tty({.arguments = load({"--connections", "3", "--rate", "500"}, server)});
    REQUIRE(tty.wait_for("● running 0:00  tcp://127.0.0.1"));
    REQUIRE(tty.wait_for(" echoed, 0 bad, 0 lost"));
    tty.send("\x03");
    const auto status = tty.wait_exit();
    CAPTURE(tty.row(0));
    CHECK(status == 0);
    check_restored(tty);
    CHECK(contains(tty.row(0), " echoed, 0 bad, 0 lost, "));
}

TEST_CASE("^C on the page of a load waits for replies, and ^C again does not") {
    Server server({"--drop", "1", "-f", "line"});
    Tty tty({.arguments = load({"--connections", "3", "-W", "1h"}, server)});
    REQUIRE(tty.wait_for("3 sent, 0 echoed, 0 bad, 0 lost, 3 in flight"));
    tty.send("\x03");
    REQUIRE(tty.wait_for("● ending: 3 in flight"));
    REQUIRE(tty.wait_for("^C quits at once"));
    tty.send("\x03");
    CHECK(tty.wait_exit() == 128 + SIGINT);
    check_restored(tty);
    CHECK(contains(tty.row(0), "3 sent, 0 echoed, 0 bad, 0 lost"));
}

TEST_CASE("^C on the page of a load also ends it before the first connection") {
    Server server;
    Tty tty({.arguments = load({"--connections", "3", "--start-at", "+1h"}, server)});
    REQUIRE(tty.wait_for("● starts in 36"));
    tty.send("\x03");
    CHECK(tty.wait_exit() == 0);
    check_restored(tty);
}

TEST_CASE("a signal from outside ends the page of a load") {
    Server server;
    Tty tty({.arguments = load({"--connections", "3"}, server)});
    REQUIRE(tty.wait_for("● running"));
    const int signal = GENERATE(SIGINT, SIGTERM, SIGHUP);
    tty.kill(signal);
    CHECK(tty.wait_exit() == 128 + signal);
    check_restored(tty);
    CHECK(contains(tty.screen(), "0 bad, 0 lost, "));
}

TEST_CASE("the page of a load follows the size of the terminal") {
    Server server;
    Tty tty({.arguments = load({"--connections", "3", "--rate", "500"}, server)});
    REQUIRE(tty.wait_for("descriptors "));
    tty.resize({1, 1});
    tty.resize({1, 80});
    REQUIRE(tty.wait_for([&] { return contains(tty.row(0), "0 bad"); }));
    tty.resize({0, 0});
    tty.resize({24, 80});
    REQUIRE(tty.wait_for("column: "));
    tty.send("\x03");
    CHECK(tty.wait_exit() == 0);
    check_restored(tty);
}

TEST_CASE("the page of a load is suspended, and comes back") {
    Server server;
    Tty tty({.arguments = load({"--connections", "3"}, server)});
    REQUIRE(tty.wait_for("● running"));
    tty.send("\x1a");
    REQUIRE(tty.wait_for([&] { return !tty.alternate_screen(); }));
    REQUIRE(tty.wait_for([&] { return tty.alternate_screen(); }));  // nobody could continue it
    REQUIRE(tty.wait_for("● running"));
    tty.send("\x0c\x03");
    CHECK(tty.wait_exit() == 0);
    check_restored(tty);
}

TEST_CASE("the page of a load ends when its terminal hangs up") {
    Server server;
    Tty tty({.arguments = load({"--connections", "3"}, server)});
    REQUIRE(tty.wait_for("● running"));
    tty.hang_up();
    CHECK(tty.wait_exit() == 128 + SIGHUP);
}

TEST_CASE("a blocked terminal does not delay the end of a load") {
    Server server;
    Tty tty({.arguments = load({"--connections", "3"}, server), .size = {60, 200}});
    REQUIRE(tty.wait_for("● running"));
    tty.stall(true);
    tty.send("\x0c");
    SECTION("by a key") {
        tty.send("\x03");
        CHECK(tty.wait_exit() == 0);
    }
    SECTION("by a signal") {
        tty.kill(SIGTERM);
        CHECK(tty.wait_exit() == 128 + SIGTERM);
    }
    CHECK(tty.settings_restored());
}

TEST_CASE("a load has no page if none is wanted, or without a terminal for it") {
    Server server;
    const std::string program = yodel_load + " --connections 3 -c 9 127.0.0.1 " + server.port();
    const std::string how =
        GENERATE(" --no-tui", " --json", " >/dev/null", " </dev/null", " --no-tui 2>/dev/null");
    Tty tty({.arguments = {"sh", "-c", program + how}});
    CAPTURE(how);
    CHECK(tty.wait_exit() == 0);
    CHECK(!contains(tty.output(), "\x1b[?1049h"));
}

// A background job that takes over the terminal is stopped: it would neither run nor report.
TEST_CASE("a load in the background of its terminal runs without a page") {
    Server server;
    const std::string program =
        yodel_load + " --connections 3 --rate 500 -m 300ms 127.0.0.1 " + server.port();
    Tty tty({.arguments = {"bash", "-c", "set -m; " + program + " & wait $!; echo over"}});
    CHECK(tty.wait_exit() == 0);
    CHECK(contains(tty.output(), " echoed, 0 bad, 0 lost"));
    CHECK(contains(tty.output(), "over"));
    CHECK(!contains(tty.output(), "\x1b[?1049h"));
    CHECK(!contains(tty.output(), " \r"));  // a progress line over the shell's output
}
