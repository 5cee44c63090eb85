// What users write: durations, sizes, targets, options.

#include "app/client_options.hpp"
#include "app/command_line.hpp"
#include "app/text/escapes.hpp"
#include "app/server_options.hpp"
#include "app/target.hpp"
#include "app/text/units.hpp"
#include "tests/support/catch.hpp"

#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>

using namespace std::chrono_literals;
using namespace yodel;

TEST_CASE("durations") {
    struct Case {
        const char* text;
        std::chrono::nanoseconds value;
    };
    const Case each = GENERATE(
        Case{"5", 5s}, Case{"1.5s", 1500ms}, Case{"200ms", 200ms}, Case{"2m", 120s},
        Case{"0.5h", 1800s}, Case{"0", 0s}, Case{"0ms", 0s}, Case{".5", 500ms}, Case{"1.", 1s},
        Case{"1e-3", 1ms}, Case{"200us", 200us}, Case{"1us", 1us}, Case{"0.5us", 500ns},
        Case{"1.5ms", 1500us}, Case{"33us", 33us}, Case{"1.1s", 1100ms}, Case{"0.000001", 1us},
        Case{"0.1m", 6s}, Case{"0.001h", 3600ms}, Case{"1e3us", 1ms}, Case{"876000h", 876000h});
    CAPTURE(each.text);
    CHECK(parse_duration(each.text) == each.value);
}

TEST_CASE("every whole number of a unit is exact") {
    for (int i = 0; i <= 1000; ++i) {
        CHECK(parse_duration(std::to_string(i) + "us") == std::chrono::microseconds(i));
        CHECK(parse_duration(std::to_string(i) + "ms") == std::chrono::milliseconds(i));
        CHECK(parse_duration(std::to_string(i)) == std::chrono::seconds(i));
    }
}

TEST_CASE("what is no duration is refused") {
    const char* const wrong = GENERATE(
        "", "s", "us", "-1", "-0", "1x", "1 s", " 1", "nan", "inf", "1e300", "ms", "1.5.2",
        "0x10", ".", "1e", "+1", "1u", "1sm", "1ss", "1ms ", "1S", "1d", "876601h", "1,5");
    CAPTURE(wrong);
    CHECK_FALSE(parse_duration(wrong));
}

TEST_CASE("chances") {
    CHECK(parse_chance("0") == 0.0);
    CHECK(parse_chance("1") == 1.0);
    CHECK(parse_chance("0.25") == 0.25);
    CHECK(parse_chance("10%") == 0.1);
    CHECK(parse_chance("100%") == 1.0);
    for (const char* wrong :
         {"", "%", "10", "101%", "-1%", " 1%", "0x1p-3", "nan", "1%%", "x"}) {
        CAPTURE(wrong);
        CHECK_FALSE(parse_chance(wrong));
    }
}

TEST_CASE("sizes") {
    CHECK(parse_size("0") == 0u);
    CHECK(parse_size("512") == 512u);
    CHECK(parse_size("64k") == 65536u);
    CHECK(parse_size("32M") == 33554432u);
    CHECK(parse_size("1G") == 1073741824u);
    for (const char* wrong :
         {"", "k", "-1", "1.5k", "1T", "99999999999999999999", "18446744073709551615k",
          "18446744073709551615", "9223372036854775807"}) {
        CAPTURE(wrong);
        CHECK_FALSE(parse_size(wrong));
    }
}

TEST_CASE("durations are told as they are read") {
    CHECK(duration_text(250ms) == "250ms");
    CHECK(duration_text(1500ms) == "1.5s");
    CHECK(duration_text(10s) == "10s");
    CHECK(duration_text(999900us) == "0.9999s");
    CHECK(duration_text(3h) == "10800s");
    CHECK(milliseconds_text(210us) == "0.21");
    CHECK(milliseconds_text(1234us) == "1.2");
    CHECK(milliseconds_text(13s) == "13000");
}

TEST_CASE("escapes") {
    CHECK(unescaped("a\\n\\r\\t\\0\\\\\\x7Fz") == std::string("a\n\r\t\0\\\x7fz", 8));
    for (const char* wrong :
         {"\\", "\\a", "\\x", "\\x4", "\\xg0", "\\x-1", "\\x 1", "\\x\x14\x11"}) {
        CAPTURE(wrong);
        CHECK_FALSE(unescaped(wrong));
    }
}

