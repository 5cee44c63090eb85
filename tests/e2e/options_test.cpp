// All options: the help against the manual pages, and the options of the screen.

#include "tests/e2e/programs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"
#include "tests/support/tty.hpp"

#include <cctype>
#include <map>
#include <regex>
#include <set>

using test::contents;
using test::Folder;
using test::run;
using test::Server;
using test::Tty;
using test::yodel;
using test::yodel_load;
using test::yodeld;

namespace {

std::set<std::string> matches(const std::string& text, const std::regex& pattern) {
    std::set<std::string> found;
    for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it)
        found.insert((*it)[1].str());
    return found;
}

// Maps each option, by its name or else its letter, to the name of its argument in lower case
// and without brackets; empty if it takes none.
using Options = std::map<std::string, std::string>;

std::string plain(const std::string& argument) {
    std::string text;
    for (const char letter : argument)
        if (std::string("[] ").find(letter) == std::string::npos)
            text += static_cast<char>(std::tolower(letter));
    return text;
}

Options offered(const std::string& program) {
    const std::string help = run({program, "--help"}).output;
    const std::regex row(
        "\n  (?:(-\\w)(?:, (--[a-z-]+))?|    (--[a-z-]+))(?:[ =]([^ \n]+))?  ");
    Options options;
    for (std::sregex_iterator it(help.begin(), help.end(), row), end; it != end; ++it) {
        const std::smatch& found = *it;
        const std::size_t name = found[3].matched ? 3 : found[2].matched ? 2 : 1;
        options[found[name]] = plain(found[4]);
    }
    return options;
}

std::string manual(const std::string& page) {
    return contents(std::string(MANUALS) + "/" + page);
}

// Returns the options that a manual page describes. Its source omits the first dash of each
// name and contains macros between the words.
Options described(const std::string& page) {
    const std::string text = manual(page);
    Options options;
    for (const std::string& line : matches(text, std::regex("\n\\.It (Fl [^\n]*)"))) {
        const std::regex part("Fl (-?[A-Za-z0-9][a-z-]*)(?= |$)((?: (?!, )[^ ]+)*)");
        for (std::sregex_iterator it(line.begin(), line.end(), part), end; it != end; ++it)
            options["-" + (*it)[1].str()] =
                plain(std::regex_replace((*it)[2].str(), std::regex(" (Ar|Cm|Ns|Op)\\b"), ""));
    }
    return options;
}

// Returns also the options for which the page of the load tool refers to the page of the
// client.
Options documented(const std::string& page) {
    Options options = described(page);
    if (page != "yodel-load.1") return options;
    const std::string text = manual(page);
    const std::size_t begin = text.find("\nThese options have the same meaning as in");
    REQUIRE(begin != text.npos);
    const std::string list = text.substr(begin, text.find("\n.Ss ", begin) - begin);
    const Options of_client = described("yodel.1");
    for (const std::string& line : matches(list, std::regex("\n\\.Fl ([^\n]*)")))
        for (const std::string& name :
             matches(line, std::regex("(?:^| )(-?[A-Za-z0-9][a-z-]*)"))) {
            CAPTURE(name);
            REQUIRE(of_client.count("-" + name) == 1);
            CHECK(options.emplace("-" + name, of_client.at("-" + name)).second);
        }
    return options;
}

// The programs and their pages.
using Pages = std::vector<std::tuple<std::string, std::string>>;
const Pages pages{{yodel, "yodel.1"}, {yodel_load, "yodel-load.1"}, {yodeld, "yodeld.8"}};

}  // namespace

TEST_CASE("the manual page lists all options of --help, with the same arguments") {
    const auto [program, page] = GENERATE(from_range(pages));
    const Options options = offered(program);
    CHECK(options.size() > 25);
    Options in_page = documented(page);
    for (const auto& [option, argument] : options) {
        CAPTURE(page, option);
        REQUIRE(in_page.count(option) == 1);
        CHECK(in_page[option] == argument);
    }
}

TEST_CASE("the manual page lists no option that is missing in --help") {
    const auto [program, page] = GENERATE(from_range(pages));
    const std::string help = run({program, "--help"}).output;
    for (const auto& [option, argument] : documented(page)) {
        CAPTURE(page, option);
        CHECK(help.find(option) != std::string::npos);
    }
}

