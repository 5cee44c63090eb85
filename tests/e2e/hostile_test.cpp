// Tries a server that attacks the terminal, in every mode that writes to one.

#include "tests/e2e/programs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/tty.hpp"
#include "tests/ui/attacks.hpp"

using test::Tty;
using test::yodel;

namespace {

// Sends each attack as a line, and then echoes.
class Attacker {
public:
    Attacker()
        : peer_({"socat", "TCP-LISTEN:PORT,fork,bind=127.0.0.1",
                 "EXEC:cat " + attacks() + " -"}) {}
    std::string port() const { return peer_.port(); }

private:
    std::string attacks() {
        std::ofstream file(folder_.path("attacks"));
        for (const std::string_view attack : test::attacks) file << attack << '\n';
        file << "the last of them\n";
        return folder_.path("attacks");
    }
    test::Folder folder_;
    test::Peer peer_;
};

void check_untouched(Tty& tty) {
    CHECK(tty.title().find("OWNED") == std::string::npos);
    CHECK(tty.answers().empty());
    for (const int mode : {1000, 1002, 1003, 1006}) CHECK(tty.modes().count(mode) == 0);
    CHECK(tty.output().find("\x1b]52") == std::string::npos);
    CHECK(tty.output().find("\x1b]8") == std::string::npos);
    CHECK(tty.wait_for([&] { return tty.cursor_shown(); }));
}

}  // namespace

TEST_CASE("a hostile server does not reach the terminal through the screen") {
    const std::string locale = GENERATE("C.UTF-8", "C");
    Attacker attacker;
    Tty tty({.arguments = {yodel, "--expect", "none", "127.0.0.1", attacker.port()},
             .environment = {"LC_ALL=" + locale},
             .size = {50, 100}});
    REQUIRE(tty.wait_for("the last of them"));
    const auto is_hint = [](const std::string& row) {
        return row.starts_with("F1 help") || row.find("Esc goes back") != std::string::npos;
    };
    const auto bars_stand = [&] {
        return tty.row(48).find("up 00:") != std::string::npos && is_hint(tty.row(49));
    };
    REQUIRE(tty.wait_for(bars_stand));
    const bool full_screen = tty.alternate_screen();
    SECTION("as text") { CHECK(tty.wait_for("^[]0;OWNED^G")); }
    SECTION("in hex") {
        tty.send("\x1bh");
        CHECK(tty.wait_for("1b"));
    }
    SECTION("as a page") {
        for (int i = 0; i < 20; ++i) tty.send("\x1b[1;3A");
        tty.send("\r");
        CHECK(tty.wait_for("Unsolicited"));
    }
    SECTION("searched and marked") {
        tty.send("\x1b/OWNED\r");
        CHECK(tty.wait_for("HELD"));
    }
    CHECK(tty.wait_for(bars_stand));
    CHECK(tty.alternate_screen() == full_screen);
    CHECK(tty.modes().count(2004) == 1);
    check_untouched(tty);
}

TEST_CASE("a hostile server does not reach the terminal through the pipe") {
    const std::string framing = GENERATE("line", "raw");
    Attacker attacker;
    Tty tty({.arguments = {yodel, "--no-tui", "-f", framing, "127.0.0.1", attacker.port()},
             .size = {50, 100}});
    REQUIRE(tty.wait_for("the last of them"));
    CHECK_FALSE(tty.alternate_screen());
    check_untouched(tty);
}

TEST_CASE("hostile names and options are shown, not obeyed") {
    for (const std::string_view attack : test::attacks) {
        const std::string word = std::string(attack.substr(0, attack.find('\0')));
        const test::Outcome outcome = test::run({yodel, "--" + word, word});
        CHECK(outcome.status == 2);
        for (const char byte : {'\x1b', '\x07', '\x9b', '\x9d', '\r', '\x08'})
            CHECK(outcome.errors.find(byte) == std::string::npos);
    }
}
