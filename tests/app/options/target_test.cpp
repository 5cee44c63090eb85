#include "app/options/target.hpp"

#include "tests/app/options/parsing.hpp"
#include "tests/support/catch.hpp"

using namespace yodel;
using test::refusal;

TEST_CASE("a target is a host and a port in several forms") {
    struct Case {
        std::vector<std::string> words;
        std::string host;
        std::string service;
        std::string_view scheme = {};
    };
    const Case each = GENERATE(
        Case{{"h", "7"}, "h", "7"}, Case{{"h:7"}, "h", "7"}, Case{{"[::1]:7"}, "::1", "7"},
        Case{{"::1", "7"}, "::1", "7"}, Case{{"[::1]", "7"}, "::1", "7"},
        Case{{"tcp://h:7"}, "h", "7", "tcp://"}, Case{{"tls://h:7/"}, "h", "7", "tls://"},
        Case{{"udp://h:7"}, "h", "7", "udp://"}, Case{{"tls://h", "7"}, "h", "7", "tls://"},
        Case{{"h:65535"}, "h", "65535"}, Case{{"TLS://h:7"}, "h", "7", "tls://"},
        Case{{"tcp:7"}, "tcp", "7"}, Case{{"tls://[::1]:7"}, "::1", "7", "tls://"},
        Case{{"fe80::1%lo", "7"}, "fe80::1%lo", "7"}, Case{{"123", "7"}, "123", "7"});
    const Target target = parse_target(each.words);
    CHECK(target.host == each.host);
    CHECK(target.service == each.service);
    CHECK((target.scheme ? target.scheme->written : "") == each.scheme);
}

TEST_CASE("a WebSocket target has a path and a default port") {
    struct Case {
        std::vector<std::string> words;
        std::string host;
        std::string service;
        std::string resource;
        std::string_view scheme = "ws://";
    };
    const Case each = GENERATE(
        Case{{"ws://h"}, "h", "80", "/"}, Case{{"ws://h/"}, "h", "80", "/"},
        Case{{"wss://h"}, "h", "443", "/", "wss://"},
        Case{{"WSS://h:7/a/b?c=d&e=/"}, "h", "7", "/a/b?c=d&e=/", "wss://"},
        Case{{"ws://h?q"}, "h", "80", "/?q"}, Case{{"ws://[::1]"}, "::1", "80", "/"},
        Case{{"ws://[::1]:7/x:y"}, "::1", "7", "/x:y"}, Case{{"ws://h/x", "7"}, "h", "7", "/x"},
        Case{{"ws://::1", "7"}, "::1", "7", "/"});
    CAPTURE(each.words);
    const Target target = parse_target(each.words);
    CHECK(target.host == each.host);
    CHECK(target.service == each.service);
    CHECK(target.resource == each.resource);
    CHECK((target.scheme ? target.scheme->written : "") == each.scheme);
}

TEST_CASE("an invalid WebSocket target is refused") {
    struct Case {
        std::string word;
        std::string sentence;
    };
    const std::string no_path = " is not a path: write %20 for a space, and no fragment (#)";
    const Case each = GENERATE_COPY(
        Case{"ws://", "ws:// needs an address, as in ws://localhost:7000"},
        Case{"ws:///x", "a host is missing"}, Case{"ws://:7", "a host is missing"},
        Case{"ws://h:/x", "a port is missing"},
        Case{"ws://h:0", "\"0\" is not a port from 1 to 65535"},
        Case{"ws://h/a b", "\"/a b\"" + no_path}, Case{"ws://h#top", "\"#top\"" + no_path},
        Case{"ws://h/\r\nX: y", "\"/\r\nX: y\"" + no_path},
        Case{"ws://me@h", "\"me@h\" is not a host"},
        Case{"ws://::1", "\"::1\" needs a port: write [::1]:PORT"},
        Case{"ws:h:7", "\"ws:h:7\" must be written ws://h:7"});
    CHECK(refusal([&] { parse_target({each.word}); }) == each.sentence);
}

TEST_CASE("a unix-domain path is a target") {
    CHECK(parse_target({"unix:/a:b"}).path == "/a:b");
}

