#include "app/text/escapes.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/random.hpp"
#include "ui/text.hpp"

using namespace std::string_literals;
using namespace yodel;

TEST_CASE("replaces each escape by its byte, and refuses others") {
    CHECK(unescaped("a\\n\\r\\t\\0\\\\\\x7Fz") == "a\n\r\t\0\\\x7fz"s);
    CHECK(unescaped("\\xff") == "\xff");
    for (const char* wrong : {"\\", "a\\", "\\a", "\\x", "\\x4", "\\xg0", "\\x0g", "\\x-1",
                              "\\x 1", "\\X41", "\\x\x14\x11"}) {
        INFO(wrong);
        CHECK_FALSE(unescaped(wrong));
    }
}

TEST_CASE("restores bytes from their escapes") {
    CHECK(escaped("a\n\\\x1b\xff") == "a\\n\\\\\x1b\xff");
    for (int byte = 0; byte < 256; ++byte) {
        const std::string bytes = static_cast<char>(byte) + "0x1"s;
        CHECK(unescaped(escaped(bytes)) == bytes);
    }
}

TEST_CASE("encodes and decodes base64 as its RFC defines, but no part and no other text") {
    const std::pair<std::string, std::string> rows[] = {
        {"", ""},
        {"f", "Zg=="},
        {"fo", "Zm8="},
        {"foo", "Zm9v"},
        {"foob", "Zm9vYg=="},
        {"foobar", "Zm9vYmFy"},
        {"\xff\xfe\0"s, "//4A"},
        {"\xfb\xef\xbe", "++++"},
        {std::string(300, '\0'), std::string(400, 'A')}};
    for (const auto& [bytes, text] : rows) {
        CHECK(ui::base64(bytes) == text);
        CHECK(from_base64(text) == bytes);
    }
    test::Random random(7);
    std::string bytes;
    for (int size = 0; size < 100; ++size, bytes += static_cast<char>(random.next())) {
        const std::string text = ui::base64(bytes);
        REQUIRE(from_base64(text) == bytes);
        for (std::size_t cut = 0; cut < text.size(); ++cut)
            if (cut % 4 != 0) REQUIRE_FALSE(from_base64(text.substr(0, cut)));
    }
    for (const char* wrong : {"Z", "Zg", "Zg=", "Zg===", "Zh==", "Zm9=", "Zm 9v", "Zm9v\n",
                              "Zm9-", "=", "====", "Zg==Zg==", "\xff\xff\xff\xff"}) {
        INFO(wrong);
        CHECK_FALSE(from_base64(wrong));
    }
}