TEST_CASE("the manual pages list exactly the exit statuses") {
    const std::string code = contents(std::string(MANUALS) + "/text/exit_status.hpp");
    const std::set<std::string> statuses = matches(code, std::regex("\n    \\w+ = ([0-9]+),"));
    CHECK(statuses.size() == 15);
    const std::regex item("\n\\.It ([0-9]+)\n");
    CHECK(matches(manual("yodel.1"), item) == statuses);
    const auto of_server = matches(manual("yodeld.8"), item);
    CHECK(of_server.size() == 5);
    for (const std::string& status : of_server) CHECK(statuses.count(status) == 1);
}

TEST_CASE("README mentions no option that is missing in --help") {
    std::string help = "  --ssl-verify ";  // ncat's
    for (const auto& [program, page] : pages) help += run({program, "--help"}).output;
    const auto options = matches(contents(README), std::regex("(--[a-z][a-z-]+)"));
    CHECK(options.size() > 15);
    for (const std::string& option : options) {
        CAPTURE(option);
        CHECK(std::regex_search(help, std::regex("[ ,]" + option + "[ =\n]")));
    }
}

TEST_CASE("a mistake in an option is reported in one line that helps") {
    const auto [program, arguments,
                sentence] = GENERATE(table<std::string, std::vector<std::string>,
                                           std::string>(
        {{yodel,
          {"-w", "localhost", "7000"},
          "yodel: -w: \"localhost\" is not a duration such as 1.5s, 200ms or 2m (yodel -h "
          "shows the options)\n"},
         {yodel_load,
          {"--rate", "fast", "localhost", "7000"},
          "yodel-load: --rate: \"fast\" is not a rate from 0.001 to 10M a second, such as 50, "
          "2.5 or 20k (yodel-load -h shows the options)\n"},
         {yodel,
          {"--rate", "1k", "localhost", "7000"},
          "yodel: --rate is an option of yodel-load: yodel-load --rate 1k localhost 7000\n"},
         {yodel_load,
          {"localhost", "7000", "--hex"},
          "yodel-load: --hex is an option of yodel: yodel localhost 7000 --hex\n"},
         {yodeld,
          {"--drop", "10", "0"},
          "yodeld: --drop: \"10\" is not a probability such as 0.1 or 10%, up to 1 (yodeld -h "
          "shows the options)\n"}}));
    std::vector<std::string> command{program};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const test::Outcome outcome = run(command);
    CHECK(outcome.status == 2);
    CHECK(outcome.errors == sentence);
}

TEST_CASE("the manual page lists every field that --json writes") {
    Server server({"--corrupt", "0.5"});
    const std::string output =
        run({yodel, "--json", "-W", "50ms", "127.0.0.1", server.port()}, "a\nb\nc\nd\n")
            .output +
        run({yodel, "--json", "--tls", "-z"}).output +
        run({yodel_load, "--json", "--connections", "2", "-m", "1100ms", "-i", "0.1"}).output +
        run({yodel_load, "--json", "--connections", "2"}, "a\n").output;
    const std::string page = manual("yodel-json.5");
    const std::set<std::string> fields = matches(output, std::regex("\"([a-z0-9_]+)\":"));
    CHECK(fields.size() > 30);
    for (const std::string& field : fields) {
        CAPTURE(field);
        CHECK(
            std::regex_search(page, std::regex("\n\\.(Pq |It )?Va [^\n]*\\b" + field + "\\b")));
    }
}

TEST_CASE("the screen starts in hex with -x, writes a file with -o, and reads --escapes") {
    const Folder folder;
    const std::string file = folder.path("log");
    Tty tty({.arguments = {yodel, "-x", "-o", file, "--escapes", "-v", "-f", "len2"}});
    REQUIRE(tty.wait_for("up 00:"));
    tty.send("a\\x00b\r");
    REQUIRE(tty.wait_for("61 00 62"));
    tty.send("a\\q\r");
    REQUIRE(tty.wait_for("a backslash must be followed by n, r, t, 0"));
    tty.send("\x03\x03\x03");
    CHECK(tty.wait_exit() == 0);
    CHECK(contents(file).find("a^@b") != std::string::npos);
    Tty refused({.arguments = {yodel, "-o", "/no/such/log"}});
    REQUIRE(refused.wait_for("/no/such/log: No such file"));
    CHECK(refused.wait_exit() == 23);
}
