#include "app/text/escapes.hpp"

#include "tests/support/catch.hpp"
#include "ui/text.hpp"

#include <random>
#include <string>

using namespace std::string_literals;
using namespace yodel;
using ui::base64;

TEST_CASE("encodes base64 as its RFC defines") {
    const auto [bytes, text] = GENERATE(table<std::string, std::string>({
        {"", ""},
        {"f", "Zg=="},
        {"fo", "Zm8="},
        {"foo", "Zm9v"},
        {"foob", "Zm9vYg=="},
        {"fooba", "Zm9vYmE="},
        {"foobar", "Zm9vYmFy"},
        {"\xff\xfe\0"s, "//4A"},
        {"\xfb\xef\xbe", "++++"},
        {"\0\xff\xfe"s, "AP/+"},
        {std::string(300, '\0'), std::string(400, 'A')},
    }));
    CHECK(base64(bytes) == text);
    CHECK(from_base64(text) == bytes);
}

TEST_CASE("decodes any bytes from base64, and none from a part of it") {
    std::mt19937 random(7);
    for (std::size_t size = 0; size < 100; ++size) {
        std::string bytes(size, '\0');
        for (char& byte : bytes) byte = static_cast<char>(random());
        const std::string text = base64(bytes);
        REQUIRE(from_base64(text) == bytes);
        for (std::size_t cut = 0; cut < text.size(); ++cut)
            if (cut % 4 != 0) REQUIRE_FALSE(from_base64(text.substr(0, cut)));
    }
}

TEST_CASE("refuses a text that is not base64") {
    const std::string text =
        GENERATE("Z", "Zg", "Zg=", "Zg===", "Zh==", "Zm9=", "Zm 9v", "Zm9v\n", "Zm9-", "=",
                 "====", "Zg==Zg==", "\xff\xff\xff\xff");
    CAPTURE(text);
    CHECK_FALSE(from_base64(text));
}
