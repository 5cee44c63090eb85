#include "ui/terminal.hpp"

#include "tests/ui/probe.hpp"

using test::Probe;
using test::probe;
using test::require_restored;
using test::Tty;

TEST_CASE("every key is read, also keys that a terminal usually handles itself") {
    const struct {
        const char *sent, *shown;
    } keys[] = {
        {"\xe4\xbd\xa0", "你."},     {"\x03", "ctrl-c."}, {"\x04", "ctrl-d."},
        {"\x11", "ctrl-q."},         {"\x13", "ctrl-s."}, {"\x16", "ctrl-v."},
        {"\x1c", "ctrl-\\."},        {"\n", "enter."},    {"\t", "tab."},
        {"\x7f", "backspace."},      {"\x1b", "escape."}, {"\x1b\r", "alt-enter."},
        {"\x1b[1;5C", "ctrl-right"},
    };
    Probe tty("nothing");
    for (const auto& key : keys) {
        INFO(key.shown);
        tty.send("\x1b[200~\x1b[201~");  // replaces the text of the previous key
        REQUIRE(tty.wait_for("paste 0 lines"));
        tty.send(key.sent);
        REQUIRE(tty.wait_for(key.shown));
    }
}

TEST_CASE("restores the terminal on every exit path") {
    const struct {
        const char* deed;
        int status;
        const char* shown;
    } ways[] = {
        {"quit", 0, "bye"},
        {"starve", 0, "bye"},
        {"throw", 1, "screen_probe: thrown"},
        {"exit", 3, ""},
        {"abort", 128 + SIGABRT, ""},
        {"segv", 128 + SIGSEGV, ""},
        {"overflow", 128 + SIGSEGV, ""},
    };
    for (const auto& way : ways) {
        INFO(way.deed);
        Probe tty(way.deed, {"ASAN_OPTIONS=handle_segv=0"});
        REQUIRE_FALSE(tty.settings_restored());
        REQUIRE(tty.alternate_screen());
        REQUIRE(tty.modes().count(2004) == 1);
        REQUIRE(tty.modes().count(Tty::wheel_mode) == 0);
        tty.send("\r");
        REQUIRE(tty.wait_exit() == way.status);
        REQUIRE(tty.shows(way.shown));
        require_restored(tty);
    }
}

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
        Probe tty("quit", {row.variable});
        tty.send("hi\x1b[A");
        REQUIRE(tty.wait_for("up."));
        CHECK(tty.cell(0, 0).reverse);
        CHECK(tty.cell(0, 0).colored == row.colored);
        tty.send("\r");
        REQUIRE(tty.wait_exit() == 0);
        REQUIRE(tty.settings_restored());
    }
}

