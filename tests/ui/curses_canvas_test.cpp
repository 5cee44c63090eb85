#include "ui/curses_canvas.hpp"

#include "tests/ui/probe.hpp"

using test::probe;
using test::Tty;

TEST_CASE("draws on every type of terminal, with the colors that it has") {
    const struct {
        const char* variable;
        bool colored;
    } rows[] = {
        {"TERM=vt100", false},
        {"TERM=screen", true},
        {"TERM=linux", true},
        {"TERM=xterm", true},
        {"TERM=xterm-256color", true},
        {"TERM=xterm-color", false},  // default colors would reset attributes
        {"NO_COLOR=1", false},
    };
    for (const auto& row : rows) {
        INFO(row.variable);
        Tty tty(probe("quit", {row.variable}));
        REQUIRE(tty.wait_for("size 24x80"));
        tty.send("hi\x1b[A");
        REQUIRE(tty.wait_for("up."));
        CHECK(tty.cell(0, 0).reverse);
        CHECK(tty.cell(0, 0).colored == row.colored);
        tty.send("\r");
        REQUIRE(tty.wait_exit() == 0);
        REQUIRE(tty.settings_restored());
    }
}
