#include "ui/transcript.hpp"

#include "tests/support/catch.hpp"
#include "tests/ui/locale.hpp"

#include <string>
#include <vector>

namespace {

using test::Locale;
using ui::Row;
using ui::Style;
using ui::Transcript;

Transcript::Entry entry(std::string body) {
    return {{}, std::move(body), {}, Style::normal, true};
}

Transcript with(int count, Transcript::Limits limits = {}) {
    Transcript transcript(limits);
    for (int i = 0; i < count; ++i) transcript.append(entry(std::to_string(i)));
    return transcript;
}

// Returns the visible rows, separated by |.
std::string seen(Transcript& transcript, int width, int height) {
    std::string text;
    for (const auto& row : transcript.rows(width, height)) {
        REQUIRE(ui::display_width(row) <= std::max(width, 1));
        text += '|' + ui::plain_text(row);
    }
    return text.empty() ? text : text.substr(1);
}

}  // namespace

TEST_CASE("entries wrap by column") {
    const Locale utf8("C.UTF-8");
    const struct {
        const char* body;
        int width;
        const char* seen;
    } cases[] = {
        {"", 5, ">  !"},
        {"abc", 10, "> abc !"},
        {"abc", 5, "> abc|  !"},
        {"ab你", 5, "> ab|  你 |  !"},  // a wide character is not split at the last column
        {"ab你", 6, "> ab你|  !"},
        {"你", 1, ">| |?|!"},
        {"e\u0301e\u0301", 3, "> e\u0301|e\u0301 !"},
        {"a\nb", 20, "> a^J|  b !"},
        {"\x1b\x1b", 3, "> ^|[^[|!"},  // an escape may be
        {"\xff", 1, ">| |\\|x|f|f|!"},
    };
    for (const auto& each : cases) {
        INFO(each.body << " in " << each.width);
        Transcript transcript;
        transcript.append(
            {{{"> ", Style::dim}}, each.body, {{" !", Style::good}}, Style::normal, true});
        REQUIRE(seen(transcript, each.width, 24) == each.seen);
    }
}

TEST_CASE("a note wraps between words, like the suffix") {
    const struct {
        const char* body;
        int width;
        const char* seen;
    } cases[] = {
        {"one two three", 20, "- one two three end"},
        {"one two three", 9, "- one two|  three |  end"},
        {"one two three", 10, "- one two |  three |  end"},
        {"one two three", 5, "- one|  two|  thr|  ee |  end"},
        {"one two three", 3, "- |one|two|thr|ee |end"},
    };
    for (const auto& each : cases) {
        INFO(each.body << " in " << each.width);
        Transcript transcript;
        transcript.append({{{"- "}}, each.body, {{" end"}}});
        REQUIRE(seen(transcript, each.width, 24) == each.seen);
    }
}

TEST_CASE("styles are kept, and escapes have a style of their own") {
    Transcript transcript;
    transcript.append({{{"> ", Style::dim}}, "a\x1b", {}, Style::bad});
    REQUIRE(transcript.rows(80, 24)[0] ==
            Row{{"> ", Style::dim}, {"a", Style::bad}, {"^[", Style::escaped}});
}

TEST_CASE("a wrong byte is marked, in text, as an escape, and in both columns of a hex dump") {
    Transcript transcript;
    Transcript::Entry wrong = entry("abc");
    wrong.wrong = 1;
    transcript.append(wrong);
    wrong.body = "a\x1b";
    transcript.append(wrong);
    wrong.wrong = 2;
    transcript.append(wrong);  // too short: the byte is missing
    const auto rows = transcript.rows(80, 24);
    REQUIRE(rows[0] == Row{{"a"}, {"b", Style::wrong}, {"c"}});
    REQUIRE(rows[1] == Row{{"a"}, {"^[", Style::wrong}});
    REQUIRE(rows[2] == Row{{"a"}, {"^[", Style::escaped}});
    transcript.show_hex(true);
    REQUIRE(transcript.rows(80, 24)[1] == Row{{"00000000  61 "},
                                              {"62", Style::wrong},
                                              {" 63" + std::string(39, ' ') + "  |a"},
                                              {"b", Style::wrong},
                                              {"c|"}});
}

