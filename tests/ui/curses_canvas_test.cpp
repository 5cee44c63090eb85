#include "ui/curses_canvas.hpp"

#include "tests/support/catch.hpp"
#include "tests/ui/probe.hpp"

#include <string>

using test::probe;
using test::Tty;

TEST_CASE("draws on every type of terminal") {
    for (const std::string type : {"vt100", "screen", "linux", "xterm-256color", "xterm"}) {
        INFO(type);
        Tty tty(probe("quit", {"TERM=" + type}));
        REQUIRE(tty.wait_for("size 24x80"));
        tty.send("hi\x1b[A");
        REQUIRE(tty.wait_for("up."));
        // With 256 colors the bar has a background of its own.
        const bool many = type == "xterm-256color";
        REQUIRE(tty.cell(0, 0).reverse == !many);
        REQUIRE(tty.cell(0, 0).background == (many ? 236 : -1));
        REQUIRE(tty.cell(0, 0).colored == (type != "vt100"));
        tty.send("\r");
        REQUIRE(tty.wait_exit() == 0);
        REQUIRE(tty.settings_restored());
    }
}

TEST_CASE("a terminal whose default colors reset the attributes gets no colors") {
    Tty tty(probe("quit", {"TERM=xterm-color"}));
    REQUIRE(tty.wait_for("size 24x80"));
    REQUIRE(tty.cell(0, 0).reverse);
    REQUIRE_FALSE(tty.cell(0, 0).colored);
}

TEST_CASE("NO_COLOR turns the colors off") {
    Tty tty(probe("quit", {"NO_COLOR=1"}));
    REQUIRE(tty.wait_for("size 24x80"));
    REQUIRE_FALSE(tty.cell(0, 0).colored);
    REQUIRE(tty.cell(0, 0).reverse);
}
