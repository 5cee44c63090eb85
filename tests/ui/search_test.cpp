#include "ui/search.hpp"

#include "tests/support/catch.hpp"
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

using ui::History;
using ui::HistorySearch;
using ui::Key;
using ui::KeyCode;

namespace {

History with(std::initializer_list<const char*> lines) {
    History history;
    for (const auto* line : lines) history.add(line);
    return history;
}

void type(HistorySearch& search, const std::string& text) {
    for (const char c : text)
        REQUIRE(search.press({ui::plain(static_cast<char32_t>(c)), {c}, false}));
}

}  // namespace

TEST_CASE("browsing returns to the line that was being typed") {
    auto history = with({"one", "two"});
    REQUIRE_FALSE(history.newer());
    REQUIRE(history.older("mine") == "two");
    REQUIRE(history.older("two") == "one");
    REQUIRE_FALSE(history.older("one"));
    REQUIRE(history.newer() == "two");
    REQUIRE(history.newer() == "mine");
    REQUIRE_FALSE(history.newer());
}

TEST_CASE("adding a line skips repetitions, drops the oldest and stops browsing") {
    auto history = with({"a", "", "b", "b", "a", "c"});
    REQUIRE(history.lines() == std::deque<std::string>{"a", "b", "a", "c"});
    REQUIRE(history.older("") == "c");
    history.add("d");
    REQUIRE(history.older("") == "d");
    for (int i = 0; i < 1000; ++i) history.add(std::to_string(i));
    REQUIRE(history.lines().size() == 1000);
    REQUIRE(history.lines().front() == "0");
    REQUIRE_FALSE(History().older("x"));
}

TEST_CASE("browsing begins at the newest line again after it was stopped") {
    auto history = with({"one", "two"});
    REQUIRE(history.older("mine") == "two");
    REQUIRE(history.older("two") == "one");
    history.stop_browsing();
    REQUIRE_FALSE(history.newer());
    REQUIRE(history.older("") == "two");
    REQUIRE(history.newer() == "");
}

TEST_CASE("limits the size of all lines, but always keeps the newest") {
    constexpr std::size_t room = 1024 * 1024;
    History history;
    for (const char letter : {'a', 'b', 'c'}) history.add(std::string(room / 3, letter));
    REQUIRE(history.lines().size() == 3);
    history.add("12");
    REQUIRE(history.lines().size() == 3);
    REQUIRE(history.lines().front().front() == 'b');
    history.add(std::string(2 * room, 'd'));
    REQUIRE(history.lines().size() == 1);
    history.add("e");
    REQUIRE(history.lines() == std::deque<std::string>{"e"});
}

TEST_CASE("each key narrows the search") {
    const auto history = with({"get /a", "post /b", "get /b"});
    HistorySearch search(history);
    REQUIRE(search.match().empty());
    type(search, "get");
    REQUIRE(search.match() == "get /b");
    REQUIRE(search.press({ui::ctrl('r'), {}, false}));
    REQUIRE(search.match() == "get /a");
    REQUIRE(search.press({ui::ctrl('r'), {}, false}));
    REQUIRE(search.failed());
    REQUIRE(search.match() == "get /a");
    REQUIRE(search.press({ui::plain(KeyCode::backspace), {}, false}));
    REQUIRE(search.query() == "ge");
    REQUIRE_FALSE(search.failed());
    REQUIRE(search.match() == "get /b");
    type(search, "x");
    REQUIRE(search.failed());
    HistorySearch empty(history);
    type(empty, "x");
    REQUIRE(empty.press({ui::plain(KeyCode::backspace), {}, false}));
    REQUIRE_FALSE(empty.failed());
}

TEST_CASE("other keys end the search") {
    const auto history = with({"a"});
    HistorySearch search(history);
    for (const auto chord :
         {ui::plain(KeyCode::enter), ui::ctrl('g'), ui::plain(KeyCode::escape),
          ui::plain(KeyCode::left), ui::alt('b')})
        REQUIRE_FALSE(search.press({chord, {}, false}));
    REQUIRE(search.press({ui::ctrl('r'), {}, false}));
    REQUIRE(search.match().empty());
    REQUIRE_FALSE(search.failed());
}
