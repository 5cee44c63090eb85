// The options as a whole: what the programs say of themselves, and those that need a terminal.

#include "tests/e2e/programs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/tty.hpp"

#include <fstream>
#include <regex>
#include <set>
#include <sstream>

using test::Folder;
using test::run;
using test::Server;
using test::Tty;
using test::yodel;
using test::yodeld;

namespace {

std::string contents(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

// The options that a text names, each with its dashes.
std::set<std::string> options_in(const std::string& text, const std::regex& pattern) {
    std::set<std::string> found;
    for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it)
        found.insert((*it)[1].str());
    return found;
}

std::set<std::string> options_of(const std::string& program) {
    const std::string help = run({program, "--help"}).output;
    std::set<std::string> all = options_in(help, std::regex("\n {2,6}(--[a-z-]+)"));
    all.merge(options_in(help, std::regex("\n  (-[A-Za-z0-9])")));
    all.merge(options_in(help, std::regex("\n  -[A-Za-z0-9], (--[a-z-]+)")));
    return all;
}

// In its manual page, where a dash of the name is left out.
std::set<std::string> documented(const std::string& page) {
    std::set<std::string> all;
    const std::string text = contents(std::string(MANUALS) + "/" + page);
    for (const std::string& name : options_in(text, std::regex("Fl (-?[A-Za-z0-9][a-z-]*)")))
        all.insert("-" + name);
    return all;
}

}  // namespace

TEST_CASE("the manual page has the options that --help has") {
    const auto [program, page] =
        GENERATE(table<std::string, std::string>({{yodel, "yodel.1"}, {yodeld, "yodeld.8"}}));
    const std::set<std::string> offered = options_of(program);
    CHECK(offered.size() > 25);
    const std::set<std::string> told = documented(page);
    for (const std::string& option : offered) {
        CAPTURE(page, option);
        CHECK(told.count(option) == 1);
    }
}

TEST_CASE("the manual page has what --json tells") {
    Server server({"--corrupt", "0.5"});
    const std::string told =
        run({yodel, "--json", "-W", "50ms", "127.0.0.1", server.port()}, "a\nb\nc\nd\n")
            .output +
        run({yodel, "--json", "--tls", "-z"}).output;
    const std::string page = contents(std::string(MANUALS) + "/yodel.1");
    const std::set<std::string> fields = options_in(told, std::regex("\"([a-z0-9_]+)\":"));
    CHECK(fields.size() > 30);
    for (const std::string& field : fields) {
        CAPTURE(field);
        CHECK(std::regex_search(page, std::regex("\n\\.(Pq )?Va [^\n]*\\b" + field + "\\b")));
    }
}

TEST_CASE("option --color has its say over NO_COLOR") {
    struct Case {
        std::string when;
        std::vector<std::string> environment;
        bool colored;
    };
    const Case each = GENERATE(Case{"auto", {}, true}, Case{"auto", {"NO_COLOR=1"}, false},
                               Case{"always", {"NO_COLOR=1"}, true}, Case{"never", {}, false});
    Tty tty({.arguments = {yodel, "--color", each.when}, .environment = each.environment});
    REQUIRE(tty.wait_for("up 00:"));
    tty.send("hello\r");
    const auto colored = [&] {
        for (int row = 0; row < 24; ++row)
            for (int column = 0; column < 80; ++column)
                if (tty.cell(row, column).colored) return true;
        return false;
    };
    REQUIRE(tty.wait_for("hello ✓"));
    CHECK(tty.wait_for([&] { return colored() == each.colored; }));
}

TEST_CASE("a screen that begins in hex, with a file, its lines holding escapes") {
    const Folder folder;
    const std::string file = folder.path("log");
    Tty tty({.arguments = {yodel, "-x", "-o", file, "--escapes", "-v", "-f", "len2"}});
    REQUIRE(tty.wait_for("up 00:"));
    tty.send("a\\x00b\r");
    REQUIRE(tty.wait_for("61 00 62"));
    tty.send("a\\q\r");
    REQUIRE(tty.wait_for("after a backslash come n, r, t, 0"));
    tty.send("\x03\x03\x03");
    CHECK(tty.wait_exit() == 0);
    CHECK(contents(file).find("a^@b") != std::string::npos);
    Tty refused({.arguments = {yodel, "-o", "/no/such/log"}});
    REQUIRE(refused.wait_for("/no/such/log: No such file"));
    CHECK(refused.wait_exit() == 1);
}
