// The whole command line: words, help, and the examples in all documents.

#include "app/options/command_line.hpp"

#include "app/options/client_options.hpp"
#include "app/options/server_options.hpp"
#include "tests/app/options/parsing.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"

#include <regex>

using namespace std::chrono_literals;
using namespace yodel;
using test::parse_by;
using test::refusal;
using test::words_of;

namespace {

ClientOptions parse(const std::vector<std::string>& words) {
    return parse_by(parse_client_options, words);
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
    CHECK(parse({"::1", "-n", "7", "-vCx"}).session.endpoint.numeric);
    CHECK(parse({"-W2", "h", "7"}).session.reply_timeout == 2s);
    CHECK(parse({"--reply-timeout=2", "h", "7"}).session.reply_timeout == 2s);
    CHECK(parse({"--", "-h", "7"}).session.endpoint.host == "-h");
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
    const std::string help = client_help();
    for (const char* option :
         {"-4", "--tls", "--cacert=FILE", "-f, --framing=F", "-V, --version"})
        CHECK(help.find(option) != std::string::npos);
    for (const std::string& text : {client_help(), server_help()}) {
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) {
            CAPTURE(line);
            CHECK(line.size() <= 80);
        }
    }
}

TEST_CASE("every example is accepted as a command") {
    struct Case {
        std::string text;
        std::size_t least;  // examples of the client and of the server
    };
    const Case each =
        GENERATE(Case{client_help(), 3}, Case{server_help(), 3}, Case{source("README.md"), 9},
                 Case{source("app/yodel.1"), 5}, Case{source("app/yodeld.8"), 3});
    const auto client = examples(each.text, "yodel");
    const auto server = examples(each.text, "yodeld");
    CHECK(client.size() + server.size() >= each.least);
    for (const std::string& words : client) {
        CAPTURE(words);
        CHECK(refusal([&] { parse(words_of(words)); }) == "");
    }
    for (const std::string& words : server) {
        CAPTURE(words);
        CHECK(refusal([&] { parse_server(words_of(words)); }) == "");
    }
}
