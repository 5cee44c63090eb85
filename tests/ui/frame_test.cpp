#include "ui/frame.hpp"

#include "tests/ui/locale.hpp"

using ui::Row;
using ui::Style;

TEST_CASE("joins spans of the same style") {
    Row row;
    ui::append(row, "a");
    ui::append(row, "");
    ui::append(row, "b");
    ui::append(row, "c", Style::bad);
    REQUIRE(row == Row{{"ab", Style::normal}, {"c", Style::bad}});
    REQUIRE(ui::plain_text(row) == "abc");
}

TEST_CASE("escapes have a style of their own") {
    Row row;
    ui::append_bytes(row, "a\x1b[", Style::good);
    REQUIRE(row == Row{{"a", Style::good}, {"^[", Style::escaped}, {"[", Style::good}});
}

TEST_CASE("rows are truncated and padded by columns") {
    const test::Locale utf8("C.UTF-8");
    const Row row{{"a你", Style::normal}, {"bc", Style::bold}};
    REQUIRE(ui::display_width(row) == 5);
    for (int width = 0; width < 8; ++width) {
        auto changed = row;
        ui::truncate(changed, width);
        REQUIRE(ui::display_width(changed) == (width == 2 ? 1 : std::min(width, 5)));
        ui::pad(changed, width);
        REQUIRE(ui::display_width(changed) == width);
    }
    auto none = row;
    ui::truncate(none, 0);
    REQUIRE(none.empty());
}
