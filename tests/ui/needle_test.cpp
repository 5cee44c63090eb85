#include "ui/needle.hpp"

#include "tests/ui/locale.hpp"

using test::Locale;
using ui::Needle;

TEST_CASE("a search ignores case unless its text contains capitals") {
    const Locale utf8("C.UTF-8");
    const auto [text, bytes, found] = GENERATE(table<std::string, std::string, bool>({
        {"error", "an Error", true},
        {"error", "ERROR", true},
        {"Error", "an Error", true},
        {"Error", "an error", false},
        {"eRROR", "ERROR", false},
        {"é", "CAFÉ", true},
        {"É", "café", false},
        {"жук", "ЖУК", true},
        {"你", "你好", true},
        {"12 x", "12 X", true},
        {"az", "AZ", true},
        {"`{", "@[", false},
        {"\xff", "a\xff", true},
        {"\xe9", "\xc9", false},  // not UTF-8, so not letters
        {"a\xc3", "A\xc3", true},
        {"", "", false},
        {"", "a", false},
        {"longer than it", "longer", false},
    }));
    CAPTURE(text, bytes);
    CHECK(Needle(text).is_in(bytes) == found);
}

TEST_CASE("finds a character whose lower case has another size only unchanged") {
    const Locale utf8("C.UTF-8");
    CHECK(Needle("\u212a").is_in("a \u212a"));  // the kelvin sign, whose lower case is k
    CHECK(Needle("\u0130").is_in("\u0130"));
}

TEST_CASE("marks the bytes of matches") {
    const auto [text, bytes, marks] = GENERATE(table<std::string, std::string, std::string>({
        {"one", "one two ONE", "###.....###"},
        {"aa", "aaaa baa", "####..##"},
        {"ab", "abab", "####"},
        {"aba", "ababa-aba", "#####.###"},
    }));
    CAPTURE(text, bytes);
    std::string found;
    for (const char mark : Needle(text).marks(bytes)) found += mark != 0 ? '#' : '.';
    CHECK(found == marks);
}
