#include "app/text/escapes.hpp"

#include "tests/support/catch.hpp"

#include <clocale>

using namespace yodel;

TEST_CASE("replaces each escape by its byte, and refuses others") {
    CHECK(unescaped("a\\n\\r\\t\\0\\\\\\x7Fz") == std::string("a\n\r\t\0\\\x7fz", 8));
    for (const char* wrong :
         {"\\", "\\a", "\\x", "\\x4", "\\xg0", "\\x-1", "\\x 1", "\\x\x14\x11"}) {
        CAPTURE(wrong);
        CHECK_FALSE(unescaped(wrong));
    }
}
