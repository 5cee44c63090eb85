#include "ui/page.hpp"

#include "tests/support/catch.hpp"

#include <string>
#include <vector>

namespace {

using ui::KeyCode;
using ui::Page;
using ui::Row;

// Returns a page of rows that begin with their numbers, from 0.
Page numbered(int count) {
    return Page([count](int) {
        std::vector<Row> rows;
        for (int i = 0; i < count; ++i) rows.push_back({{std::to_string(i) + "abc"}});
        return rows;
    });
}

// Returns the first column of the visible rows as one line.
std::string seen(Page& page, int height) {
    std::string text;
    for (const Row& row : page.rows(1, height)) text += ui::plain_text(row);
    return text;
}

bool press(Page& page, KeyCode code, int height) {
    return page.press({ui::plain(code), {}}, height);
}

}  // namespace

TEST_CASE("scrolls a page by rows and by windows, within its ends") {
    Page page = numbered(8);
    REQUIRE(seen(page, 3) == "012");
    REQUIRE(press(page, KeyCode::down, 3));
    REQUIRE(seen(page, 3) == "123");
    REQUIRE(press(page, KeyCode::page_down, 3));
    REQUIRE(seen(page, 3) == "345");
    for (int i = 0; i < 9; ++i) REQUIRE(press(page, KeyCode::page_down, 3));
    REQUIRE(seen(page, 3) == "567");
    REQUIRE(press(page, KeyCode::up, 3));
    REQUIRE(seen(page, 3) == "456");
    for (int i = 0; i < 9; ++i) REQUIRE(press(page, KeyCode::page_up, 3));
    REQUIRE(seen(page, 3) == "012");
}

TEST_CASE("scrolls a page to its ends") {
    Page page = numbered(8);
    REQUIRE(page.press({ui::alt('>'), {}}, 3));
    REQUIRE(press(page, KeyCode::page_down, 3));
    REQUIRE(seen(page, 3) == "567");
    REQUIRE(page.press({ui::alt('<'), {}}, 3));
    REQUIRE(seen(page, 3) == "012");
}

TEST_CASE("does not scroll a page that fits") {
    Page page = numbered(2);
    REQUIRE(press(page, KeyCode::page_down, 5));
    REQUIRE(seen(page, 5) == "01");
}

TEST_CASE("scrolls by a row in a window of one row") {
    Page page = numbered(3);
    REQUIRE(press(page, KeyCode::page_down, 1));
    REQUIRE(seen(page, 1) == "1");
}

TEST_CASE("a page stays at its end when its window grows") {
    Page page = numbered(5);
    for (int i = 0; i < 5; ++i) press(page, KeyCode::down, 2);
    REQUIRE(seen(page, 2) == "34");
    REQUIRE(seen(page, 4) == "1234");
}

TEST_CASE("other keys are left to the caller") {
    Page page = numbered(8);
    REQUIRE_FALSE(press(page, KeyCode::enter, 3));
    REQUIRE_FALSE(page.press({ui::alt(KeyCode::down), {}}, 3));
    REQUIRE(seen(page, 3) == "012");
}
