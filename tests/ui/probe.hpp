// The program tests/ui/screen_probe.cpp on a pseudo-terminal.
#pragma once

#include "tests/support/catch.hpp"
#include "tests/support/tty.hpp"

#include <string>
#include <utility>
#include <vector>

namespace test {

// The probe, which does `deed` when Enter is pressed.
inline Tty::Options probe(const std::string& deed, std::vector<std::string> environment = {},
                          Tty::Size size = {}) {
    return {{SCREEN_PROBE, deed}, std::move(environment), size};
}

// Requires that the terminal is as the program found it.
inline void require_restored(Tty& tty) {
    REQUIRE(tty.settings_restored());
    for (const int mode : {2004, 1000, 1006, 2026}) REQUIRE(tty.modes().count(mode) == 0);
    REQUIRE(tty.wheel_mode() == 1);  // the emulator's own
    REQUIRE_FALSE(tty.alternate_screen());
    REQUIRE(tty.cursor_shown());
}

}  // namespace test
