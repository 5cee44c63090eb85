#include "app/protocol/comparison.hpp"

#include "tests/support/catch.hpp"

using namespace yodel;

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
    const std::string any = "if the service does not echo, use --expect any";
    const std::string crlf = "if lines end with CRLF, use -C";
    const std::string tls = "the reply looks like TLS; use --tls";
    const struct {
        const char* framing;
        std::string reply;
        std::string hint;
    } rows[] = {
        {"line", "he11o", ""},
        {"line", "xello", ""},
        {"line", "hexxx", any},
        {"line", "hello" + std::string(6, 'x'), ""},
        {"line", "he" + std::string(3, 'x'), any},
        {"line", "helxxx", ""},
        {"line", "helxxxx", any},
        {"line", "hell", ""},
        {"line", "HTTP/1.1 400 Bad Request", any},
        {"line", "+PONG\r", any + "; " + crlf},
        {"line", "hello\r", crlf},
        {"crlf", "hello\r", ""},
        {"crlf", "+PONG\r", any},
        {"len2", std::string("hello\0\5", 7), ""},
        {"len2", "helloxyz", ""},
        {"line", "\x15\x03\x01", tls},
        {"line", "\x16\x03\x01", tls},
    };
    for (const auto& [framing, reply, expected] : rows) {
        CAPTURE(framing, reply);
        CHECK(hint(framing, reply) == expected);
    }
    const Framing& line = *find_framing("line");
    CHECK(reply_hint(line, "hello", {.payload = std::string(4096, 'x')}) == "");
    CHECK(reply_hint(line, "hello", {.payload = std::string(4097, 'x')}) ==
          "only its first 4096 bytes were examined");
}

TEST_CASE("compares a reply with the expected one, and names the place") {
    const struct {
        std::string expected;
        std::string reply;
        std::string place;
        const char* mask = nullptr;
    } rows[] = {
        {"hello", "hellO", "at byte 4 (expected o, got O)"},
        {"hello", "hell", "at byte 4 (expected o, got end)"},
        {"hell", "hello", "at byte 4 (expected end, got o)"},
        {"a b", "a~b", "at byte 1 (expected 0x20, got ~)"},
        {"a!b",
         "a\x7f"
         "b",
         "at byte 1 (expected !, got 0x7f)"},
        {"", "x", "at byte 0 (expected end, got x)"},
        {"t1ok", "t456no", "at byte 4 (expected o, got n)", "[0-9]+"},
        {"t456ok", "t1no", "at byte 2 (expected o, got n)", "[0-9]+"},
        {"t456", "t1!", "at byte 2 (expected end, got !)", "[0-9]+"},
    };
    for (const auto& [expected, reply, place, mask] : rows) {
        CAPTURE(expected, reply);
        std::optional<Expression> expression;
        if (mask) expression.emplace(mask);
        const auto* const masked = expression ? &*expression : nullptr;
        const Reply bad = compared_reply(masked, expected, reply, {});
        CHECK_FALSE(bad.right);
        CHECK(bad_byte_text(bad) == place);
        CHECK(compared_reply(masked, expected, expected, {}).right);
    }
    CHECK(bad_byte_text(compared_reply(nullptr, std::nullopt, "x", {})) ==
          "at byte 0 (expected end, got x)");
}

TEST_CASE("describes bytes, differences and stale replies") {
    CHECK(byte_text("a\xff", 0) == "61");
    CHECK(byte_text("a\xff", 1) == "ff");
    CHECK(byte_text("a\xff", 2) == "end");
    CHECK(differs_text(7) == "differs at byte 7");
    CHECK(differs_text({}) == "does not match");
    CHECK(likeness("hello", "hexlo world") == 4);
    CHECK(stale_text("x") ==
          "the server sent \"x\" after a right reply; it answers no message");
}
