#include "app/protocol/matcher.hpp"

#include "tests/support/catch.hpp"

#include <string>

using yodel::find_framing;
using yodel::first_difference;
using yodel::reply_hint;

TEST_CASE("finds the first byte that differs, or the end of the shorter text") {
    struct Case {
        std::string a, b;
        std::size_t at;
    };
    const std::string zero("a\0b", 3);
    const auto [a, b, at] = GENERATE_COPY(
        Case{"", "", 0}, Case{"", "x", 0}, Case{"x", "y", 0}, Case{"same", "same", 4},
        Case{"same", "samer", 4}, Case{"abc", "abd", 2}, Case{"abc", "xbc", 0},
        Case{zero, zero + "c", 3}, Case{zero, std::string("a\0c", 3), 2},
        Case{std::string(4096, 'm'), std::string(4095, 'm') + "n", 4095});
    CHECK(first_difference(a, b) == at);
    CHECK(first_difference(b, a) == at);
}

TEST_CASE("gives a hint that fits the reply") {
    const auto hint = [](const char* framing, std::string_view reply) {
        return reply_hint(*find_framing(framing), "hello", {.payload = reply, .difference = 0});
    };
    CHECK(hint("line", "he11o").empty());
    CHECK(hint("line", "hell").empty());
    CHECK(hint("line", "HTTP/1.1 400 Bad Request") ==
          "if the service does not echo, use --expect any");
    CHECK(hint("line", "+PONG\r") ==
          "if the service does not echo, use --expect any; if lines end with CRLF, use -C");
    CHECK(hint("line", "hello\r") == "if lines end with CRLF, use -C");
    CHECK(hint("crlf", "hello\r").empty());
    CHECK(hint("len2", std::string("hello\0\5", 7)) ==
          "its length may include its own 2 bytes");
    CHECK(reply_hint(*find_framing("line"), "hello", {.payload = "HTTP"}).empty());
    CHECK(reply_hint(*find_framing("line"), "hello", {.payload = std::string(4097, 'x')}) ==
          "only its first 4096 bytes were examined");
    CHECK(hint("line", "\x15\x03\x01") == "the reply looks like TLS; use --tls");
}