TEST_CASE("a long body is shown as its head and size") {
    const Locale utf8("C.UTF-8");
    Transcript transcript(Transcript::Limits{10, 1 << 30, 5});
    transcript.append(entry("abcdefgh"));
    transcript.append(entry("abcd你"));
    transcript.append(entry("12345"));
    transcript.append(entry(std::string(1 << 20, 'x')));
    REQUIRE(seen(transcript, 80, 24) ==
            "abcde… 8 bytes|abcd… 7 bytes|12345|xxxxx… 1048576 bytes");
}

TEST_CASE("follows the tail until scrolled away") {
    auto transcript = with(10);
    REQUIRE(seen(transcript, 10, 3) == "7|8|9");
    transcript.append(entry("10"));
    REQUIRE(seen(transcript, 10, 3) == "8|9|10");
    transcript.scroll(-2);
    REQUIRE(seen(transcript, 10, 3) == "6|7|8");
    REQUIRE_FALSE(transcript.following());
    REQUIRE(transcript.below() == 2);
    transcript.append(entry("11"));
    REQUIRE(seen(transcript, 10, 3) == "6|7|8");
    transcript.scroll(1);
    REQUIRE(seen(transcript, 10, 3) == "7|8|9");
    transcript.scroll(100);
    REQUIRE(seen(transcript, 10, 3) == "9|10|11");
    REQUIRE(transcript.following());
    REQUIRE(transcript.below() == 0);
}

TEST_CASE("the window scrolls by pages and to the ends") {
    auto transcript = with(10);
    seen(transcript, 10, 4);
    transcript.scroll_pages(-1);
    REQUIRE(seen(transcript, 10, 4) == "3|4|5|6");
    transcript.scroll_to_start();
    REQUIRE(seen(transcript, 10, 4) == "0|1|2|3");
    transcript.scroll_pages(-5);
    REQUIRE(seen(transcript, 10, 4) == "0|1|2|3");
    transcript.scroll_pages(1);
    REQUIRE(seen(transcript, 10, 4) == "3|4|5|6");
    transcript.scroll_to_end();
    REQUIRE(seen(transcript, 10, 4) == "6|7|8|9");
    transcript.toggle_freeze();
    transcript.append(entry("10"));
    REQUIRE(seen(transcript, 10, 4) == "6|7|8|9");
}

TEST_CASE("scrolls by rows, also within an entry") {
    Transcript transcript;
    transcript.append(entry("abcdef"));
    transcript.append(entry("ghijkl"));
    REQUIRE(seen(transcript, 2, 3) == "gh|ij|kl");
    transcript.scroll(-1);
    REQUIRE(seen(transcript, 2, 3) == "ef|gh|ij");
    transcript.scroll(-1);
    REQUIRE(seen(transcript, 2, 3) == "cd|ef|gh");
}

TEST_CASE("resizing keeps the text at the top") {
    Transcript transcript;
    for (const auto* body : {"abcdefgh", "ijklmnop", "qrstuvwx", "yz"})
        transcript.append(entry(body));
    seen(transcript, 4, 2);
    transcript.scroll_to_start();
    transcript.scroll(3);
    REQUIRE(seen(transcript, 4, 2) == "mnop|qrst");
    REQUIRE(seen(transcript, 8, 2) == "ijklmnop|qrstuvwx");
    REQUIRE(seen(transcript, 2, 2) == "mn|op");
    REQUIRE(seen(transcript, 1, 1) == "m");
    REQUIRE(seen(transcript, 0, 0) == "");
    REQUIRE(seen(transcript, 80, 24) == "abcdefgh|ijklmnop|qrstuvwx|yz");
    REQUIRE(seen(transcript, 4, 2) == "mnop|qrst");
}

