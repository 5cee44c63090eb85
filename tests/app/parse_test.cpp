// What users write: durations, sizes, targets, options.

#include "app/client_options.hpp"
#include "app/command_line.hpp"
#include "app/escapes.hpp"
#include "app/target.hpp"
#include "app/units.hpp"
#include "tests/support/catch.hpp"

#include <getopt.h>

using namespace std::chrono_literals;
using namespace yodel;

TEST_CASE("durations") {
    CHECK(parse_duration("5") == 5s);
    CHECK(parse_duration("1.5s") == 1500ms);
    CHECK(parse_duration("200ms") == 200ms);
    CHECK(parse_duration("2m") == 120s);
    CHECK(parse_duration("0.5h") == 1800s);
    CHECK(parse_duration("0") == 0s);
    CHECK(parse_duration(".5") == 500ms);
    CHECK(parse_duration("1e-3") == 1ms);
    for (const char* wrong : {"", "s", "-1", "1x", "1 s", " 1", "nan", "inf", "1e300", "ms",
                              "1.5.2", "0x10", "."}) {
        CAPTURE(wrong);
        CHECK_FALSE(parse_duration(wrong));
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
        Case{{"tls://h", "7"}, "h", "7", Target::Scheme::tls}, Case{{"h:65535"}, "h", "65535"});
    const Target target = parse_target(each.words);
    CHECK(target.host == each.host);
    CHECK(target.service == each.service);
    CHECK((target.scheme == each.scheme));
}

TEST_CASE("a unix-domain path is a target") {
    CHECK(parse_target({"unix:/a:b"}).path == "/a:b");
}

TEST_CASE("what is no target is refused") {
    const std::vector<std::string> words = GENERATE(
        std::vector<std::string>{"h"}, std::vector<std::string>{""},
        std::vector<std::string>{"h:"}, std::vector<std::string>{":7"},
        std::vector<std::string>{"h", ""}, std::vector<std::string>{"h:0"},
        std::vector<std::string>{"h:65536"}, std::vector<std::string>{"h", "99999999999"},
        std::vector<std::string>{"::1:7"}, std::vector<std::string>{"[::1]"},
        std::vector<std::string>{"ftp://h:7"}, std::vector<std::string>{"a", "1", "2"},
        std::vector<std::string>{"unix:"}, std::vector<std::string>{"h", "7x"});
    CHECK_THROWS_AS(parse_target(words), UsageError);
}

TEST_CASE("a port alone is listened to on the loopback") {
    CHECK(parse_listening_target("0").host == "127.0.0.1");
    CHECK(parse_listening_target("0.0.0.0:7").host == "0.0.0.0");
    CHECK(parse_listening_target("[::]:7").host == "::");
    CHECK_THROWS_AS(parse_listening_target("70000"), UsageError);
    CHECK_THROWS_AS(parse_listening_target(":7"), UsageError);
    CHECK_THROWS_AS(parse_listening_target("[]:7"), UsageError);
}

namespace {

ClientOptions parse(std::vector<std::string> words) {
    words.insert(words.begin(), "yodel");
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    optind = 0;  // getopt starts anew
    return parse_client_options(static_cast<int>(words.size()), argv.data());
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

TEST_CASE("every option stands in the help") {
    const std::string help = client_help();
    for (const char* option :
         {"-4", "--tls", "--cacert FILE", "-f, --framing F", "-V, --version"})
        CHECK(help.find(option) != std::string::npos);
}