namespace {

// The words that refuse it; empty: it was accepted.
template <class Parse>
std::string refusal(Parse parse) {
    try {
        parse();
    } catch (const UsageError& error) {
        return error.what();
    }
    return {};
}

}  // namespace

TEST_CASE("targets") {
    struct Case {
        std::vector<std::string> words;
        std::string host;
        std::string service;
        Target::Scheme scheme = Target::Scheme::none;
    };
    const Case each = GENERATE(
        Case{{"h", "7"}, "h", "7"}, Case{{"h:7"}, "h", "7"}, Case{{"[::1]:7"}, "::1", "7"},
        Case{{"::1", "7"}, "::1", "7"}, Case{{"[::1]", "7"}, "::1", "7"},
        Case{{"tcp://h:7"}, "h", "7", Target::Scheme::tcp},
        Case{{"tls://h:7/"}, "h", "7", Target::Scheme::tls},
        Case{{"tls://h", "7"}, "h", "7", Target::Scheme::tls}, Case{{"h:65535"}, "h", "65535"},
        Case{{"TLS://h:7"}, "h", "7", Target::Scheme::tls}, Case{{"tcp:7"}, "tcp", "7"},
        Case{{"tls://[::1]:7"}, "::1", "7", Target::Scheme::tls},
        Case{{"fe80::1%lo", "7"}, "fe80::1%lo", "7"}, Case{{"123", "7"}, "123", "7"});
    const Target target = parse_target(each.words);
    CHECK(target.host == each.host);
    CHECK(target.service == each.service);
    CHECK((target.scheme == each.scheme));
}

TEST_CASE("a unix-domain path is a target") {
    CHECK(parse_target({"unix:/a:b"}).path == "/a:b");
}

TEST_CASE("what is no target is refused, and what would be one is named") {
    struct Case {
        std::vector<std::string> words;
        std::string sentence;
    };
    const std::string neither = " is neither a port nor the name of a service";
    const Case each = GENERATE_COPY(
        Case{{"h"}, "\"h\" has no port: HOST PORT or HOST:PORT is wanted"},
        Case{{""}, "the target is empty"}, Case{{"h:"}, "a port is missing"},
        Case{{":7"}, "a host is missing before \":7\"; this machine is localhost 7"},
        Case{{"7000"}, "a host is missing before \"7000\"; this machine is localhost 7000"},
        Case{{":http"}, "a host is missing"}, Case{{"h", ""}, "a port is missing"},
        Case{{"7000", "localhost"}, "the host comes first: localhost 7000"},
        Case{{"h:0"}, "\"0\" is not a port: they go from 1 to 65535"},
        Case{{"h:65536"}, "\"65536\" is not a port: they go from 1 to 65535"},
        Case{{"h", "99999999999"}, "\"99999999999\" is not a port: they go from 1 to 65535"},
        Case{{"h", "7x"}, "\"7x\"" + neither}, Case{{"h", " 7"}, "\" 7\"" + neither},
        Case{{"h", "+7"}, "\"+7\"" + neither}, Case{{"h", "7.0"}, "\"7.0\"" + neither},
        Case{{"h:7/x"}, "\"7/x\"" + neither},
        Case{{"::1:7"}, "an IPv6 address with a port is written [::1]:7"},
        Case{{"::1"}, "\"::1\" has no port: [::1]:PORT"},
        Case{{"[::1]"}, "\"[::1]\" has no port: HOST PORT or HOST:PORT is wanted"},
        Case{{"a:b:7"}, "\"a:b:7\" is neither HOST:PORT nor [IPV6]:PORT"},
        Case{{"h:7", "8"}, "\"h:7\" is not a host, but a port follows it: 8"},
        Case{{"[]:7"}, "a host is missing"}, Case{{"[]", "7"}, "a host is missing"},
        Case{{"[::1]x:7"}, "\"[::1]x\" is not a host"},
        Case{{"[::1:7"}, "\"[::1\" is not a host"}, Case{{"a b:7"}, "\"a b\" is not a host"},
        Case{{"me@h:7"}, "\"me@h\" is not a host"}, Case{{"h/x", "7"}, "\"h/x\" is not a host"},
        Case{{"ftp://h:7"}, "\"ftp://\" is not spoken here, only tcp:// and tls://"},
        Case{{"udp://h:7"}, "udp:// is not spoken yet, only tcp:// and tls://"},
        Case{{"tls://"}, "tls:// needs a host and a port, as in tls://localhost:7000"},
        Case{{"tcp:///"}, "tcp:// needs a host and a port, as in tcp://localhost:7000"},
        Case{{"tcp:h:7"}, "\"tcp:h:7\" is written tcp://h:7"},
        Case{{"tls:/h:7"}, "\"tls:/h:7\" is written tls://h:7"},
        Case{{"tls:h", "7"}, "\"tls:h\" is written tls://h"},
        Case{{"a", "1", "2"}, "\"2\" is one argument too many"},
        Case{{"unix:"}, "unix: needs a path"},
        Case{{"unix:/s", "7"}, "\"unix:/s\" is a target without a port"});
    CAPTURE(each.words);
    CHECK(refusal([&] { parse_target(each.words); }) == each.sentence);
}