TEST_CASE("what a window shows stays while it does not follow the tail") {
    std::vector<std::size_t> removed;
    Transcript transcript({10, 1 << 20, 100}, [&](std::size_t at) { removed.push_back(at); });
    for (int i = 0; i < 10; ++i) transcript.append(entry(std::to_string(i)));
    seen(transcript, 10, 3);
    transcript.select_older();
    transcript.scroll_to_start();
    transcript.scroll(2);
    for (int i = 10; i < 15; ++i) transcript.append(entry(std::to_string(i)));
    REQUIRE(removed == std::vector<std::size_t>{0, 0, 3, 3, 3});
    REQUIRE(seen(transcript, 10, 3) == "2|3|4");
    REQUIRE(transcript.below() == 7);
    REQUIRE(transcript.find(*transcript.selected())->body == "9");
    for (int i = 15; i < 1000; ++i) transcript.append(entry(std::to_string(i)));
    REQUIRE(transcript.size() == 10);
    REQUIRE(seen(transcript, 10, 4) == "2|3|4|993");
    REQUIRE_FALSE(transcript.selected());
    transcript.scroll_to_end();
    REQUIRE(seen(transcript, 10, 3) == "997|998|999");
    transcript.append(entry("1000"));
    REQUIRE(transcript.find(transcript.oldest())->body == "3");
}

