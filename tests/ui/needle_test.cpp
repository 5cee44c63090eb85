#include "ui/needle.hpp"

#include "tests/support/catch.hpp"
#include "tests/ui/locale.hpp"

#include <string>
#include <vector>

using test::Locale;
using ui::Marks;
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
    CHECK(Needle(text).in(bytes) == found);
    CHECK(Needle(text).runs(bytes).empty() != found);
}

TEST_CASE("finds a character whose lower case has another size only unchanged") {
    const Locale utf8("C.UTF-8");
    CHECK(Needle("\u212a").in("a \u212a"));  // the kelvin sign, whose lower case is k
    CHECK(Needle("\u0130").in("\u0130"));
}

TEST_CASE("returns matches as runs of bytes") {
    using Runs = std::vector<Needle::Run>;
    CHECK(Needle("one").runs("one two ONE") == Runs{{0, 3}, {8, 11}});
    CHECK(Needle("aa").runs("aaaa baa") == Runs{{0, 4}, {6, 8}});
    CHECK(Needle("ab").runs("abab") == Runs{{0, 4}});
}

TEST_CASE("marks a cell if one of its bytes is in a run") {
    Marks marks({{2, 4}, {7, 8}});
    const std::vector<bool> expected{false, false, true, true, false,
                                     false, false, true, false};
    for (std::size_t at = 0; at < expected.size(); ++at)
        CHECK(marks.touch(at, at + 1) == expected[at]);
    CHECK(Marks({{2, 4}}).touch(0, 3));
    CHECK_FALSE(Marks({{2, 4}}).touch(0, 2));
}