TEST_CASE("a port alone is listened to on the loopback") {
    CHECK(parse_listening_target("0").host == "127.0.0.1");
    CHECK(parse_listening_target("0.0.0.0:7").host == "0.0.0.0");
    CHECK(parse_listening_target("[::]:7").host == "::");
}

TEST_CASE("what can't be listened on is refused, and what could be is named") {
    const auto [word, sentence] = GENERATE(table<std::string, std::string>(
        {{"70000", "\"70000\" is not a port: they go from 0 to 65535"},
         {"", "a port is missing"},
         {":7", "an address is missing"},
         {"[]:7", "an address is missing"},
         {"localhost", "\"localhost\" is neither a port nor ADDR:PORT"},
         {"::1", "\"::1\" has no port: [::1]:PORT"},
         {"tcp://127.0.0.1:7", "\"tcp://127.0.0.1:7\" is written 127.0.0.1:7"},
         {"tls://[::1]:7", "\"tls://[::1]:7\" is written --tls [::1]:7"},
         {"tcp:127.0.0.1:7", "\"tcp:127.0.0.1:7\" is written 127.0.0.1:7"},
         {"tcp://", "\"tcp://\" is not [ADDR:]PORT"},
         {"http://h:7", "\"http://h:7\" is not [ADDR:]PORT"},
         {"udp://h:7", "\"udp://h:7\" is not [ADDR:]PORT"},
         {"unix:/s", "\"unix:/s\" is written -U /s"}}));
    CAPTURE(word);
    CHECK(refusal([&, &word = word] { parse_listening_target(word); }) == sentence);
}

namespace {

template <class Options>
Options parse_by(Options (*parser)(int, char*[]), std::vector<std::string> words) {
    words.insert(words.begin(), "program");
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    return parser(static_cast<int>(words.size()), argv.data());
}

ClientOptions parse(const std::vector<std::string>& words) {
    return parse_by(parse_client_options, words);
}

ServerOptions parse_server(const std::vector<std::string>& words) {
    return parse_by(parse_server_options, words);
}

std::vector<std::string> words_of(const std::string& text) {
    std::istringstream stream(text);
    return {std::istream_iterator<std::string>(stream), {}};
}

std::string contents(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(SOURCES "/" + file).rdbuf();
    return text.str();
}

}  // namespace

TEST_CASE("options reach what they are for") {
    const ClientOptions options =
        parse({"--tls", "-w", "3", "-W", "200ms", "-f", "len4le", "--window", "7", "h", "7"});
    CHECK(options.use_tls);
    CHECK(options.session.connect_timeout == 3s);
    CHECK(options.session.reply_timeout == 200ms);
    CHECK(options.session.framing->name == "len4le");
    CHECK(options.window == 7);
    CHECK(parse({"--scrollback", "7"}).scrollback == 7);
    CHECK_FALSE(options.own_server);
    CHECK(parse({"--retry", "forever", "--retry-delay", "2", "h:7"}).retries ==
          Session::forever);
    CHECK_FALSE(parse({"h:7"}).retries);
    CHECK(parse({}).own_server);
    CHECK(parse({"tls://h:7"}).use_tls);
    CHECK((parse({"-C", "h:7"}).session.framing->name == "crlf"));
}

