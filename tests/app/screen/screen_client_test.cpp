// Compares the page of keys with the handled keys. tests/e2e tests the screen itself.

#include "app/screen/screen_client.hpp"

#include "tests/support/catch.hpp"

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <vector>

using namespace yodel;
using ui::Chord;
using ui::KeyCode;
using ui::KeyHelp;

namespace {

// Returns the key named by a word on the page: M-x, ^X, M-Up, Enter.
Chord named(const std::string& word) {
    static const std::map<std::string, KeyCode> names{
        {"Enter", KeyCode::enter}, {"Up", KeyCode::up},        {"Down", KeyCode::down},
        {"Dn", KeyCode::down},     {"PgUp", KeyCode::page_up}, {"PgDn", KeyCode::page_down},
        {"Esc", KeyCode::escape},  {"F1", KeyCode::f1},
    };
    const bool alt = word.starts_with("M-");
    const std::string rest = alt ? word.substr(2) : word;
    const auto name = names.find(rest);
    if (name != names.end()) return {name->second, 0, alt, false};
    if (rest.size() == 2 && rest[0] == '^')
        return {KeyCode::character, static_cast<char32_t>(rest[1] | 0x20), alt, true};
    REQUIRE(rest.size() == 1);
    return {KeyCode::character, static_cast<char32_t>(rest[0]), alt, false};
}

std::vector<Chord> named_keys(const KeyHelp& row) {
    std::vector<Chord> chords;
    std::istringstream words(row.keys);
    for (std::string word; words >> word;)
        if (word != "n" && word != "N") chords.push_back(named(word));  // keys of the search
    return chords;
}

bool has(const std::vector<Chord>& chords, const Chord& chord) {
    return std::find(chords.begin(), chords.end(), chord) != chords.end();
}

}  // namespace

TEST_CASE("the page of keys names exactly the handled keys") {
    for (const KeyHelp& row : ScreenClient::key_help()) {
        CAPTURE(row.keys);
        const std::vector<Chord> named = named_keys(row);
        for (const Chord& chord : named) CHECK(has(row.chords, chord));
        for (const Chord& chord : row.chords) CHECK(has(named, chord));
    }
}

TEST_CASE("the page names exactly the editor's keys for the line") {
    for (const KeyHelp& row : ui::LineEditor::key_help()) {
        CAPTURE(row.keys);
        for (const Chord& chord : named_keys(row)) CHECK(has(row.chords, chord));
    }
}

TEST_CASE("no key on the page has two meanings") {
    std::vector<Chord> seen;
    std::vector<KeyHelp> rows = ScreenClient::key_help();
    const std::vector<KeyHelp> more = ui::LineEditor::key_help();
    rows.insert(rows.end(), more.begin(), more.end());
    for (const KeyHelp& row : rows)
        for (const Chord& chord : row.chords) {
            CAPTURE(row.keys);
            CHECK_FALSE(has(seen, chord));
            seen.push_back(chord);
        }
}