TEST_CASE("the size is limited, but the newest entry stays") {
    Transcript transcript(Transcript::Limits{100, 10'000, 100});
    for (int i = 0; i < 50; ++i) transcript.append(entry(std::string(1000, 'x')));
    REQUIRE(transcript.size() < 10);
    REQUIRE(transcript.size() > 5);
    transcript.append(entry(std::string(1 << 20, 'x')));
    REQUIRE(transcript.size() == 1);
    transcript.append(entry("y"));
    REQUIRE(transcript.size() == 1);
}

TEST_CASE("an entry can be changed in its place") {
    auto transcript = with(3);
    REQUIRE(transcript.change(1, [](auto& each) { each.suffix = {{" ok", Style::good}}; }));
    REQUIRE(seen(transcript, 10, 3) == "0|1 ok|2");
    REQUIRE_FALSE(transcript.change(7, [](auto&) { FAIL(); }));
    seen(transcript, 10, 2);
    transcript.scroll_to_start();
    REQUIRE(transcript.change(0, [](auto& each) { each.body.clear(); }));
    REQUIRE(seen(transcript, 10, 2) == "|1 ok");
}

TEST_CASE("a selected message stays visible") {
    auto transcript = with(10);
    seen(transcript, 10, 3);
    REQUIRE_FALSE(transcript.selected());
    transcript.select_older();
    REQUIRE(transcript.selected() == Transcript::Id{9});
    const auto rows = transcript.rows(10, 3);
    REQUIRE(rows[2] == Row{{"9         ", Style::selected}});
    for (int i = 0; i < 4; ++i) transcript.select_older();
    REQUIRE(seen(transcript, 10, 3) == "5         |6|7");
    for (int i = 0; i < 20; ++i) transcript.select_older();
    REQUIRE(transcript.selected() == Transcript::Id{0});
    for (int i = 0; i < 3; ++i) transcript.select_newer();
    REQUIRE(seen(transcript, 10, 3) == "1|2|3         ");
    transcript.scroll_to_end();
    transcript.select_newer();
    REQUIRE(seen(transcript, 10, 3) == "4         |5|6");
    for (int i = 0; i < 20; ++i) transcript.select_newer();
    REQUIRE_FALSE(transcript.selected());
    REQUIRE(transcript.following());
}

TEST_CASE("a selected entry higher than the window shows its beginning") {
    Transcript transcript;
    transcript.append(entry("abcdef"));
    seen(transcript, 2, 2);
    transcript.select_older();
    REQUIRE(seen(transcript, 2, 2) == "ab|cd");
    transcript.select_none();
    transcript.scroll_to_end();
    REQUIRE(seen(transcript, 2, 2) == "cd|ef");
}

TEST_CASE("a search selects the entries whose body matches") {
    Transcript transcript(Transcript::Limits{100, 1 << 20, 10});
    for (const auto* body : {"one", "two", "twenty-one", "far away .... one"})
        transcript.append(entry(body));
    seen(transcript, 20, 2);
    REQUIRE(transcript.search("one"));
    REQUIRE(transcript.selected() == Transcript::Id{2});
    REQUIRE(transcript.rows(11, 24)[2] ==
            Row{{"twenty-", Style::selected}, {"one", Style::match}, {" ", Style::selected}});
    REQUIRE(transcript.search_older());
    REQUIRE(transcript.selected() == Transcript::Id{0});
    REQUIRE_FALSE(transcript.search_older());
    REQUIRE(transcript.selected() == Transcript::Id{0});
    REQUIRE(transcript.search_newer());
    REQUIRE(transcript.selected() == Transcript::Id{2});
    REQUIRE_FALSE(transcript.search_newer());
    REQUIRE_FALSE(transcript.search("three"));
    REQUIRE_FALSE(transcript.search(""));
}

TEST_CASE("a message search ignores case unless its text contains capitals") {
    const Locale utf8("C.UTF-8");
    Transcript transcript;
    for (const auto* body : {"Error", "an error", "ERROR"}) transcript.append(entry(body));
    seen(transcript, 20, 3);
    REQUIRE(transcript.search("error"));
    REQUIRE(transcript.selected() == Transcript::Id{2});
    REQUIRE(transcript.rows(20, 3)[1] == Row{{"an "}, {"error", Style::match}});
    REQUIRE(transcript.search("Error"));
    REQUIRE(transcript.selected() == Transcript::Id{0});
    REQUIRE_FALSE(transcript.search_newer());
}

TEST_CASE("marks matches in a hex dump, in both columns") {
    Transcript transcript;
    transcript.append(entry("0123456789abcdefxy"));
    transcript.append(entry("other"));
    transcript.show_hex(true);
    REQUIRE(transcript.search("EFXY") == false);
    REQUIRE(transcript.search("efxy"));
    transcript.select_none();
    const auto rows = transcript.rows(77, 5);
    REQUIRE(rows[1] == Row{{"00000000  30 31 32 33 34 35 36 37 38 39 61 62 63 64 "},
                           {"65 66", Style::match},
                           {"  |0123456789abcd"},
                           {"ef", Style::match},
                           {"|"}});
    REQUIRE(rows[2] == Row{{"00000010  "},
                           {"78 79", Style::match},
                           {std::string(42, ' ') + "  |"},
                           {"xy", Style::match},
                           {"|"}});
}

TEST_CASE("an empty transcript shows nothing") {
    Transcript transcript;
    REQUIRE(transcript.rows(80, 24).empty());
    transcript.scroll(-1);
    transcript.scroll_pages(1);
    transcript.scroll_to_start();
    transcript.scroll_to_end();
    transcript.toggle_freeze();
    transcript.select_older();
    transcript.select_newer();
    transcript.select_none();
    REQUIRE_FALSE(transcript.search("x"));
    REQUIRE(transcript.below() == 0);
}

TEST_CASE("drawing among a million entries costs the same") {
    auto transcript = with(1'000'000, {1'000'000, 1 << 30, 100});
    for (int i = 0; i < 1000; ++i) {
        seen(transcript, 80, 24);
        transcript.scroll(-1);
    }
    transcript.scroll_to_start();
    REQUIRE(seen(transcript, 80, 2) == "0|1");
}