TEST_CASE("options that contradict each other are refused") {
    const std::vector<std::string> words = GENERATE(
        std::vector<std::string>{"--tls", "tcp://h:7"}, std::vector<std::string>{"-k", "h:7"},
        std::vector<std::string>{"--cacert", "f", "h:7"},
        std::vector<std::string>{"--tls", "--key", "f", "h:7"},
        std::vector<std::string>{"--tls", "--tls-min", "1.3", "--tls-max", "1.2", "h:7"},
        std::vector<std::string>{"--tls", "--tls-min", "1.1", "h:7"},
        std::vector<std::string>{"-U", "p", "h:7"},
        std::vector<std::string>{"--tls", "--pinnedpubkey", "sha256//short", "h:7"},
        std::vector<std::string>{"--tls", "--crl", "f", "--pinnedpubkey",
                                 "sha256//" + std::string(44, 'A'), "h:7"},
        std::vector<std::string>{"--tls", "--verify-hostname", ".test", "h:7"},
        std::vector<std::string>{"--tls", "--verify-hostname", "localhost%evil", "h:7"},
        std::vector<std::string>{"--tls", "--verify-hostname", "*", "h:7"},
        std::vector<std::string>{"--tls", "--servername", ".", "h:7"},
        std::vector<std::string>{"--tls", ".test", "7"}, std::vector<std::string>{"tls://%x:7"},
        std::vector<std::string>{"tls://a..b:7"},
        std::vector<std::string>{"--window", "0", "h:7"},
        std::vector<std::string>{"--scrollback", "0", "h:7"},
        std::vector<std::string>{"--scrollback", "many", "h:7"},
        std::vector<std::string>{"--retry", "often", "h:7"},
        std::vector<std::string>{"--json", "-x", "h:7"},
        std::vector<std::string>{"-z", "-c", "1", "h:7"},
        std::vector<std::string>{"-c", "1", "--escapes", "h:7"},
        std::vector<std::string>{"-f", "raw", "--escapes", "h:7"},
        std::vector<std::string>{"-c", "0", "h:7"},
        std::vector<std::string>{"-f", "raw", "--size", "0", "h:7"},
        std::vector<std::string>{"-f", "len1", "--size", "256", "h:7"});
    CHECK_THROWS_AS(parse(words), UsageError);
}

TEST_CASE("a mistake in an option is answered with the option's name, as it was written") {
    const auto [words, sentence] = GENERATE(table<std::string, std::string>({
        {"-w localhost 7000", "-w: \"localhost\" is not a duration such as 1.5s, 200ms or 2m"},
        {"--connect-timeout=x h 7",
         "--connect-timeout: \"x\" is not a duration such as 1.5s, 200ms or 2m"},
        {"-nWx h 7", "-W: \"x\" is not a duration such as 1.5s, 200ms or 2m"},
        {"-f json h 7", "-f: \"json\" is no framing; there are " + framing_names()},
        {"--expect reply h 7", "--expect: \"reply\" is not one of echo, any, none"},
        {"--color=blue", "--color: \"blue\" is not one of auto, always, never"},
        {"--alpn ,h2", "--alpn: a protocol's name has 1 to 255 bytes"},
        {"-p 0 h 7", "-p: \"0\" is not a port, from 1 to 65535"},
        {"-s me h 7", "-s: \"me\" is not a numeric address"},
        {"--window 0 h 7", "--window: \"0\" is not a number from 1 to 1000000"},
        {"--size 1.5k", "--size: \"1.5k\" is not a size such as 512, 64k or 32M"},
        {"--json=true", "--json takes no value"},
        {"--json=", "--json takes no value"},
        {"--window= h 7", "--window needs an argument that is not empty"},
        {"h 7 --size", "--size needs an argument"},
        {"h 7 -vw", "-w needs an argument"},
        {"--cac f h 7", "there is no option --cac; --cacert is meant?"},
        {"--ca f h 7", "there is no option --ca; --cacert or --capath is meant?"},
        {"--cacerts f h 7", "there is no option --cacerts"},
        {"--nonsense=7", "there is no option --nonsense"},
        {"--tls -Xv", "there is no option -X"},
        {"-vX", "there is no option -X"},
        {"-tls h 7", "there is no option -t; --tls has two dashes"},
        {"-46 h 7", "-6: -4 and -6 exclude each other"},
        {"-6 -4 h 7", "-4: -4 and -6 exclude each other"},
        {"-6 127.0.0.1 7", "-6: \"127.0.0.1\" is not an IPv6 address"},
        {"-4 [::1]:7", "-4: \"::1\" is not an IPv4 address"},
        {"-s ::1 127.0.0.1 7", "-s ::1 and 127.0.0.1 are not of one family"},
        {"--cacert f h 7", "--cacert is given, but not --tls"},
        {"-E f --key f h 7", "-E is given, but not --tls"},
        {"-k h 7", "-k is given, but not --tls"},
    }));
    CAPTURE(words);
    CHECK(refusal([&, &words = words] { parse(words_of(words)); }) == sentence);
}

