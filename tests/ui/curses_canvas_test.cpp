#include "ui/curses_canvas.hpp"

#include "tests/ui/probe.hpp"

using test::probe;
using test::Tty;

TEST_CASE("draws on every type of terminal, with the colors that it has") {
    const struct {
        const char* variable;
        bool reverse, colored;
        int background;
    } rows[] = {
        {"TERM=vt100", true, false, -1},
        {"TERM=screen", true, true, -1},
        {"TERM=linux", true, true, -1},
        {"TERM=xterm", true, true, -1},
        {"TERM=xterm-256color", false, true, 236},  // the bar has a background of its own
        {"TERM=xterm-color", true, false, -1},      // default colors would reset attributes
        {"NO_COLOR=1", true, false, -1},
    };
    for (const auto& row : rows) {
        INFO(row.variable);
        Tty tty(probe("quit", {row.variable}));
        REQUIRE(tty.wait_for("size 24x80"));
        tty.send("hi\x1b[A");
        REQUIRE(tty.wait_for("up."));
        CHECK(tty.cell(0, 0).reverse == row.reverse);
        CHECK(tty.cell(0, 0).colored == row.colored);
        CHECK(tty.cell(0, 0).background == row.background);
        tty.send("\r");
        REQUIRE(tty.wait_exit() == 0);
        REQUIRE(tty.settings_restored());
    }
}