TEST_CASE("a paste is one key, however long") {
    std::string text = "\x1b[200~";
    for (int i = 0; i < 10'000; ++i) text += "line\x1b[A of a paste\r";
    Probe tty("quit");
    tty.send(text);
    tty.send("\x1b[20");
    tty.send("1~x");
    REQUIRE(tty.wait_for("x."));
    REQUIRE(tty.row(1) == "paste 10000 lines 190000 bytes.");
    REQUIRE(tty.row(2) == "x.");
}

TEST_CASE("detects a terminal that hangs up") {
    Tty tty({{"/bin/sh", "-c", "trap '' HUP; exec \"$0\" nothing", SCREEN_PROBE}, {}, {}});
    REQUIRE(tty.wait_for("size 24x80"));
    tty.hang_up();
    REQUIRE(tty.wait_exit() == 0);
}

TEST_CASE("the shell has the terminal while the program is suspended") {
    Tty tty({{"/bin/sh", "-c",
              "set -m; \"$0\" quit; echo stopped; stty; read line; fg >/dev/null; echo done $?",
              SCREEN_PROBE},
             {},
             {}});
    REQUIRE(tty.wait_for("size 24x80"));
    tty.send("\x1a");
    REQUIRE(tty.wait_for("stopped"));
    REQUIRE_FALSE(tty.alternate_screen());
    REQUIRE(tty.modes().count(2004) == 0);
    REQUIRE(tty.modes().count(Tty::wheel_mode) == 1);
    REQUIRE((tty.settings().c_lflag & (ICANON | ECHO | ISIG)) == (ICANON | ECHO | ISIG));
    tty.resize({10, 40});
    tty.send("\n");
    REQUIRE(tty.wait_for("size 10x40"));
    REQUIRE(tty.wait_for("ctrl-z."));
    REQUIRE(tty.alternate_screen());
    REQUIRE(tty.modes().count(2004) == 1);
    tty.send("\r");
    REQUIRE(tty.wait_for("done 0"));
}

TEST_CASE("the program is not suspended if no shell could continue it") {
    Probe tty("quit");
    tty.send("\x1a");
    REQUIRE(tty.wait_for("ctrl-z."));
    tty.send("\r");
    REQUIRE(tty.wait_exit() == 0);
}

TEST_CASE("keeps attacks from reaching the terminal") {
    for (const std::string locale : {"C.UTF-8", "C"}) {
        INFO(locale);
        Probe tty("attacks", {"LC_ALL=" + locale}, {40, 100});
        const auto lasting_modes = [&] {
            auto modes = tty.modes();
            modes.erase(2026);  // on while a frame is being drawn
            return modes;
        };
        const auto modes = lasting_modes();
        const auto title = tty.title();
        tty.send("\r");
        REQUIRE(tty.wait_for("^[[2J^[[H wipes the screen"));
        REQUIRE(tty.wait_for("\\xc0\\x9b"));
        REQUIRE(lasting_modes() == modes);
        REQUIRE(tty.title() == title);
        REQUIRE(tty.answers().empty());
        REQUIRE(tty.alternate_screen());
        for (const auto* sequence : {"\x1b]0", "\x1b]2", "\x1b]8", "\x1b]52", "\x1bP", "\x9d"})
            REQUIRE(tty.output().find(sequence) == std::string::npos);
    }
}

TEST_CASE("each drawing is one synchronized frame, and nothing is drawn outside of frames") {
    Probe tty("quit");
    const std::size_t start = tty.output().size();
    tty.send("a");
    REQUIRE(tty.wait_for("a."));
    const std::string frame = tty.output().substr(start);
    REQUIRE(frame.starts_with("\x1b[?2026h"));
    REQUIRE(frame.ends_with("\x1b[?2026l"));
    REQUIRE(frame.find("a.") != std::string::npos);
    REQUIRE(frame.find("\x1b\r") == std::string::npos);  // no byte of the frame before
    REQUIRE_FALSE(tty.cursor_shown());
    REQUIRE(tty.cursor_column() == 5);
    const std::size_t end = tty.output().size();
    tty.send("\x1b[24~");  // an unbound key: the probe draws an unchanged frame
    tty.send("b");
    REQUIRE(tty.wait_for("b."));
    const std::string next = tty.output().substr(end);
    REQUIRE(next.find("\x1b[?2026h") == next.rfind("\x1b[?2026h"));
    REQUIRE(tty.cursor_shown());
}

TEST_CASE("copies a text to the clipboard without control characters") {
    Probe tty("copy");
    tty.send("\r");
    REQUIRE(tty.wait_for("sent."));
    REQUIRE(tty.output().find("\x1b]52;c;dHdvXkpyb3dz\x1b\\") != std::string::npos);
    tty.send("\x03");
    REQUIRE(tty.wait_for("ctrl-c."));
}

TEST_CASE("the program starts at any size") {
    for (const Tty::Size size : {Tty::Size{1, 1}, {2, 3}, {0, 0}, {1, 200}, {300, 2000}}) {
        INFO(size.rows << "x" << size.columns);
        Tty tty(probe("quit", {}, size));
        REQUIRE(tty.wait_for("s"));
        tty.send("abc\r");
        REQUIRE(tty.wait_exit() == 0);
    }
}