TEST_CASE("the server's mistakes are answered likewise") {
    const auto [words, sentence] = GENERATE(table<std::string, std::string>({
        {"--drop 10 7", "--drop: \"10\" is not a chance such as 0.1 or 10%, up to 1"},
        {"--delay 1s~x 7", "--delay: \"x\" is not a duration such as 1.5s, 200ms or 2m"},
        {"--seed=-1 7", "--seed: \"-1\" is not a whole number"},
        {"-m 0 7", "-m: \"0\" is not a number of connections, from 1 to 1000000"},
        {"--banner \\q 7",
         "--banner: after a backslash come n, r, t, 0, another one, or x and two digits"},
        {"-6 127.0.0.1:7", "-6: \"127.0.0.1\" is not an IPv6 address"},
        {"-4 [::]:7", "-4: \"::\" is not an IPv4 address"},
        {"-64 7", "-4: -4 and -6 exclude each other"},
        {"--cert f 7", "--cert is given, but not --tls"},
        {"--stall-handshake 7", "--stall-handshake is given, but not --tls"},
        {"localhost 7", "\"localhost\" is neither a port nor ADDR:PORT"},
    }));
    CAPTURE(words);
    CHECK(refusal([&, &words = words] { parse_server(words_of(words)); }) == sentence);
}

TEST_CASE("options may stand behind other words, up to --") {
    CHECK(parse({"h", "-n", "7", "-vCx"}).session.endpoint.numeric);
    CHECK(parse({"-W2", "h", "7"}).session.reply_timeout == 2s);
    CHECK(parse({"--reply-timeout=2", "h", "7"}).session.reply_timeout == 2s);
    CHECK(parse({"--", "-h", "7"}).session.endpoint.host == "-h");
    CHECK(refusal([] { parse({"-"}); }) ==
          "\"-\" has no port: HOST PORT or HOST:PORT is wanted");
}

TEST_CASE("what stands after --help or --version is not read") {
    CHECK(parse({"--help", "--nonsense"}).help);
    CHECK(parse({"-hX", "a", "b", "c"}).help);
    CHECK_FALSE(parse({"-V", "-h"}).help);
    CHECK(parse_server({"--version", "--nonsense"}).version);
    CHECK(refusal([] { parse({"--nonsense", "--help"}); }) == "there is no option --nonsense");
}

TEST_CASE("every option stands in the help, within 80 columns") {
    const std::string help = client_help();
    for (const char* option :
         {"-4", "--tls", "--cacert FILE", "-f, --framing F", "-V, --version"})
        CHECK(help.find(option) != std::string::npos);
    for (const std::string& text : {client_help(), server_help()}) {
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) {
            CAPTURE(line);
            CHECK(line.size() <= 80);
        }
    }
}

namespace {

// The commands of one of the programs in the examples of a text, each without the program's
// name: as they are indented, or behind .Dl, up to a pipe, a redirection or a remark.
std::vector<std::string> examples(const std::string& text, const std::string& program) {
    const std::regex pattern("(?:\n {2,4}|\n\\.Dl |\\| )" + program +
                             "((?: [^ \n|<>#]+)*)(?=\n|  | [|<>#])");
    std::vector<std::string> found;
    for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it)
        found.push_back((*it)[1]);
    return found;
}

}  // namespace

TEST_CASE("every example is a command that is accepted") {
    struct Case {
        std::string text;
        std::size_t least;  // examples of the client and of the server
    };
    const Case each =
        GENERATE(Case{client_help(), 3}, Case{server_help(), 3}, Case{contents("README.md"), 9},
                 Case{contents("app/yodel.1"), 5}, Case{contents("app/yodeld.8"), 3});
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
