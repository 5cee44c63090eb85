#include "ui/glyphs.hpp"

#include "tests/ui/locale.hpp"

TEST_CASE("a glyph is ASCII in a locale without UTF-8") {
    const ui::Glyph arrow{"→", ">"};
    {
        const test::Locale utf8("C.UTF-8");
        REQUIRE(arrow.text() == "→");
    }
    const test::Locale c("C");
    REQUIRE(arrow.text() == ">");
}
