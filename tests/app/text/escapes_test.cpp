#include "app/text/escapes.hpp"

#include "tests/support/catch.hpp"

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
