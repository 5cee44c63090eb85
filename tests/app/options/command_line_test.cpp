// The whole command line: words, help, and the examples in all documents.

#include "app/options/command_line.hpp"

#include "app/options/load_options.hpp"
#include "app/options/server_options.hpp"
#include "app/options/yodel_options.hpp"
#include "tests/app/options/parsing.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"

#include <algorithm>
#include <regex>

using namespace std::chrono_literals;
using namespace yodel;
using test::parse_by;
using test::refusal;
using test::words_of;

namespace {

YodelOptions parse(const std::vector<std::string>& words) {
    return parse_by(parse_yodel_options, words);
}

LoadOptions parse_load(const std::vector<std::string>& words) {
    return parse_by(parse_load_options, words);
}

ServerOptions parse_server(const std::vector<std::string>& words) {
    return parse_by(parse_server_options, words);
}

std::string source(const std::string& file) { return test::contents(SOURCES "/" + file); }

// Returns the commands of a program in the examples of a text, without the program's name. An
// example is indented or follows .Dl; it ends at a pipe, a redirection, an ampersand or a
// comment. Omits examples with quotation marks, which are for a shell.
std::vector<std::string> examples(const std::string& text, const std::string& program) {
    const std::regex pattern("(?:\n {2,4}|\n\\.Dl |\\| )" + program +
                             "((?: [^ \n|<>#&']+)*)(?=\n|  | [|<>#&])");
    std::vector<std::string> found;
    for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it)
        found.push_back((*it)[1]);
    return found;
}

}  // namespace

TEST_CASE("options may follow other words, up to --") {
    CHECK(parse({"::1", "-n", "7", "-vCx"}).run.session.endpoint.numeric);
    CHECK(parse({"-W2", "h", "7"}).run.session.reply_timeout == 2s);
    CHECK(parse({"--reply-timeout=2", "h", "7"}).run.session.reply_timeout == 2s);
    CHECK(parse({"--", "-h", "7"}).run.session.endpoint.host == "-h");
    CHECK(refusal([] { parse({"-"}); }) == "\"-\" needs a port: write HOST PORT or HOST:PORT");
}

TEST_CASE("words after --help or --version are not read") {
    CHECK(parse({"--help", "--nonsense"}).help);
    CHECK(parse({"-hX", "a", "b", "c"}).help);
    CHECK_FALSE(parse({"-V", "-h"}).help);
    CHECK(parse_server({"--version", "--nonsense"}).version);
    CHECK(refusal([] { parse({"--nonsense", "--help"}); }) == "unknown option --nonsense");
}

TEST_CASE("the help lists the options, within 80 columns") {
    const std::string help = yodel_help();
    for (const char* option :
         {"-4", "; -6: ", "--tls", "--cacert=FILE", "-f, --framing=F", "-V, --version"})
        CHECK(help.find(option) != std::string::npos);
    CHECK(std::count(help.begin(), help.end(), '\n') <= 60);
    for (const std::string& text : {yodel_help(), load_help(), server_help()}) {
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) {
            CAPTURE(line);
            CHECK(line.size() <= 80);
        }
    }
}

TEST_CASE("an option of the other client is refused with the command to type") {
    const auto [words, sentence] = GENERATE(table<std::vector<std::string>, std::string>({
        {{"--rate", "1k", "-m", "10s", "localhost", "7000"},
         "--rate is an option of yodel-load: yodel-load --rate 1k -m 10s localhost 7000"},
        {{"--rate=1k", "--match", "it's", "h", "7"},
         "--rate is an option of yodel-load: yodel-load --rate=1k --match 'it'\\''s' h 7"},
        {{"--rate", "fast"}, "--rate is an option of yodel-load: yodel-load -h"},
        {{"--rate", "1k", "-x"}, "--rate is an option of yodel-load: yodel-load -h"},
        {{"h", "7", "-x", "--rate", "5"}, "--rate is an option of yodel-load: yodel-load -h"},
        {{"--ratee", "5"}, "unknown option --ratee"},
    }));
    CHECK(refusal([&, &words = words] { parse(words); }) == sentence);
    CHECK(refusal([] {
              parse_load({"-zxk", "h", "7", ""});
          }) == "-x is an option of yodel: yodel -zxk h 7 ''");
    CHECK_THROWS_AS(parse_load({"--replay", "a b"}), WrongProgram);
}

TEST_CASE("every example is accepted as a command") {
    const auto [text, least] =
        GENERATE(table<std::string, std::size_t>({{server_help(), 3},
                                                  {source("README.md"), 9},
                                                  {source("app/yodel.1"), 5},
                                                  {source("app/yodel-load.1"), 3},
                                                  {source("app/yodeld.8"), 3}}));
    const auto refused = [](const std::string& program, const std::string& words) {
        return refusal([&] {
            if (program == "yodel") parse(words_of(words));
            if (program == "yodel-load") parse_load(words_of(words));
            if (program == "yodeld") parse_server(words_of(words));
        });
    };
    std::size_t count = 0;
    for (const char* program : {"yodel", "yodel-load", "yodeld"})
        for (const std::string& words : examples(text, program)) {
            CAPTURE(program, words);
            CHECK(refused(program, words) == "");
            ++count;
        }
    CHECK(count >= least);
}
