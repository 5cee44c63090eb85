#include "ui/modes.hpp"

#include "tests/support/catch.hpp"

#include <string>

using ui::Modes;
using ui::modes_for;

TEST_CASE("a terminal whose second screen is a private mode gets all modes") {
    const std::string smcup = GENERATE("\x1b[?1049h\x1b[22;0;0t", "\x1b[?1049h",
                                       "\x1b"
                                       "7\x1b[?47h");
    const Modes modes = modes_for("\x1b[%i%p1%d;%p2%dH", smcup);
    CHECK(modes.remember == "\x1b[?1007s");
    CHECK(modes.take == "\x1b[?2004h\x1b[?1007l");
    CHECK(modes.frame_begin == "\x1b[?2026h");
    CHECK(modes.frame_end == "\x1b[?2026l");
    CHECK(modes.takes_strings());
}

TEST_CASE("what gives the modes back undoes each that is ever switched on") {
    const Modes modes = modes_for("\x1b[H", "\x1b[?1049h");
    for (const auto* off : {"\x1b[?2026l", "\x1b[?1000l", "\x1b[?1006l", "\x1b[?2004l"})
        CHECK(modes.give_back.find(off) != std::string::npos);
    // The wheel's mode is on where it can't be restored, and as it was where it can.
    CHECK(modes.give_back.find("\x1b[?1007h\x1b[?1007r") != std::string::npos);
    CHECK(modes.give_back.front() == '\x18');  // a sequence may have been cut
}

TEST_CASE("a terminal without a second screen gets bracketed paste alone") {
    const Modes modes = modes_for("\x1b[%i%p1%d;%p2%dH", "");  // as linux and vt100
    CHECK(modes.take == "\x1b[?2004h");
    CHECK(modes.give_back == "\x1b[?2004l");
    CHECK(modes.remember + modes.mouse_on + modes.frame_begin + modes.frame_end == "");
    CHECK_FALSE(modes.takes_strings());
}

TEST_CASE("a terminal of another family gets no mode at all") {
    const Modes modes = modes_for("\x1b=%p1%' '%+%c%p2%' '%+%c", "");  // as adm3a
    CHECK(modes.take + modes.give_back + modes.mouse_on + modes.frame_begin == "");
}
