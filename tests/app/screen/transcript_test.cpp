// The window is checked without times and signs. The tests set the times of the entries.

#include "app/screen/transcript.hpp"

#include "app/text/units.hpp"
#include "tests/support/catch.hpp"
#include "tests/ui/locale.hpp"
#include "tests/ui/plain_text.hpp"

#include <cstdio>

using namespace std::chrono_literals;
using namespace yodel;

namespace {

using test::Locale;
using ui::Row;
using ui::Style;

using Texts = std::vector<std::string>;

const Transcript::WallTime start{1'800'000'000s + 208ms};

Transcript::Entry entry(const Event& event, ev::Duration after = 0ns) {
    return {.event = StoredEvent(event),
            .at =
                start + std::chrono::duration_cast<std::chrono::system_clock::duration>(after)};
}

Transcript::Entry note(std::string_view text, ev::Duration after = 0ns) {
    return entry({.fate = Fate::note, .reply = {.payload = text}}, after);
}

Transcript::Entry sent(std::string_view payload) {
    return entry({.fate = Fate::sent, .message = {.id = 1, .payload = payload}});
}

Transcript without_times(Transcript::Limits limits = {}, bool is_resp = false) {
    Transcript transcript(!is_resp, is_resp, limits);
    for (int i = 0; i < 2; ++i) transcript.cycle_timestamps();
    return transcript;
}

bool is_number(const Transcript::Entry* entry, int number) {
    return entry && entry->event->message.payload == std::to_string(number);
}

// Returns the visible rows without their signs, separated by |, and with * for each blank, such
// as those that fill a selected row. `width` excludes the sign.
std::string seen(Transcript& transcript, int width, int height) {
    std::string text;
    for (const auto& row : transcript.rows(width + 2, height)) {
        REQUIRE(ui::display_width(row) <= width + 2);
        text += '|' + test::plain_text(row).substr(2);
    }
    std::replace(text.begin(), text.end(), ' ', '*');
    return text.empty() ? text : text.substr(1);
}

// Returns false for an unknown verb.
bool perform(Transcript& transcript, const std::string& verb, const std::string& argument) {
    const int number = std::atoi(argument.c_str());
    const std::map<std::string, std::function<void()>> verbs{
        {"scroll", [&] { transcript.scroll(number); }},
        {"start", [&] { transcript.scroll_to_start(); }},
        {"end", [&] { transcript.scroll_to_end(); }},
        {"freeze", [&] { transcript.toggle_freeze(); }},
        {"older", [&] { transcript.select_older(); }},
        {"newer", [&] { transcript.select_newer(); }},
        {"none", [&] { transcript.select_none(); }},
        {"find", [&] { CHECK(transcript.search(argument)); }},
        {"no-find", [&] { CHECK_FALSE(transcript.search(argument)); }},
        {"match", [&] { CHECK(transcript.search_next(number)); }},
        {"no-match", [&] { CHECK_FALSE(transcript.search_next(number)); }},
        {"following", [&] { CHECK(transcript.is_following()); }},
        {"scrolled", [&] { CHECK_FALSE(transcript.is_following()); }},
        {"below",
         [&] { CHECK(transcript.entries_below() == static_cast<std::size_t>(number)); }},
        {"selected", [&] { CHECK(is_number(transcript.selected(), number)); }},
        {"unselected", [&] { CHECK_FALSE(transcript.selected()); }},
        {"oldest", [&] { CHECK(is_number(&transcript.entries().front(), number)); }},
    };
    const auto found = verbs.find(verb);
    if (found != verbs.end()) found->second();
    return found != verbs.end();
}

// One event of each kind, a second apart.
void add_each(Transcript& transcript) {
    const auto message = [](std::uint64_t id, std::string_view payload) {
        return Message{.id = id, .payload = payload, .planned_at = ev::Time(id * 1s)};
    };
    const Reply right{.payload = "hello", .round_trip = 210us, .is_right = true};
    const Reply bad{.payload = "agaXn", .round_trip = 210us, .difference = 3};
    const Event events[] = {
        {.fate = Fate::sent, .message = message(1, "hello")},
        {.fate = Fate::echoed, .message = message(1, "hello"), .reply = right},
        {.fate = Fate::sent, .message = message(2, "again")},
        {.fate = Fate::bad, .message = message(2, "again"), .reply = bad},
        {.fate = Fate::sent, .message = message(3, "gone")},
        {.fate = Fate::lost, .message = message(3, "gone"), .reply = {" within 5s"}},
        {.fate = Fate::late, .message = message(3, "gone"), .reply = {"gone", 6s, true}},
        {.fate = Fate::unanswered_as_recorded, .message = message(4, "quiet")},
        {.fate = Fate::unsent, .message = message(4, "unsent")},
        {.fate = Fate::missing, .reply = {"gone"}},
        {.fate = Fate::unsolicited, .reply = {"news"}},
        {.fate = Fate::duplicate, .reply = {"news"}},
        {.fate = Fate::unsolicited, .reply = {"by hand", 3ms, true}},
        {.fate = Fate::unsolicited, .reply = {"first", std::nullopt, true}},
        {.fate = Fate::echoed, .message = message(5, "paused"), .reply = {"paused", {}, true}},
        {.fate = Fate::bad, .message = message(6, "PING"), .reply = {"-ERR", 210us}},
        {.fate = Fate::bad,
         .message = message(7, "long"),
         .reply = {.payload = "lo", .round_trip = 210us, .difference = 2}},
    };
    transcript.append(note("note"));
    for (int i = 0; const Event& event : events) transcript.append(entry(event, ++i * 1s));
}

Texts all_rows(Transcript& transcript) {
    Texts rows;
    for (const Row& row : transcript.rows(200, 100)) rows.push_back(test::plain_text(row));
    return rows;
}

}  // namespace

TEST_CASE("replies of Redis are shown as redis-cli shows them, and as bytes in the hex view") {
    Transcript transcript = without_times({}, true);
    const auto reply = [](std::string_view payload) {
        return entry({.fate = Fate::echoed,
                      .message = {.id = 1, .payload = "x"},
                      .reply = {.payload = payload, .is_right = true}});
    };
    transcript.append(reply("$4\r\nPONG"));
    transcript.append(reply("*2\r\n:1\r\n$-1"));
    transcript.append(reply("-ERR no"));
    transcript.append(reply("$9\r\nPONG"));
    transcript.append(entry({.fate = Fate::unsolicited, .reply = {">1\r\n+news"}}));
    const Message ping{.id = 1, .payload = "+ok"};
    transcript.append(entry({.fate = Fate::bad, .message = ping, .reply = {"+no", {}, {}, 1}}));
    CHECK(all_rows(transcript) == Texts{"untimed < \"PONG\"", "untimed < 1) (integer) 1",
                                        "          2) (nil)", "untimed < (error) ERR no",
                                        "untimed < $9^M^J", "          PONG", "<< 1) news",
                                        "untimed < +no x differs at byte 1: o>n"});
    const Row error = transcript.rows(80, 9)[3];
    CHECK(error.back() == ui::Span{"(error) ERR no", ui::Style::bad});
    transcript.show_hex(true);
    CHECK(all_rows(transcript)[1].starts_with("00000000  24 34 0d 0a 50"));
}

TEST_CASE("each kind of entry has its sign, and its time in the chosen style") {
    Transcript transcript(true, false, {});
    add_each(transcript);
    const std::string clock = "CLOCK", blank = "", delta = "+1.000s";
    const struct {
        std::string clock, delta, off, text;
    } entries[] = {
        {clock, "+0.000s", "", "- note"},
        {clock, delta, "", "> hello"},
        {"0.21ms", "0.21ms", "0.21ms", "< hello ok"},
        {clock, delta, "", "> again"},
        {"0.21ms", "0.21ms", "0.21ms", "< agaXn x differs at byte 3: i>X"},
        {clock, delta, "", "> gone"},
        {blank, delta, "", "? gone - no reply within 5s"},
        {"6000ms", "6000ms", "6000ms", "< gone ok"},
        {blank, delta, "", "? quiet - no reply, as recorded"},
        {blank, delta, "", "? unsent - not sent"},
        {blank, delta, "", "? gone - did not arrive"},
        {clock, delta, "", "<< news"},
        {clock, delta, "", "<< news - a duplicate reply"},
        {"3.0ms", "3.0ms", "3.0ms", "< by hand"},
        {clock, delta, "", "< first"},
        {"untimed", "untimed", "untimed", "< paused ok"},
        {"0.21ms", "0.21ms", "0.21ms", "< -ERR x does not match"},
        {"0.21ms", "0.21ms", "0.21ms", "< lo x differs at byte 2: 6e>end"},
    };
    for (const int style : {0, 1, 2, 0}) {
        Texts expected;
        for (std::size_t i = 0; const auto& row : entries) {
            std::string time = style == 0 ? row.clock : style == 1 ? row.delta : row.off;
            if (time == clock) time = clock_text(start + i * 1s);
            const std::size_t width = style == 0 ? 12 : style == 1 ? 8 : time.size();
            time.insert(0, width - time.size(), ' ');
            expected.push_back(time + (width > 0 ? " " : "") + row.text);
            ++i;
        }
        CHECK(all_rows(transcript) == expected);
        transcript.cycle_timestamps();
    }
    Transcript unchecked(false, false, {});
    add_each(unchecked);
    CHECK(all_rows(unchecked)[2] == "      0.21ms < hello");
    CHECK(all_rows(unchecked)[4] == "      0.21ms < agaXn x differs at byte 3: i>X");
}

TEST_CASE("a long pause is shown in whole seconds") {
    Transcript transcript(true, false, {});
    transcript.cycle_timestamps();
    for (const auto after : {0s, 999s, 2000s}) transcript.append(note("a", after));
    CHECK(all_rows(transcript) == Texts{" +0.000s - a", "+999.000s - a", "  +1001s - a"});
}

TEST_CASE("a message is answered by the reply to its number and time") {
    Transcript transcript(true, false, {});
    add_each(transcript);
    const auto answer = [&](std::uint64_t id, ev::Duration planned) {
        const auto* found =
            transcript.answer_to({.id = id, .payload = {}, .planned_at = ev::Time(planned)});
        return found ? std::string(found->event->reply.payload) : "none";
    };
    CHECK(answer(2, 2s) == "agaXn");
    CHECK(answer(2, 3s) == "none");
    CHECK(answer(3, 3s) == "gone");  // late
    CHECK(answer(4, 4s) == "none");
}

TEST_CASE("the selected entry's text is its body, or the bytes as numbers") {
    Transcript transcript(true, false, {});
    add_each(transcript);
    CHECK_FALSE(transcript.selected());
    transcript.select_older();
    CHECK(transcript.text_of(*transcript.selected()->event, 100) == "lo");
    CHECK(transcript.text_of(*transcript.selected()->event, 1) == "l");
    transcript.show_hex(true);
    CHECK(transcript.text_of(*transcript.selected()->event, 100) == "6c 6f");
    transcript.scroll_to_start();
    for (int i = 0; i < 20; ++i) transcript.select_older();
    CHECK(transcript.text_of(*transcript.selected()->event, 100) ==
          "note");  // a note has no hex view
}

TEST_CASE("a long body is shown as its head and size") {
    const Locale utf8("C.UTF-8");
    Transcript transcript = without_times({10, 1 << 30, 5});
    for (const auto& body : {std::string("abcdefgh"), std::string("abcd你"),
                             std::string("12345"), std::string(1 << 20, 'x')})
        transcript.append(sent(body));
    CHECK(all_rows(transcript) ==
          Texts{"› abcde… 8 bytes", "› abcd… 7 bytes", "› 12345", "› xxxxx… 1048576 bytes"});
}

TEST_CASE("the size is limited, but the newest entry stays") {
    Transcript transcript(true, false, {100, 10'000, 100});
    for (int i = 0; i < 50; ++i) transcript.append(sent(std::string(1000, 'x')));
    CHECK(transcript.entries().size() < 10);
    CHECK(transcript.entries().size() > 5);
    for (const std::size_t size : {1U << 20, 1U}) {
        transcript.append(sent(std::string(size, 'x')));
        CHECK(transcript.entries().size() == 1);
    }
}

TEST_CASE("the window follows the tail, the user and the selection") {
    // =7|8|9 shows these rows, in a window of the size set by WIDTHxHEIGHT. until:10 appends
    // the numbers up to 9.
    const struct {
        const char *name, *play;
        std::size_t max_entries = 100;
    } rows[] = {
        {"what it shows stays, even if entries are removed",
         "10x3 until:10 =7|8|9 older start scroll:1 until:15 =2|3|4 below:7 selected:9 "
         "until:1000 10x4 =2|3|4|993 unselected end 10x3 =997|998|999 until:1001 oldest:3",
         10},
        {"shows the next entry from its beginning if the entry at its top is removed",
         "2x2 abcdefghij =gh|ij scroll:-1 =ef|gh ABCDEFGHIJ =AB|CD", 1},
        {"follows the tail until scrolled away",
         "10x3 0,1,2,3,4,5,6,7,8,9 =7|8|9 10 =8|9|10 following scroll:-1 =6|7|8 scrolled "
         "below:2 "
         "11 =6|7|8 scroll:1 =8|9|10 below:1 scroll:100 =9|10|11 following below:0"},
        {"scrolls by pages, which overlap by a row, and to the ends",
         "10x4 0,1,2,3,4,5,6,7,8,9 =6|7|8|9 scroll:-1 =3|4|5|6 start =0|1|2|3 scroll:-5 "
         "=0|1|2|3 "
         "scroll:1 =3|4|5|6 end =6|7|8|9 freeze 10 =6|7|8|9 freeze =7|8|9|10"},
        {"scrolls by a row in a window of one row",
         "10x1 0,1,2 =2 scroll:-1 =1 scroll:-1 =0 scroll:1 =1 scroll:1 =2 following"},
        {"scrolls within an entry",
         "2x2 abcdef,ghijkl =ij|kl scroll:-1 =gh|ij scroll:-1 =ef|gh scroll:-1 =cd|ef"},
        {"resizing keeps the text at the top",
         "4x2 abcdefgh,ijklmnop,qrstuvw_,yz =uvw_|yz start scroll:3 =mnop|qrst 8x2 "
         "=ijklmnop|qrstuvw_ 2x2 =mn|op 2x0 = 80x24 =abcdefgh|ijklmnop|qrstuvw_|yz 4x2 "
         "=mnop|qrst"},
        {"a selected entry stays visible",
         "3x3 0,1,2,3,4,5,6,7,8,9 =7|8|9 older =7|8|9** older older older older =5**|6|7 older "
         "older older older older older older =0**|1|2 newer newer newer =1|2|3** end newer "
         "=4**|5|6 newer newer newer newer newer =7|8|9** newer =7|8|9 following"},
        {"a selected entry higher than the window shows its beginning",
         "2x2 abcdef =cd|ef older =ab|cd none end =cd|ef"},
        {"selecting begins in the view",
         "3x3 0,1,2,3,4,5,6,7,8,9 =7|8|9 start =0|1|2 older =0|1|2** older =0|1**|2"},
        {"a search selects the entries whose head matches",
         "20x2 9999999999917,17,2,2178 =2|2178 find:17 selected:2178 match:-1 "
         "selected:17 no-match:-1 selected:17 match:1 selected:2178 no-match:1 no-find:3 "
         "no-find: selected:2178"},
        {"is empty",
         "80x24 = scroll:-1 start end freeze older newer none no-find:1 following below:0 ="},
    };
    for (const auto& row : rows) {
        INFO(row.name);
        Transcript transcript = without_times({row.max_entries, 1 << 20, 10});
        std::istringstream in(row.play);
        int width = 0, height = 0, appended = 0;
        for (std::string word; in >> word;) {
            INFO(word);
            const std::size_t colon = word.find(':');
            const std::string argument = colon == word.npos ? "" : word.substr(colon + 1);
            if (word[0] == '=') {
                CHECK(seen(transcript, width, height) == word.substr(1));
            } else if (word.find('x') != word.npos) {
                REQUIRE(std::sscanf(word.c_str(), "%dx%d", &width, &height) == 2);
            } else if (word.starts_with("until:")) {
                while (appended < std::stoi(argument))
                    transcript.append(sent(std::to_string(appended++)));
            } else if (!perform(transcript, word.substr(0, colon), argument)) {
                std::istringstream bodies(word);
                for (std::string body; std::getline(bodies, body, ',');)
                    transcript.append(sent(body));
            }
        }
    }
}

TEST_CASE("matches and the bad byte are marked, in text and in a hex dump") {
    Transcript transcript = without_times();
    transcript.append(sent("0123456789abcdefxy"));
    transcript.append(sent("other"));
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
    const Message message{.id = 1, .payload = "abc"};
    transcript.append(entry(
        {.fate = Fate::bad, .message = message, .reply = {.payload = "aXc", .difference = 1}}));
    transcript.show_hex(false);
    const auto last = transcript.rows(80, 1)[0];
    REQUIRE(last[1] == ui::Span{"a"});
    REQUIRE(last[2] == ui::Span{"X", Style::bad_byte});
    transcript.append(sent("twenty-one"));
    REQUIRE(transcript.search("one"));
    REQUIRE(transcript.rows(13, 24).back() == Row{{"> ", Style::selected},
                                                  {"twenty-", Style::selected},
                                                  {"one", Style::match},
                                                  {" ", Style::selected}});
}

TEST_CASE("drawing among a million entries costs the same") {
    Transcript transcript = without_times({1'000'000, 1 << 30, 100});
    for (int i = 0; i < 1'000'000; ++i) transcript.append(sent(std::to_string(i)));
    for (int i = 0; i < 1000; ++i) {
        seen(transcript, 80, 24);
        transcript.scroll(-1);
    }
    transcript.scroll_to_start();
    REQUIRE(seen(transcript, 80, 2) == "0|1");
}
