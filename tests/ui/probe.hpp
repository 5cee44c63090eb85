// Runs the program tests/ui/screen_probe.cpp on a pseudo-terminal.
#pragma once

#include "tests/support/catch.hpp"
#include "tests/support/tty.hpp"

namespace test {

// Returns options for the probe, which performs `action` on Enter.
inline Tty::Options probe(const std::string& action, std::vector<std::string> environment = {},
                          Tty::Size size = {}) {
    return {{SCREEN_PROBE, action}, std::move(environment), size};
}

// A probe that has drawn its first screen.
struct Probe : Tty {
    explicit Probe(const std::string& action, std::vector<std::string> environment = {},
                   Tty::Size size = {})
        : Tty(probe(action, std::move(environment), size)) {
        REQUIRE(wait_for("size "));
    }
};

// Requires that the terminal is in its original state.
inline void require_restored(Tty& tty) {
    REQUIRE(tty.settings_restored());
    for (const int mode : {2004, 1000, 1006, 2026}) REQUIRE(tty.modes().count(mode) == 0);
    REQUIRE(tty.modes().count(Tty::wheel_mode) == 1);
    REQUIRE_FALSE(tty.alternate_screen());
    REQUIRE(tty.cursor_shown());
}

}  // namespace test
