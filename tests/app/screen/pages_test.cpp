// Checks pages as plain text of a given width.

#include "app/screen/pages.hpp"

#include "app/text/units.hpp"
#include "tests/app/screen/screen_script.hpp"
#include "tests/ui/plain_text.hpp"

#include <tuple>

using namespace std::chrono_literals;
using namespace yodel;
using test::contains;

namespace {

using Texts = std::vector<std::string>;

Texts texts(const Rows& rows) {
    Texts all;
    for (const ui::Row& row : rows) all.push_back(test::plain_text(row));
    return all;
}

// Returns the rows joined, with a newline after each.
std::string text(const Rows& rows) {
    std::string all;
    for (const std::string& row : texts(rows)) all += row + "\n";
    return all;
}

// Returns the parts in this style, or the rows with such parts.
Texts in_style(const Rows& rows, ui::Style style, bool whole_rows = false) {
    Texts found;
    for (const ui::Row& row : rows)
        for (const ui::Span& span : row)
            if (span.style == style)
                found.push_back(whole_rows ? test::plain_text(row) : span.text);
    return found;
}

Texts bad_bytes(const Rows& rows) { return in_style(rows, ui::Style::bad_byte); }

// Returns the rows with a bad fact.
Texts bad_rows(const Rows& rows) { return in_style(rows, ui::Style::bad, true); }

Transcript::Entry entry(const Event& event) { return {.event = StoredEvent(event), .at = {}}; }

Transcript::Entry answered(const std::string& payload, const std::string& reply,
                           std::optional<std::size_t> difference, Fate fate = Fate::bad) {
    const bool right = payload == reply;
    return entry({.fate = right ? Fate::echoed : fate,
                  .message = {.id = 7, .payload = payload},
                  .reply = {.payload = reply,
                            .is_right = right,
                            .difference = right ? std::nullopt : difference}});
}

Rows message(const Transcript::Entry& entry, int width) {
    return message_page(entry, false, {}, width);
}

Rows statistics(const Results& results, int width) {
    return statistics_page({results, nullptr, {}, {}, {}}, width);
}

}  // namespace

TEST_CASE("a fact wraps between words, in its own columns") {
    const auto [width, name, value, expected] =
        GENERATE(table<int, std::string, std::string, Texts>({
            {80, "name", "one two three", {"name        one two three"}},
            {20, "name", "one two three", {"name        one two ", "            three"}},
            {19, "name", "one two three", {"name        one two", "            three"}},
            {15, "name", "one two", {"name        one", "            two"}},
            {16, "name", "abcdefgh", {"name        abcd", "            efgh"}},
            {12, "name", "ab", {"name        a", "            b"}},
            {80, "name", "", {"name        "}},
            {80, "name", "\x1b[2J", {"name        ^[[2J"}},
            {80, "eleven char", "a", {"eleven char a"}},
            {80, "twelve chars", "a", {"twelve chars", "            a"}},
        }));
    PageRows page{width};
    page.add_fact(name, value);
    CHECK(texts(page.rows) == expected);
}

TEST_CASE("the statistics page contains counts, and times once there are any") {
    Results tally;
    tally.sent = 4;
    tally.bad = 1;
    tally.unsolicited = 2;
    const std::string counts =
        "Messages\nsent                4\nechoed              0\nbad                 1\n"
        "lost                0\nlate                0\nunsolicited         2\n";
    CHECK(text(statistics(tally, 80)) == counts);
    CHECK(bad_rows(statistics(tally, 80)) == Texts{"bad                 1"});
    const auto words = [&tally](bool expects_any, bool listens) {
        return text(statistics_page({tally, nullptr, {}, {}, {}, expects_any, listens}, 80));
    };
    CHECK(contains(words(true, false), "\nanswered            0\n"));
    CHECK(words(false, true) == "Messages\nsent                4\nreceived            2\n");
    tally.uses_datagrams = true;
    tally.duplicates = 3;
    tally.reordered = 5;
    CHECK(text(statistics(tally, 80)) ==
          counts + "duplicate           3\norder               5 reordered\n"
                   "jitter        0.00 ms (RFC 3550)\n");
    tally.round_trips.record(1ms);
    CHECK(contains(text(statistics(tally, 80)),
                   "\nRound trips (percentiles within 1 %)\nmin            1.0 ms\n"
                   "p50            1.0 ms\np95            1.0 ms\np99            1.0 ms\n"
                   "max            1.0 ms\n\nDistribution\n< 1.0 ms"));
}

