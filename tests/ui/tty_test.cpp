#include "ui/tty.hpp"

#include "tests/ui/attacks.hpp"
#include "tests/ui/locale.hpp"
#include "tests/ui/probe.hpp"
#include "ui/text.hpp"

#include <set>

using test::Locale;
using test::Probe;
using test::probe;
using test::require_restored;
using test::Tty;
using ui::base64;
using ui::clipboard_sequence;
using ui::mode_sequences_for;
using ui::ModeSequences;

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

TEST_CASE("a terminal gets the modes that its family knows, and restoring undoes them") {
    const std::string paste = "\x1b[?2004h", no_paste = "\x1b[?2004l";
    // Ends a truncated sequence and frame. The wheel's mode is restored if possible, otherwise
    // on.
    const std::string restore = "\x18\x1b[?2026l\x1b[?1007h\x1b[?1007r" + no_paste;
    const struct {
        std::string cup, smcup;
        ModeSequences modes;
    } rows[] = {
        {"\x1b[H",
         "\x1b[?1049h\x1b[22;0;0t",
         {"\x1b[?1007s", paste + "\x1b[?1007l", restore, "\x1b[?2026h", "\x1b[?2026l"}},
        {"\x1b[H",
         "\x1b"
         "7\x1b[?47h",
         {"\x1b[?1007s", paste + "\x1b[?1007l", restore, "\x1b[?2026h", "\x1b[?2026l"}},
        {"\x1b[%i%p1%d;%p2%dH", "", {"", paste, no_paste, "", ""}},  // linux and vt100
        {"\x1b=%p1%' '%+%c%p2%' '%+%c", "", {"", "", "", "", ""}},   // adm3a
    };
    for (const auto& [cup, smcup, modes] : rows) {
        const ModeSequences found = mode_sequences_for(cup, smcup);
        CHECK(found.saving == modes.saving);
        CHECK(found.enabling == modes.enabling);
        CHECK(found.restoring == modes.restoring);
        CHECK(found.frame_begin == modes.frame_begin);
        CHECK(found.frame_end == modes.frame_end);
        CHECK(found.can_hide_text() == !smcup.empty());
    }
}

TEST_CASE("copies the visible text to the clipboard") {
    const Locale utf8("C.UTF-8");
    const auto sequence = [](const std::string& shown) {
        return "\x1b]52;c;" + base64(shown) + "\x1b\\";
    };
    CHECK(clipboard_sequence("hello") == "\x1b]52;c;aGVsbG8=\x1b\\");
    CHECK(clipboard_sequence("") == sequence(""));
    CHECK(clipboard_sequence("你好") == sequence("你好"));
    CHECK(clipboard_sequence("rm -rf /\r\n") == sequence("rm -rf /^M^J"));
    CHECK(clipboard_sequence("\x1b[201~\x03\x9b") == sequence("^[[201~^C\\x9b"));
    CHECK(clipboard_sequence("a\u202e\u200b") == sequence("a\\u202e\\u200b"));
    CHECK(clipboard_sequence("\xc2\x85\xc2\x9b") == sequence("\\x85\\x9b"));
}

TEST_CASE("no attack puts a control character into the clipboard") {
    const Locale locale(GENERATE("C.UTF-8", "C"));
    for (const auto attack : test::attacks) {
        const std::string sequence = clipboard_sequence(attack);
        const auto is_control = [](char c) {
            return static_cast<unsigned char>(c) < 0x20 || c == '\x7f';
        };
        CHECK(std::count_if(sequence.begin(), sequence.end(), is_control) == 2);  // OSC and ST
        CHECK(sequence == "\x1b]52;c;" + base64(ui::printable(attack)) + "\x1b\\");
    }
}

TEST_CASE("returns no sequence for a text above the limit of terminals") {
    const std::string longest(ui::max_clipboard_text, 'x');
    CHECK(clipboard_sequence(longest).size() <= 100'000);
    CHECK(clipboard_sequence(longest + 'x').empty());
    CHECK(clipboard_sequence(std::string(ui::max_clipboard_text / 2 + 1, '\x01')).empty());
}

TEST_CASE("every signal that ends the program restores the terminal first") {
    const std::set<int> others{SIGKILL, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU,
                               SIGCHLD, SIGCONT, SIGURG,  SIGWINCH};
    const int last_named = 31;
    for (int signal = 1; signal <= SIGRTMAX; ++signal) {
        const bool real_time = signal == SIGRTMIN || signal == SIGRTMAX;
        if (others.count(signal) || (signal > last_named && !real_time)) continue;
        INFO(signal);
        Probe tty("quit", {"ASAN_OPTIONS=handle_segv=0:handle_sigbus=0:handle_sigfpe=0"});
        REQUIRE(tty.alternate_screen());
        tty.kill(signal);
        REQUIRE(tty.wait_exit() == 128 + signal);
        require_restored(tty);
    }
}

TEST_CASE("a signal also restores a terminal whose output the user has stopped") {
    Probe tty("quit");
    tty.stop_output();
    tty.kill(SIGTERM);
    REQUIRE(tty.wait_exit() == 128 + SIGTERM);
    require_restored(tty);
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
