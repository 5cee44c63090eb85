#include "ui/transcript.hpp"

#include "tests/ui/locale.hpp"

#include <cstdio>

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

// Like seen(), but with * for the blanks that fill a selected row.
std::string marked(Transcript& transcript, int width, int height) {
    std::string text = seen(transcript, width, height);
    std::replace(text.begin(), text.end(), ' ', '*');
    return text;
}

// Returns false for an unknown verb.
bool perform(Transcript& transcript, const std::string& verb, int number) {
    const std::map<std::string, std::function<void()>> verbs{
        {"scroll", [&] { transcript.scroll(number); }},
        {"page", [&] { transcript.scroll_pages(number); }},
        {"start", [&] { transcript.scroll_to_start(); }},
        {"end", [&] { transcript.scroll_to_end(); }},
        {"freeze", [&] { transcript.toggle_freeze(); }},
        {"older", [&] { transcript.select_older(); }},
        {"newer", [&] { transcript.select_newer(); }},
        {"none", [&] { transcript.select_none(); }},
        {"following", [&] { CHECK(transcript.following()); }},
        {"scrolled", [&] { CHECK_FALSE(transcript.following()); }},
        {"below",
         [&] { CHECK(transcript.entries_below() == static_cast<std::size_t>(number)); }},
    };
    const auto found = verbs.find(verb);
    if (found != verbs.end()) found->second();
    return found != verbs.end();
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
        {"a\n", 20, "> a^J !"},
        {"\x1b\x1b", 3, "> ^|[^[|!"},  // an escape is split
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

TEST_CASE("a bad byte is marked, in text, as an escape, and in both columns of a hex dump") {
    Transcript transcript;
    Transcript::Entry bad = entry("abc");
    bad.bad_byte = 1;
    transcript.append(bad);
    bad.body = "a\x1b";
    transcript.append(bad);
    bad.bad_byte = 2;
    transcript.append(bad);  // too short to contain the bad byte
    const auto rows = transcript.rows(80, 24);
    REQUIRE(rows[0] == Row{{"a"}, {"b", Style::bad_byte}, {"c"}});
    REQUIRE(rows[1] == Row{{"a"}, {"^[", Style::bad_byte}});
    REQUIRE(rows[2] == Row{{"a"}, {"^[", Style::escaped}});
    transcript.show_hex(true);
    REQUIRE(transcript.rows(80, 24)[1] == Row{{"00000000  61 "},
                                              {"62", Style::bad_byte},
                                              {" 63" + std::string(39, ' ') + "  |a"},
                                              {"b", Style::bad_byte},
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
    REQUIRE(transcript.entries_below() == 7);
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

TEST_CASE("the window follows the tail, the user and the selection") {
    // =7|8|9 shows these rows, in a window of the size set by WIDTHxHEIGHT.
    const struct {
        const char *name, *play;
    } rows[] = {
        {"follows the tail until scrolled away",
         "10x3 0,1,2,3,4,5,6,7,8,9 =7|8|9 10 =8|9|10 following scroll:-2 =6|7|8 scrolled "
         "below:2 "
         "11 =6|7|8 scroll:1 =7|8|9 below:2 scroll:100 =9|10|11 following below:0"},
        {"scrolls by pages, which overlap by a row, and to the ends",
         "10x4 0,1,2,3,4,5,6,7,8,9 =6|7|8|9 page:-1 =3|4|5|6 start =0|1|2|3 page:-5 =0|1|2|3 "
         "page:1 =3|4|5|6 end =6|7|8|9 freeze 10 =6|7|8|9 freeze =7|8|9|10"},
        {"scrolls by a row in a window of one row",
         "10x1 0,1,2 =2 page:-1 =1 page:-1 =0 page:1 =1 page:1 =2 following"},
        {"scrolls within an entry",
         "2x3 abcdef,ghijkl =gh|ij|kl scroll:-1 =ef|gh|ij scroll:-1 =cd|ef|gh"},
        {"resizing keeps the text at the top",
         "4x2 abcdefgh,ijklmnop,qrstuvw_,yz =uvw_|yz start scroll:3 =mnop|qrst 8x2 "
         "=ijklmnop|qrstuvw_ 2x2 =mn|op 1x1 =m 0x0 = 80x24 =abcdefgh|ijklmnop|qrstuvw_|yz 4x2 "
         "=mnop|qrst"},
        {"a selected entry stays visible",
         "3x3 0,1,2,3,4,5,6,7,8,9 =7|8|9 older =7|8|9** older older older older =5**|6|7 older "
         "older older older older older older =0**|1|2 newer newer newer =1|2|3** end newer "
         "=4**|5|6 newer newer newer newer newer =7|8|9** newer =7|8|9 following"},
        {"a selected entry higher than the window shows its beginning",
         "2x2 abcdef =cd|ef older =ab|cd none end =cd|ef"},
    };
    for (const auto& row : rows) {
        INFO(row.name);
        Transcript transcript;
        std::istringstream in(row.play);
        int width = 0, height = 0;
        for (std::string word; in >> word;) {
            INFO(word);
            const std::size_t colon = word.find(':');
            const int number = colon == word.npos ? 0 : std::stoi(word.substr(colon + 1));
            if (word[0] == '=') {
                CHECK(marked(transcript, width, height) == word.substr(1));
            } else if (word.find('x') != word.npos) {
                REQUIRE(std::sscanf(word.c_str(), "%dx%d", &width, &height) == 2);
            } else if (!perform(transcript, word.substr(0, colon), number)) {
                std::istringstream bodies(word);
                for (std::string body; std::getline(bodies, body, ',');)
                    transcript.append(entry(body));
            }
        }
    }
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
    REQUIRE(transcript.search_older());
    REQUIRE(transcript.search_newer());  // the next entry
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
    REQUIRE(transcript.entries_below() == 0);
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
