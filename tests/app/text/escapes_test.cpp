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

TEST_CASE("writes any bytes as text for XML 1.0") {
    const auto [bytes, written] = GENERATE(table<std::string, std::string>({
        {"", ""},
        {"a <b> & \"c\" 'd'", "a &#60;b&#62; &#38; &#34;c&#34; 'd'"},
        {"\na\n\nb\n", "&#10;a&#10;&#10;b&#10;"},
        {"]]>", "]]&#62;"},
        {std::string("\0\t\r\x1b\x7f", 5), "^@^I^M^[^?"},
        {"\xff\xc3", "\\xff\\xc3"},
    }));
    CHECK(xml_text(bytes) == written);
}

TEST_CASE("leaves out the characters that XML 1.0 forbids, in every locale") {
    const std::string locale = GENERATE("C", "C.UTF-8");
    const std::string before = std::setlocale(LC_CTYPE, nullptr);
    std::setlocale(LC_CTYPE, locale.c_str());
    for (const char* each : {"\xef\xbf\xbe", "\xef\xbf\xbf", "\xed\xa0\x80", "\xc2\x85"})
        CHECK(xml_text(each).find_first_not_of("\\uxfefdb8a0c25") == std::string::npos);
    std::setlocale(LC_CTYPE, before.c_str());
}
