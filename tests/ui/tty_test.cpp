#include "ui/tty.hpp"

#include "tests/ui/probe.hpp"

using test::probe;
using test::Tty;

TEST_CASE("returns one sentence if a terminal can't be used") {
    const struct {
        const char *type, *sentence;
    } cases[] = {
        {"TERM=no-such", "the terminal type \"no-such\" (TERM) is not known on this system"},
        {"TERM=dumb", "the terminal type \"dumb\" (TERM) cannot position its cursor"},
        {"TERM", "the terminal type \"\" (TERM) is not known on this system"},
        {"TERM=a\x1b[2J", "the terminal type \"a^[[2J\" (TERM) is not known on this system"},
    };
    for (const auto& each : cases) {
        Tty tty(probe("quit", {each.type}, {24, 120}));
        REQUIRE(tty.wait_exit() == 1);
        INFO(tty.screen());
        REQUIRE(tty.row(0) == std::string("screen_probe: ") + each.sentence);
        REQUIRE(tty.settings_restored());
    }
}