TEST_CASE("the figures of the last minute are beside the totals, if there is space") {
    Results before;
    before.sent = 7;
    before.lost = 2;
    before.round_trips.record(1ms);
    Results tally = before;
    tally.sent = 10;
    tally.lost = 1;  // a lost message was answered after all
    const auto page = [&](int width) {
        return text(statistics_page({tally, &before, {}, {}, {}}, width));
    };
    CHECK(page(80).starts_with("Messages\n                total  last minute\n"
                               "sent               10            3\n"));
    CHECK(contains(page(80), "lost                1            0\n"));
    CHECK(contains(page(80), "\np50            1.0 ms\n"));
    tally.round_trips.record(200us);
    CHECK(contains(page(80), "\nmax            1.0 ms      0.20 ms\n"));
    CHECK_FALSE(contains(page(35), "minute"));
    CHECK(contains(page(36), "minute"));
}

TEST_CASE("the slowest right replies, and the newest bad and lost messages, are listed") {
    Transcript transcript(true, false, {});
    const std::string long_payload(100, 'x');
    for (int i = 1; i <= 30; ++i) {
        const std::string payload = "m" + std::to_string(i);
        Event event{.fate = i > 6 ? Fate::lost : Fate::echoed,
                    .message = {.id = static_cast<std::uint64_t>(i), .payload = payload}};
        if (i <= 6) event.reply = {.payload = payload, .round_trip = i * 1ms, .is_right = true};
        if (i == 30) event.message.payload = long_payload;
        transcript.append(entry(event));
    }
    transcript.append(entry({.fate = Fate::late,
                             .message = {.id = 29, .payload = "m29"},
                             .reply = {.payload = "m29", .is_right = true}}));
    transcript.append(entry({.fate = Fate::late,
                             .message = {.id = 28, .payload = "\x1b"},
                             .reply = {.payload = "no", .round_trip = 9ms}}));
    const auto notable = notable_entries(transcript);
    REQUIRE(notable.size() == 25);
    const Rows rows = statistics_page({Results(), nullptr, {}, notable, 5}, 80);
    CHECK(contains(text(rows), "\nSlowest, bad and lost messages\n6.0 ms      m6\n"
                               "5.0 ms      m5\n4.0 ms      m4\n3.0 ms      m3\n"
                               "2.0 ms      m2\nbad 9.0 ms  ^[\n"
                               "lost        " +
                                   std::string(64, 'x') + "...\nlost        m27\n"));
    CHECK(text(rows).ends_with("lost        m10\n"));
    CHECK(in_style(rows, ui::Style::selected) == Texts{"^["});
}

TEST_CASE("the histogram has a row for each doubling, and bars in proportion to the longest") {
    Results tally;
    for (int i = 0; i < 4; ++i) tally.round_trips.record(100us);
    tally.round_trips.record(450us);
    const std::string page = text(statistics(tally, 44));
    CHECK(contains(page, "\nDistribution\n"
                         "< 0.13 ms   #################### 4\n"
                         "< 0.26 ms   0\n"
                         "< 0.51 ms   ##### 1\n"));
}

