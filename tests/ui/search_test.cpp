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
        {"\u212a", "a \u212a", true},  // the kelvin sign: its lower case, k, has another size
        {"\u0130", "\u0130", true},
    }));
    CAPTURE(text, bytes);
    CHECK(Needle(text).is_in(bytes) == found);
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

TEST_CASE("browsing returns to the line that was being typed, unless it is stopped") {
    // Each step is a line to add, or a key and the line that it shows, if any.
    const std::vector<std::string> rows[] = {
        {"one", "two", "newer:", "older:two", "older:one", "older:", "newer:two", "newer:mine",
         "newer:"},
        {"older:", "a", "", "b", "b", "a", "c", "older:c", "older:a", "older:b", "older:a",
         "older:", "d", "older:d"},  // no empty line, and no repetition
        {"one", "two", "older:two", "older:one", "stop", "newer:", "older:two", "newer:mine"},
    };
    for (const auto& steps : rows) {
        History history;
        for (const std::string& step : steps) {
            INFO(step);
            const std::string shown =
                step.substr(std::min(step.find(':'), step.size() - 1) + 1);
            if (step.starts_with("older:"))
                CHECK(history.older("mine").value_or("") == shown);
            else if (step.starts_with("newer:"))
                CHECK(history.newer().value_or("") == shown);
            else if (step == "stop")
                history.stop_browsing();
            else
                history.add(step);
        }
    }
}

TEST_CASE("the number and the size of the lines are limited, but the newest stays") {
    constexpr std::size_t max_bytes = 1024 * 1024;
    History history;
    for (int i = 0; i < 1001; ++i) history.add(std::to_string(i));
    CHECK(history.lines().size() == 1000);
    CHECK(history.lines().front() == "1");
    History long_lines;
    for (const char letter : {'a', 'b', 'c'})
        long_lines.add(std::string(max_bytes / 3, letter));
    CHECK(long_lines.lines().size() == 3);
    long_lines.add("12");
    CHECK(long_lines.lines().size() == 3);
    CHECK(long_lines.lines().front().front() == 'b');
    for (const std::string& line : {std::string(2 * max_bytes, 'd'), std::string("e")}) {
        long_lines.add(line);
        CHECK(long_lines.lines() == std::deque<std::string>{line});
    }
}

TEST_CASE("each key narrows, widens, continues or ends the search") {
    History history;
    for (const char* const line : {"get /a", "post /b", "get /b"}) history.add(line);
    HistorySearch search(history);
    const struct {
        Key key;
        const char *query, *match;
        bool failed = false;
    } rows[] = {
        {{ui::ctrl('r'), {}}, "", ""},
        {{ui::plain(U'g'), "g"}, "g", "get /b"},
        {{ui::plain(U'e'), "et"}, "get", "get /b"},
        {{ui::ctrl('r'), {}}, "get", "get /a"},
        {{ui::ctrl('r'), {}}, "get", "get /a", true},
        {{ui::plain(KeyCode::backspace), {}}, "ge", "get /b"},
        {{ui::plain(U'x'), "x"}, "gex", "get /b", true},
        {{ui::plain(KeyCode::backspace), {}}, "ge", "get /b"},
        {{ui::plain(KeyCode::backspace), {}}, "g", "get /b"},
        {{ui::plain(KeyCode::backspace), {}}, "", ""},
    };
    for (const auto& [key, query, match, failed] : rows) {
        INFO(query);
        CHECK(search.press(key));
        CHECK(search.query() == query);
        CHECK(search.match() == match);
        CHECK(search.has_failed() == failed);
    }
    for (const auto chord :
         {ui::plain(KeyCode::enter), ui::ctrl('g'), ui::plain(KeyCode::escape),
          ui::plain(KeyCode::left), ui::alt('b')})
        CHECK_FALSE(search.press({chord, {}}));
}
