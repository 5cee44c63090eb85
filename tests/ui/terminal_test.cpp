#include "tests/support/catch.hpp"
#include "tests/support/tty.hpp"

#include <csignal>
#include <iterator>
#include <set>
#include <string>
#include <vector>

namespace {

using test::Tty;

Tty::Options probe(const std::string& deed, std::vector<std::string> environment = {},
                   Tty::Size size = {}) {
    return {{SCREEN_PROBE, deed}, std::move(environment), size};
}

// The terminal as the program found it.
void require_restored(Tty& tty) {
    REQUIRE(tty.settings_restored());
    REQUIRE(tty.modes().count(2004) == 0);
    REQUIRE_FALSE(tty.alternate_screen());
    REQUIRE(tty.cursor_shown());
}

}  // namespace

TEST_CASE("keys of every kind arrive") {
    const struct {
        const char *sent, *shown;
    } keys[] = {
        {"a", "a."},
        {"\xc3\xa9", "é."},
        {"\xe4\xbd\xa0", "你."},
        {"\x01", "ctrl-a."},
        {"\x03", "ctrl-c."},
        {"\x04", "ctrl-d."},
        {"\x11", "ctrl-q."},
        {"\x13", "ctrl-s."},
        {"\x16", "ctrl-v."},
        {"\x1c", "ctrl-\\."},
        {"\n", "newline."},
        {"\t", "tab."},
        {"\x7f", "backspace."},
        {"\x1b", "escape."},
        {"\x1b"
         "b",
         "alt-b."},
        {"\x1b<", "alt-<."},
        {"\x1b\r", "alt-enter."},
        {"\x1b[A", "up."},
        {"\x1bOB", "down."},
        {"\x1b[1;3A", "alt-up."},
        {"\x1b\x1b[B", "alt-down."},
        {"\x1b[1;5C", "ctrl-right"},
        {"\x1b[H", "home."},
        {"\x1b[4~", "end."},
        {"\x1b[3~", "del."},
        {"\x1b[5~", "page-up."},
        {"\x1b[6~", "page-down."},
        {"\x1bOP", "f1."},
        {"\x1b[[A", "f1."},
    };
    Tty tty(probe("nothing"));
    REQUIRE(tty.wait_for("size 24x80"));
    for (const auto& key : keys) {
        INFO(key.shown);
        tty.send("\x1b[200~\x1b[201~");  // so that what is awaited is not of the key before
        REQUIRE(tty.wait_for("paste 0 lines"));
        tty.send(key.sent);
        REQUIRE(tty.wait_for(key.shown));
    }
}

TEST_CASE("the example in the header runs") {
    Tty tty({{TERMINAL_EXAMPLE}, {}, {}});
    REQUIRE(tty.wait_for("typed:"));
    tty.send("hello");
    REQUIRE(tty.wait_for("typed: hello"));
    tty.resize({5, 40});
    tty.send("\x1b!");
    REQUIRE(tty.wait_for("typed: hello!"));
    tty.send("\r");
    REQUIRE(tty.wait_exit() == 0);
    require_restored(tty);
}

TEST_CASE("the terminal is restored on every way out") {
    const struct {
        const char* deed;
        int status;
        const char* shown;
    } ways[] = {
        {"quit", 0, "bye"},
        {"throw", 1, "screen_probe: thrown"},
        {"abort", 128 + SIGABRT, ""},
        {"segv", 128 + SIGSEGV, ""},
        {"overflow", 128 + SIGSEGV, ""},
    };
    for (const auto& way : ways) {
        INFO(way.deed);
        Tty tty(probe(way.deed, {"ASAN_OPTIONS=handle_segv=0"}));
        REQUIRE(tty.wait_for("size 24x80"));
        REQUIRE_FALSE(tty.settings_restored());
        REQUIRE(tty.alternate_screen());
        REQUIRE(tty.modes().count(2004) == 1);
        tty.send("\r");
        REQUIRE(tty.wait_exit() == way.status);
        REQUIRE(tty.shows(way.shown));
        require_restored(tty);
    }
}