TEST_CASE("an invalid target is refused with the right form") {
    struct Case {
        std::vector<std::string> words;
        std::string sentence;
    };
    const std::string neither = " is neither a port nor the name of a service";
    const Case each = GENERATE_COPY(
        Case{{"h"}, "\"h\" needs a port: write HOST PORT or HOST:PORT"},
        Case{{""}, "the target is empty"}, Case{{"h:"}, "a port is missing"},
        Case{{":7"}, "a host is missing before \":7\"; for this machine write localhost 7"},
        Case{{"7000"},
             "a host is missing before \"7000\"; for this machine write localhost 7000"},
        Case{{":http"}, "a host is missing"}, Case{{"h", ""}, "a port is missing"},
        Case{{"7000", "localhost"}, "the host must come first: localhost 7000"},
        Case{{"h:0"}, "\"0\" is not a port from 1 to 65535"},
        Case{{"h:65536"}, "\"65536\" is not a port from 1 to 65535"},
        Case{{"h", "99999999999"}, "\"99999999999\" is not a port from 1 to 65535"},
        Case{{"h", "7x"}, "\"7x\"" + neither}, Case{{"h", " 7"}, "\" 7\"" + neither},
        Case{{"h", "+7"}, "\"+7\"" + neither}, Case{{"h", "7.0"}, "\"7.0\"" + neither},
        Case{{"h:7/x"}, "\"7/x\"" + neither},
        Case{{"::1:7"}, "write an IPv6 address with a port as [::1]:7"},
        Case{{"::1"}, "\"::1\" needs a port: write [::1]:PORT"},
        Case{{"[::1]"}, "\"[::1]\" needs a port: write HOST PORT or HOST:PORT"},
        Case{{"a:b:7"}, "\"a:b:7\" is neither HOST:PORT nor [IPV6]:PORT"},
        Case{{"h:7", "8"}, "\"h:7\" is not a host, but a port follows it: 8"},
        Case{{"[]:7"}, "a host is missing"}, Case{{"[]", "7"}, "a host is missing"},
        Case{{"[::1]x:7"}, "\"[::1]x:7\" is neither HOST:PORT nor [IPV6]:PORT"},
        Case{{"[::1:7"}, "\"[::1:7\" is neither HOST:PORT nor [IPV6]:PORT"},
        Case{{"ws://[::1/x"}, "\"[::1\" is neither HOST:PORT nor [IPV6]:PORT"},
        Case{{"a b:7"}, "\"a b\" is not a host"}, Case{{"me@h:7"}, "\"me@h\" is not a host"},
        Case{{"h/x", "7"}, "\"h/x\" is not a host"},
        Case{{"ftp://h:7"},
             "\"ftp://\" is not supported; use tcp://, tls://, udp://, ws:// or wss://"},
        Case{{"tls://"}, "tls:// needs an address, as in tls://localhost:7000"},
        Case{{"tcp:///"}, "tcp:// needs an address, as in tcp://localhost:7000"},
        Case{{"tcp:h:7"}, "\"tcp:h:7\" must be written tcp://h:7"},
        Case{{"tls:/h:7"}, "\"tls:/h:7\" must be written tls://h:7"},
        Case{{"tls:h", "7"}, "\"tls:h\" must be written tls://h"},
        Case{{"a", "1", "2"}, "unexpected argument \"2\""},
        Case{{"unix:"}, "unix: needs a path"},
        Case{{"unix:/s", "7"}, "\"unix:/s\" takes no port"});
    CAPTURE(each.words);
    CHECK(refusal([&] { parse_target(each.words); }) == each.sentence);
}

TEST_CASE("a server listens on the loopback if only a port is given") {
    CHECK(parse_listening_target("0").host == "127.0.0.1");
    CHECK(parse_listening_target("0.0.0.0:7").host == "0.0.0.0");
    CHECK(parse_listening_target("[::]:7").host == "::");
}

TEST_CASE("an invalid listening address is refused with the right form") {
    const auto [word, sentence] = GENERATE(table<std::string, std::string>(
        {{"70000", "\"70000\" is not a port from 0 to 65535"},
         {"", "a port is missing"},
         {":7", "an address is missing"},
         {"[]:7", "an address is missing"},
         {"localhost", "\"localhost\" is neither a port nor ADDR:PORT"},
         {"::1", "\"::1\" needs a port: write [::1]:PORT"},
         {"tcp://127.0.0.1:7", "\"tcp://127.0.0.1:7\" must be written 127.0.0.1:7"},
         {"tls://[::1]:7", "\"tls://[::1]:7\" must be written --tls [::1]:7"},
         {"tcp:127.0.0.1:7", "\"tcp:127.0.0.1:7\" must be written 127.0.0.1:7"},
         {"tcp://", "\"tcp://\" is not [ADDR:]PORT"},
         {"http://h:7", "\"http://h:7\" is not [ADDR:]PORT"},
         {"ws://h:7", "\"ws://h:7\" must be written --ws h:7"},
         {"wss://h:7", "\"wss://h:7\" must be written --ws --tls h:7"},
         {"udp://h:7", "\"udp://h:7\" must be written -u h:7"},
         {"unix:/s", "\"unix:/s\" must be written -U /s"}}));
    CAPTURE(word);
    CHECK(refusal([&, &word = word] { parse_listening_target(word); }) == sentence);
}
