#include "ui/page.hpp"

#include "tests/support/catch.hpp"

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

}  // namespace

TEST_CASE("a page scrolls by rows, by windows and to its ends") {
    const struct {
        const char* name;
        int count;  // rows
        const char* play;
    } rows[] = {
        {"by rows and windows, within its ends", 8,
         "3 =012 down =123 page-down =345 page-down =567 page-down down =567 up =456 page-up "
         "=234 page-up =012 page-up up =012"},
        {"to its ends", 8, "3 end =567 page-down =567 start =012"},
        {"that fits", 2, "5 page-down down end =01"},
        {"in a window of one row", 3, "1 page-down =1 page-up =0"},
        {"stays at its end when its window grows", 5, "2 end =34 4 =1234 2 =12"},
    };
    const std::map<std::string, ui::Chord> chords{
        {"up", ui::plain(KeyCode::up)},
        {"down", ui::plain(KeyCode::down)},
        {"page-up", ui::plain(KeyCode::page_up)},
        {"page-down", ui::plain(KeyCode::page_down)},
        {"start", ui::alt('<')},
        {"end", ui::alt('>')},
    };
    for (const auto& row : rows) {
        INFO(row.name);
        Page page = numbered(row.count);
        int height = 0;
        std::istringstream in(row.play);
        for (std::string word; in >> word;) {
            INFO(word);
            if (word[0] == '=') {
                std::string seen;
                for (const Row& each : page.rows(1, height)) seen += ui::plain_text(each);
                CHECK(seen == word.substr(1));
            } else if (chords.count(word)) {
                CHECK(page.press({chords.at(word), {}}, height));
            } else {
                height = std::stoi(word);
            }
        }
    }
}

TEST_CASE("other keys are left to the caller") {
    Page page = numbered(8);
    for (const ui::Chord chord : {ui::plain(KeyCode::enter), ui::alt(KeyCode::down),
                                  ui::ctrl(KeyCode::down), ui::plain('<'), ui::alt('x')})
        CHECK_FALSE(page.press({chord, {}}, 3));
}