TEST_CASE("every terminal will do") {
    for (const std::string type : {"vt100", "screen", "linux", "xterm-256color", "xterm"}) {
        INFO(type);
        Tty tty(probe("quit", {"TERM=" + type}));
        REQUIRE(tty.wait_for("size 24x80"));
        tty.send("hi\x1b[A");
        REQUIRE(tty.wait_for("up."));
        REQUIRE(tty.cell(0, 0).reverse);
        REQUIRE(tty.cell(0, 0).colored == (type != "vt100"));
        tty.send("\r");
        REQUIRE(tty.wait_exit() == 0);
        REQUIRE(tty.settings_restored());
    }
}

TEST_CASE("no colors where they are not wanted") {
    Tty tty(probe("quit", {"NO_COLOR=1"}));
    REQUIRE(tty.wait_for("size 24x80"));
    REQUIRE_FALSE(tty.cell(0, 0).colored);
    REQUIRE(tty.cell(0, 0).reverse);
}

TEST_CASE("a terminal that can't be used is told in one sentence") {
    const struct {
        const char *type, *sentence;
    } cases[] = {
        {"TERM=no-such", "the terminal type \"no-such\" (TERM) is not known on this system"},
        {"TERM=dumb", "the terminal type \"dumb\" (TERM) can't place its cursor"},
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

TEST_CASE("a paste is one key, however long") {
    std::string text = "\x1b[200~";
    for (int i = 0; i < 10'000; ++i) text += "line\x1b[A of a paste\r";
    Tty tty(probe("quit"));
    REQUIRE(tty.wait_for("size 24x80"));
    tty.send(text);
    tty.send("\x1b[20");
    tty.send("1~x");
    REQUIRE(tty.wait_for("x."));
    REQUIRE(tty.row(1) == "paste 10000 lines 190000 bytes.");
    REQUIRE(tty.row(2) == "x.");
}

TEST_CASE("a storm of sizes ends in the last one") {
    const Tty::Size sizes[] = {{1, 1}, {24, 80}, {0, 0}, {2, 3}, {200, 500}, {1, 80}, {50, 1}};
    Tty tty(probe("quit"));
    REQUIRE(tty.wait_for("size 24x80"));
    for (std::size_t i = 0; i < 300; ++i) tty.resize(sizes[i % std::size(sizes)]);
    tty.resize({7, 33});
    REQUIRE(tty.wait_for("size 7x33"));
    tty.resize({0, 0});
    REQUIRE(tty.wait_for("size 24x80"));
    tty.resize({1, 1});
    REQUIRE(tty.wait_for([&] { return tty.row(0) == "s"; }));
    tty.send("\r");
    REQUIRE(tty.wait_exit() == 0);
}

TEST_CASE("a terminal that hangs up is noticed") {
    Tty tty({{"/bin/sh", "-c", "trap '' HUP; exec \"$0\" nothing", SCREEN_PROBE}, {}, {}});
    REQUIRE(tty.wait_for("size 24x80"));
    tty.hang_up();
    REQUIRE(tty.wait_exit() == 0);
}

TEST_CASE("suspended, the terminal is the shell's, and then the program's again") {
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

TEST_CASE("where nobody could continue it, it is not suspended") {
    Tty tty(probe("quit"));
    REQUIRE(tty.wait_for("size 24x80"));
    tty.send("\x1a");
    REQUIRE(tty.wait_for("ctrl-z."));
    tty.send("\r");
    REQUIRE(tty.wait_exit() == 0);
}

TEST_CASE("what attacks a terminal does not reach it") {
    for (const std::string locale : {"C.UTF-8", "C"}) {
        INFO(locale);
        Tty tty(probe("attacks", {"LC_ALL=" + locale}, {40, 100}));
        REQUIRE(tty.wait_for("size 40x100"));
        const auto modes = tty.modes();
        const auto title = tty.title();
        tty.send("\r");
        REQUIRE(tty.wait_for("^[[2J^[[H wipes the screen"));
        REQUIRE(tty.wait_for("\\xc0\\x9b"));
        REQUIRE(tty.modes() == modes);
        REQUIRE(tty.title() == title);
        REQUIRE(tty.answers().empty());
        REQUIRE(tty.alternate_screen());
        for (const auto* sequence : {"\x1b]0", "\x1b]2", "\x1b]8", "\x1b]52", "\x1bP", "\x9d"})
            REQUIRE(tty.output().find(sequence) == std::string::npos);
    }
}

TEST_CASE("a terminal that takes nothing blocks nobody") {
    Tty tty(probe("fill", {}, {50, 200}));
    REQUIRE(tty.wait_for("size 50x200"));
    tty.send("\r");
    REQUIRE(tty.wait_for("enter.x"));
    tty.stall(true);
    tty.send(std::string(300, '\x0c'));  // 300 screens of 10,000 characters
    SECTION("and shows the last frame when it goes on") {
        tty.send("\x03");
        tty.stall(false);
        REQUIRE(tty.wait_for([&] { return tty.row(49) == "ctrl-c." + std::string(193, 'x'); }));
        REQUIRE(tty.row(20) == "ctrl-l." + std::string(193, 'x'));
    }
    SECTION("nor when it hangs up") {
        tty.hang_up();
        REQUIRE(tty.wait_exit() == 128 + SIGHUP);
    }
    SECTION("nor when it is left, and gets that at the least") {
        const int signal = GENERATE(SIGABRT, SIGQUIT);
        tty.kill(signal);
        REQUIRE(tty.wait_exit() == 128 + signal);
        tty.stall(false);
        REQUIRE(tty.wait_for([&] { return !tty.alternate_screen(); }));
        require_restored(tty);
    }
}

TEST_CASE("no size is too small or too large to begin with") {
    for (const Tty::Size size : {Tty::Size{1, 1}, {2, 3}, {0, 0}, {1, 200}, {300, 2000}}) {
        INFO(size.rows << "x" << size.columns);
        Tty tty(probe("quit", {}, size));
        REQUIRE(tty.wait_for("s"));
        tty.send("abc\r");
        REQUIRE(tty.wait_exit() == 0);
    }
}

TEST_CASE("every signal that ends the program gives the terminal back first") {
    const std::set<int> others{SIGKILL, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU,
                               SIGCHLD, SIGCONT, SIGURG,  SIGWINCH};
    const int last_named = 31;
    for (int signal = 1; signal <= SIGRTMAX; ++signal) {
        const bool real_time = signal == SIGRTMIN || signal == SIGRTMAX;
        if (others.count(signal) || (signal > last_named && !real_time)) continue;
        INFO(signal);
        Tty tty(probe("quit", {"ASAN_OPTIONS=handle_segv=0:handle_sigbus=0:handle_sigfpe=0"}));
        REQUIRE(tty.wait_for("size 24x80"));
        REQUIRE(tty.alternate_screen());
        tty.kill(signal);
        REQUIRE(tty.wait_exit() == 128 + signal);
        require_restored(tty);
    }
}

TEST_CASE("ignored signals stay ignored") {
    Tty tty(
        {{"/bin/sh", "-c", "trap '' QUIT ALRM USR1; exec \"$0\" quit", SCREEN_PROBE}, {}, {}});
    REQUIRE(tty.wait_for("size 24x80"));
    for (const int signal : {SIGQUIT, SIGALRM, SIGUSR1}) tty.kill(signal);
    tty.send("x");
    REQUIRE(tty.wait_for("x."));
    tty.send("\r");
    REQUIRE(tty.wait_exit() == 0);
    require_restored(tty);
}
