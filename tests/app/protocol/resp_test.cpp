#include "app/protocol/resp.hpp"

#include "tests/support/catch.hpp"

using namespace std::string_literals;
using namespace yodel;

TEST_CASE("a Redis value is shown as redis-cli shows it, once it is complete") {
    const auto [bytes, text] = GENERATE(table<std::string, std::string>({
        {"+OK\r\n", "OK"},
        {"-ERR unknown command\r\n", "(error) ERR unknown command"},
        {":-5\r\n", "(integer) -5"},
        {",3.14\r\n", "(double) 3.14"},
        {"(12345678901234567890\r\n", "(bignum) 12345678901234567890"},
        {"#t\r\n", "(true)"},
        {"#f\r\n", "(false)"},
        {"_\r\n", "(nil)"},
        {"$-1\r\n", "(nil)"},
        {"*-1\r\n", "(nil)"},
        {"$0\r\n\r\n", R"("")"},
        {"$4\r\nPONG\r\n", R"("PONG")"},
        {"$4\r\n\r\n\r\n\r\n", R"("\r\n\r\n")"},
        {"$10\r\n\\\"\n\r\t\a\b\0\x7f\xff\r\n"s, R"("\\\"\n\r\t\a\b\x00\x7f\xff")"},
        {"!9\r\nERR\r\nline\r\n", "(error) ERR\r\nline"},
        {"=7\r\ntxt:a\nb\r\n", "a\nb"},
        {"*0\r\n", "(empty array)"},
        {"~0\r\n", "(empty set)"},
        {"%0\r\n", "(empty hash)"},
        {">0\r\n", "(empty push)"},
        {"*2\r\n$1\r\na\r\n$-1\r\n", "1) \"a\"\n2) (nil)"},
        {"*2\r\n*2\r\n:1\r\n*1\r\n+b\r\n-c\r\n", "1) 1) (integer) 1\n   2) 1) b\n2) (error) c"},
        {"*10\r\n*2\r\n_\r\n_\r\n_\r\n_\r\n_\r\n_\r\n_\r\n_\r\n_\r\n_\r\n_\r\n",
         " 1) 1) (nil)\n    2) (nil)\n 2) (nil)\n 3) (nil)\n 4) (nil)\n 5) (nil)\n 6) (nil)\n"
         " 7) (nil)\n 8) (nil)\n 9) (nil)\n10) (nil)"},
        {"~2\r\n+a\r\n+b\r\n", "1~ a\n2~ b"},
        {"%2\r\n+k\r\n:1\r\n+l\r\n*2\r\n+a\r\n+b\r\n",
         "1# k => (integer) 1\n2# l => 1) a\n   2) b"},
        {">2\r\n$7\r\nmessage\r\n+a\r\n", "1) \"message\"\n2) a"},
        {"|1\r\n+ttl\r\n:5\r\n*1\r\n+a\r\n", "1) a"},
    }));
    CHECK(resp_text(bytes) == text);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        CAPTURE(bytes, size);
        CHECK(resp_text(bytes.substr(0, size)) == std::nullopt);
    }
    CHECK(resp_text(bytes + "+") == std::nullopt);
}

TEST_CASE("bytes that are no Redis value, or nested too deep, are not shown as one") {
    const std::string bytes = GENERATE(
        "PING\r\n", "\r\n", "$x\r\na\r\n", "$-2\r\n", "$1\r\nab\r\n", "!-1\r\n",
        "*1000000000000000000\r\n", "|18446744073709551615\r\n", "$18446744073709551615\r\n");
    CHECK(resp_text(bytes) == std::nullopt);
    const auto nested = [](std::size_t levels) {
        std::string text;
        for (std::size_t i = 0; i < levels; ++i) text += "*1\r\n";
        return resp_text(text + "_\r\n");
    };
    CHECK(nested(32));
    CHECK_FALSE(nested(33));
    CHECK_FALSE(nested(1'000'000));
}