TEST_CASE("a message is shown beside its reply, with the first bad byte marked") {
    const std::string payload(40, 'a');
    std::string reply = payload;
    reply[20] = 'b';
    const struct {
        Transcript::Entry entry;
        Texts shown, hidden, bad_facts, bad_bytes;
    } rows[] = {
        {answered("hello", "hello", 0),
         {"Message 7\nsent        " + clock_text({}) + "\nreceived    " + clock_text({}) +
          "\n\nSent, 5 bytes\nhello\n00000000  68 65 6c 6c 6f" + std::string(33, ' ') +
          "  |hello|\n\nReceived: identical\n"},
         {},
         {},
         {}},
        {answered(payload, reply, 20),
         {"\nSent, 40 bytes\n", "\nReceived, 40 bytes\n", "\n00000010  61 61 61 61 62 61 "},
         {},
         {"reply       differs at byte 20"},
         {"a", "61", "a", "b", "62", "b"}},
        {answered("PING", "-ERR", std::nullopt),
         {"\nReceived, 4 bytes\n"},
         {},
         {"reply       does not match"},
         {}},
        {answered(R"({"a":[1,2]})", R"({"a":[1,3]})", 8, Fate::late),
         {"\nreply       late, after the reply timeout\n"},
         {},
         {"reply       differs at byte 8"},
         {"2", "32", "2", "3", "33", "3"}},
        {entry({.fate = Fate::sent, .message = {.id = 7, .payload = "hello"}}),
         {"Message 7\nsent        " + clock_text({}) + "\nreply       none yet\n"},
         {"Received"},
         {"reply       none yet"},
         {}},
        {entry({.fate = Fate::unsolicited, .reply = {.payload = "news"}}),
         {"Unsolicited\nreceived    ", "\nReceived, 4 bytes\n"},
         {"Sent", "sent"},
         {},
         {}},
        {entry({.fate = Fate::unsolicited,
                .reply = {.payload = "news", .round_trip = 9ms, .is_right = true}}),
         {"Received\nreceived    ", "\nsince sent  9.0 ms\n"},
         {"Unsolicited", "round trip"},
         {},
         {}},
    };
    for (const auto& row : rows) {
        const Rows page = message(row.entry, 80);
        CAPTURE(text(page));
        for (const std::string& part : row.shown) CHECK(contains(text(page), part));
        for (const std::string& part : row.hidden) CHECK_FALSE(contains(text(page), part));
        CHECK(bad_rows(page) == row.bad_facts);
        CHECK(bad_bytes(page) == row.bad_bytes);
    }
}

