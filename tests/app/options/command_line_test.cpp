// The whole command line: words, help, and the examples in all documents.

#include "tests/app/options/parsing.hpp"
#include "tests/support/text.hpp"

#include <regex>
#include <set>

using namespace std::chrono_literals;
using namespace yodel;
using test::check_table;
using test::load_refused;
using test::refused;
using test::server_refused;

namespace {

std::string source(const std::string& file) { return test::contents(SOURCES "/" + file); }

// Returns the commands of a program in the examples of a text, without the program's name. An
// example is indented or follows .Dl; it ends at a pipe, a redirection, an ampersand or a
// comment. Omits examples with quotation marks, which are for a shell.
std::vector<std::string> examples(const std::string& text, const std::string& program) {
    const std::regex pattern("(?:\n {2,4}|\n[$] |\n\\.Dl |\\| )" + program +
                             "((?: [^ \n|<>#&']+)*)(?=\n|  | [|<>#&])");
    std::vector<std::string> found;
    for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it)
        found.push_back((*it)[1]);
    return found;
}

}  // namespace

TEST_CASE("options may follow other words, up to --, and words after help are not read") {
    const auto parse = [](const std::string& line) {
        return test::parse_by(parse_yodel_options, line);
    };
    CHECK(parse("::1 -n 7 -vCx").run.session.endpoint.is_numeric);
    for (const char* words : {"-W2 h 7", "-vW 2 h 7", "--reply-timeout=2 h 7"})
        CHECK(parse(words).run.session.reply_timeout == 2s);
    CHECK(parse("-- -h 7").run.session.endpoint.host == "-h");
    CHECK(refused("-") == "\"-\" needs a port: write HOST PORT or HOST:PORT");
    CHECK(parse("--help --nonsense").line.has("help"));
    CHECK(parse("-hX a b c").line.has("help"));
    CHECK_FALSE(parse("-V -h").line.has("help"));
    CHECK(parse_yodel_options(0, nullptr).has_own_server());
}

TEST_CASE("an unknown option is refused, with the nearest ones if there are any") {
    check_table(R"(--nonsense --help => unknown option --nonsense
--nonsense=7 => unknown option --nonsense
--x => unknown option --x
-vX => unknown option -X
--tls -Xv => unknown option -X
-tls h 7 => unknown option -t; did you mean --tls?
--ca f => unknown option --ca; did you mean --cacert?
--cac f => unknown option --cac; did you mean --cacert?
--cacrt f => unknown option --cacrt; did you mean --cacert?
--acert f => unknown option --acert; did you mean --cert or --cacert?
--cacerts f => unknown option --cacerts; did you mean --cacert?
--kez f => unknown option --kez; did you mean --key?
--koz f => unknown option --koz
--jsno => unknown option --jsno; did you mean --json?
--max-tiem=2 => unknown option --max-tiem; did you mean --max-time?
--tls-m 1.3 => unknown option --tls-m; did you mean --tls-min or --tls-max?
)",
                refused);
    CHECK(load_refused("--conections 2") ==
          "unknown option --conections; did you mean --connections?");
}

TEST_CASE("an option of the other client is refused with the command to type") {
    check_table(R"(--rate 1k -m 10s localhost 7000
=> --rate is an option of yodel-load: yodel-load --rate 1k -m 10s localhost 7000
--rate=1k --match (a) h 7 => --rate is an option of yodel-load: yodel-load --rate=1k --match '(a)' h 7
h 7 --rate 1k => --rate is an option of yodel-load: yodel-load h 7 --rate 1k
--rate fast => --rate is an option of yodel-load: yodel-load -h
--rate 1k -x => --rate is an option of yodel-load: yodel-load -h
h 7 -x --rate 5 => --rate is an option of yodel-load: yodel-load -h
h 7 --rate 5 -m soon => --rate is an option of yodel-load: yodel-load -h
h 7 --threads auto => --threads is an option of yodel-load: yodel-load h 7 --threads auto
--ratee 5 => unknown option --ratee
)",
                refused);
    check_table(R"(-zxk h 7 '' => -x is an option of yodel: yodel -zxk h 7 ''
-o a_b/c.d@e,f=g+h%i^j:k h 7 => -o is an option of yodel: yodel -o a_b/c.d@e,f=g+h%i^j:k h 7
-x 'a b' => -x is an option of yodel: yodel -x 'a b'
)",
                load_refused);
    char words[][9] = {"yodel", "--rate=1", "it's"};
    char* argv[] = {words[0], words[1], words[2]};
    CHECK(test::refusal([&] { parse_yodel_options(3, argv); }) ==
          "--rate is an option of yodel-load: yodel-load --rate=1 'it'\\''s'");
    CHECK_THROWS_AS(test::parse_by(parse_load_options, "--replay f"), WrongProgram);
}

TEST_CASE("the help lists the options in columns, within 80") {
    for (const std::string& text : {yodel_help(), load_help(), server_help()}) {
        std::istringstream lines(text);
        std::set<std::size_t> columns;
        const std::regex row("^  (-.|  )(, --|  --| )[^ ]* ? ([A-Z]+ )? *");
        for (std::string line; std::getline(lines, line);) {
            CAPTURE(line);
            CHECK(line.size() <= 80);
            std::smatch option;
            if (line.starts_with("  -") && std::regex_search(line, option, row))
                columns.insert(static_cast<std::size_t>(option.length()));
        }
        CHECK(columns.size() == 1);
    }
    const std::string help = yodel_help();
    CHECK(std::count(help.begin(), help.end(), '\n') <= 60);
    // The limits keep each program small.
    const auto count = [](const std::string& text) {
        const std::regex row("\n  (-|    --)");
        return std::distance(std::sregex_iterator(text.begin(), text.end(), row), {});
    };
    CHECK(count(help) <= 50);
    CHECK(count(server_help()) <= 34);
    YodelOptions yodel;
    LoadOptions load;
    std::set<std::string_view> own;
    for (const Option& row : load_table(load)) own.insert(row.label);
    for (const Option& row : yodel_table(yodel)) own.erase(row.label);
    CHECK(own.size() <= 20);
    for (const char* row : {"\nConnection:\n  -4   ", "or IPv6 with -6", "\n      --tls     ",
                            "\n      --cacert=FILE  ", "\n  -f, --framing=F   "})
        CHECK(test::contains(help, row));
    CHECK_FALSE(test::contains(help, "\n  -6"));
}

TEST_CASE("every example is accepted as a command") {
    const std::pair<std::string, std::size_t> texts[] = {{server_help(), 3},
                                                         {source("README.md"), 8},
                                                         {source("app/yodel.1"), 5},
                                                         {source("app/yodel-load.1"), 3},
                                                         {source("app/yodeld.8"), 3}};
    const std::pair<std::string, std::string (*)(const std::string&)> programs[] = {
        {"yodel", refused}, {"yodel-load", load_refused}, {"yodeld", server_refused}};
    for (const auto& [text, least] : texts) {
        std::size_t count = 0;
        for (const auto& [program, refusal] : programs)
            for (const std::string& words : examples(text, program)) {
                CAPTURE(program, words);
                CHECK(refusal(words) == "");
                ++count;
            }
        CHECK(count >= least);
    }
}
