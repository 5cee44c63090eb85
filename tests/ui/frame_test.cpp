#include "ui/frame.hpp"

#include "tests/support/catch.hpp"
#include "tests/ui/locale.hpp"
#include "tests/ui/plain_text.hpp"

using test::Locale;
using ui::Layout;
using ui::Row;
using ui::Style;
using Wrap = ui::Layout::Wrap;

TEST_CASE("selectors and joiners after an emoji are left out") {
    const Locale utf8("C.UTF-8");
    Layout layout(80);
    layout.put("❤\ufe0f ☎\ufe0e 👩\u200d💻 a\ufe0f\u200d", Style::normal, {}, Wrap::anywhere);
    CHECK(test::plain_text(layout.rows()[0]) == "❤ ☎ 👩💻 a\\ufe0f\\u200d");
}

TEST_CASE("joins spans of the same style") {
    Row row;
    ui::append(row, "a");
    ui::append(row, "");
    ui::append(row, "b");
    ui::append(row, "c", Style::bad);
    REQUIRE(row == Row{{"ab", Style::normal}, {"c", Style::bad}});
    REQUIRE(test::plain_text(row) == "abc");
}

TEST_CASE("escapes have a style of their own") {
    Row row;
    ui::append_escaped(row, "a\x1b[", Style::good);
    REQUIRE(row == Row{{"a", Style::good}, {"^[", Style::escaped}, {"[", Style::good}});
}

TEST_CASE("rows are truncated and padded by columns") {
    const Locale utf8("C.UTF-8");
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

namespace {

// Returns the rows, separated by |.
std::string text(Layout layout, std::size_t width) {
    std::string all;
    for (const Row& row : layout.rows()) {
        REQUIRE(ui::display_width(row) <= static_cast<int>(width));
        all += '|' + test::plain_text(row);
    }
    return all.substr(1);
}

struct Case {
    const char* body;
    std::size_t width;
    const char* rows;
    Wrap wrap = Wrap::anywhere;
};

}  // namespace

TEST_CASE("text wraps by column, between words, or by line") {
    const Locale utf8("C.UTF-8");
    const Case cases[] = {
        {"", 5, ">  !"},
        {"abc", 10, "> abc !"},
        {"abc", 5, "> abc|  !"},
        {"ab你", 5, "> ab|  你 |  !"},  // a wide character is not split at the last column
        {"ab你", 6, "> ab你|  !"},
        {"e\u0301e\u0301", 4, "> e\u0301e\u0301|  !"},
        {"a\nb", 20, "> a^J|  b !"},
        {"a\n", 20, "> a^J !"},
        {"\x1b\x1b", 5, "> ^[^|  [ !"},  // an escape is split
        {"one two three", 20, "> one two three !", Wrap::words},
        {"one two three", 9, "> one two|  three !", Wrap::words},
        {"one two three", 10, "> one two |  three !", Wrap::words},
        {"one two three", 5, "> one|  two|  thr|  ee |  !", Wrap::words},
        {"one\ntwo\n\n", 9, "> one|  two|   !", Wrap::lines},
        {"one\ntwo", 4, "> on|  e|  tw|  o |  !", Wrap::lines},
    };
    for (const auto& each : cases) {
        INFO(each.body << " in " << each.width);
        Layout layout(each.width);
        layout.put({{"> ", Style::dim}}, Wrap::anywhere);
        layout.indent_next_rows();
        layout.put(each.body, Style::normal, {}, each.wrap);
        layout.put({{" !", Style::good}}, Wrap::words);
        CHECK(text(layout, each.width) == each.rows);
    }
}

TEST_CASE("text without indentation needs only one column") {
    const Locale utf8("C.UTF-8");
    const Case cases[] = {{"你", 1, "?"}, {"\xff", 1, "\\|x|f|f"}, {"ab", 1, "a|b"}};
    for (const auto& each : cases) {
        Layout layout(each.width);
        layout.put(each.body, Style::normal, {}, Wrap::anywhere);
        CHECK(text(layout, each.width) == each.rows);
    }
}

TEST_CASE("finds the row of a unit at every width") {
    for (const std::size_t width : {1U, 2U, 3U, 7U, 80U}) {
        Layout layout(width);
        layout.put("abcdefgh", Style::normal, {}, Wrap::anywhere);
        CHECK(layout.row_of(6) == 6 / width);
        CHECK(layout.first_unit(layout.row_of(6)) == 6 / width * width);
        CHECK(layout.row_of(100) == 7 / width);
    }
}

TEST_CASE("styles are kept, escapes have a style of their own, and marks are stronger") {
    Layout layout(80);
    layout.put("a\x1b", Style::bad, {}, Wrap::anywhere);
    layout.put("bcd\x1b", Style::dim, {1, 2, 0, 1}, Wrap::anywhere);
    layout.put("\n\n\x1b", Style::dim, {0, 2, 2}, Wrap::lines);
    CHECK(layout.rows() == std::vector<Row>{{{"a", Style::bad},
                                             {"^[", Style::escaped},
                                             {"b", Style::match},
                                             {"c", Style::bad_byte},
                                             {"d", Style::dim},
                                             {"^[", Style::escaped}},
                                            {{"^J", Style::bad_byte}},
                                            {{"^[", Style::bad_byte}}});
}

TEST_CASE("a hex dump has rows of its own, with marks in both columns") {
    const std::string blanks(27, ' ');
    Layout layout(77);
    layout.put({{"> "}}, Wrap::anywhere);
    layout.put_hex("0123456789abcdefxyz", Style::normal, {0, 1, 1, 0, 1, 2});
    CHECK(layout.rows() ==
          std::vector<Row>{{{"> "}},
                           {{"00000000  30 "},
                            {"31 32", Style::match},
                            {" 33 "},
                            {"34", Style::match},
                            {" "},
                            {"35", Style::bad_byte},
                            {" 36 37 38 39 61 62 63 64 65 66  |0"},
                            {"12", Style::match},
                            {"3"},
                            {"4", Style::match},
                            {"5", Style::bad_byte},
                            {"6789abcdef|"}},
                           {{"00000010  78 79 7a" + blanks + "              |xyz|"}}});
    Layout part(45);
    part.put_hex("0123456789abcdefxyz", Style::normal, {0, 2}, 16);
    CHECK(part.rows() == std::vector<Row>{{{"00000010  78 "},
                                           {"79", Style::bad_byte},
                                           {" 7a" + std::string(17, ' ') + "|x"},
                                           {"y", Style::bad_byte},
                                           {"z|"}}});
}