TEST_CASE("the times of a message include the delay of its write and the network's share") {
    Transcript::Entry slow =
        entry({.fate = Fate::echoed,
               .message = {.id = 7,
                           .payload = "a",
                           .planned_at = ev::Time(1s),
                           .sent_at = ev::Time(1s + 20ms)},
               .reply = {.payload = "a", .round_trip = 30ms, .is_right = true},
               .at = ev::Time(1s + 50ms)});
    slow.at = Transcript::WallTime(1'800'000'000s);
    slow.min_rtt = 12ms;
    CHECK(text(message(slow, 80))
              .starts_with(
                  "Message 7\nsent        " + clock_text(slow.at - 50ms) +
                  "\nwritten     20 ms later; the round trip of a typed message begins then\n"
                  "received    " +
                  clock_text(slow.at) +
                  "\nround trip  30.0ms = network >=12.0 + service <=18.0\n\n"));
}

TEST_CASE("a message is shown as text or indented JSON before its bytes") {
    const std::tuple<std::string, int, Texts> cases[] = {
        {"", 80, {"Sent, 0 bytes"}},
        {"one\ntwo\n\n", 80, {"Sent, 9 bytes", "one", "two", ""}},
        {"\xe4\xbd\xa0 \x1b[m", 24, {"Sent, 7 bytes", "\\xe4\\xbd\\xa0 ^[[m"}},
        {"one two three four five six",
         20,
         {"Sent, 27 bytes", "one two three four f", "ive six"}},
        {"{\"a\":1}", 80, {"Sent, 7 bytes, indented as JSON", "{", "  \"a\": 1", "}"}},
        {"{\"a\":1", 80, {"Sent, 6 bytes", "{\"a\":1"}},
    };
    for (const auto& [bytes, width, expected] : cases) {
        Texts rows = texts(message(answered(bytes, bytes, 0), width));
        rows.erase(rows.begin(), std::find(rows.begin(), rows.end(), "") + 1);
        rows.erase(std::find_if(rows.begin(), rows.end(),
                                [](auto& row) { return row.starts_with("00000000"); }),
                   rows.end());
        if (bytes.empty()) rows.resize(1);
        CHECK(rows == expected);
    }
}

TEST_CASE("values of Redis are decoded, and matches of a search are marked in both forms") {
    const Transcript::Entry of = answered("GET a", "*2\r\n:7\r\n$1\r\nb", std::nullopt);
    CHECK_FALSE(contains(text(message(of, 80)), "decoded"));
    const Rows rows = message_page(of, true, ui::Needle("7"), 80);
    CHECK(contains(text(rows), "\nReceived, 13 bytes, decoded as RESP\n1) (integer) 7\n"
                               "2) \"b\"\n00000000  2a 32 "));
    CHECK(contains(text(rows), "\nSent, 5 bytes\nGET a\n"));
    CHECK(in_style(rows, ui::Style::match) == Texts{"7", "37", "7"});
}

TEST_CASE("JSON is indented up to 64 KiB, because each drawing indents it") {
    const std::string most = "[" + std::string(64 * 1024 - 3, ' ') + "1]";
    CHECK(contains(text(message(answered(most, most, 0), 80)), "as JSON\n[\n  1\n]\n"));
    const std::string more = " " + most;
    CHECK_FALSE(contains(text(message(answered(more, more, 0), 80)), "as JSON"));
}

TEST_CASE("the page of a long message shows the part around the difference") {
    const std::string payload(100'000, 'a');
    std::string reply = payload;
    reply[20] = 'b';
    const std::string front = text(message(answered(payload, reply, 20), 80));
    CHECK(contains(front, "\n83616 bytes more\n"));
    CHECK_FALSE(contains(front, " before\n"));
    reply = payload;
    reply[50'000] = 'b';
    const Rows rows = message(answered(payload, reply, 50'000), 80);
    CHECK(contains(text(rows), "\n49872 bytes before\n0000c2d0"));
    CHECK(contains(text(rows), "\n33744 bytes more\n"));
    CHECK(bad_bytes(rows) == Texts{"a", "61", "a", "b", "62", "b"});
}

TEST_CASE("the page of the connection lists its options, its parameters and its end") {
    test::play_each<test::ScreenScript>({
        {"refused",
         R"(size 60x120; to nobody; key log /tmp/keys; sandbox landlock 7; keys M-i; row 1 Connection
            row 2 target      tcp://127.0.0.1:PORT; row 3 framing     line
            row 4 expect      echo; row 5 timeouts    connect 10s, reply 5s
            bad ended       cannot connect to 127.0.0.1:PORT: Connection refused
            row 7 secrets     written to /tmp/keys (SSLKEYLOGFILE); row 8 sandbox     landlock 7)"},
        {"open", R"(size 60x120; keys M-i; row 3 address     127.0.0.1:PORT
            row 4 took        look-up 0.00 ms, TCP 0.00 ms; hides ended; hides secrets; hides sandbox
            hides TLS; row 9 TCP; row 10 network     minimum round trip ; row 11 segments
            keys Esc; ECHO a; keys M-i; row 11 p50         60.0ms = network
            keys F8 M-i; row 8 ended       disconnected; not bad ended)"},
        {"of datagrams",
         R"(size 60x120; over datagrams; keys M-i; row 4 took        look-up 0.00 ms; hides TCP)"},
        {"with WebSocket",
         R"(size 60x120; --ws; keys M-i; hides WebSocket response; row 13 WebSocket request
            row 14             GET / HTTP/1.1; row 15             Host: a)"},
        {"with TLS",
         R"(size 60x120; to a TLS server; -k; keys M-i; shows , TLS 0.00 ms; row 9 TCP
            row 13 TLS; row 14 version     TLSv1.3, TLS_; row 15 group       ; hides protocol
            row 17 Certificate; bad verified    no: it is self-signed; row 19 subject     
            row 20 issuer      ; row 21 valid until 20
            row 22 pin         --pinnedpubkey sha256//; row 23 chain       )"},
    });
}
