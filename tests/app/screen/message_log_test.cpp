// The tests set the times of the log, and check each entry as a row of text.

#include "app/screen/message_log.hpp"

#include "app/text/units.hpp"
#include "tests/support/catch.hpp"
#include "ui/glyphs.hpp"

using namespace std::chrono_literals;
using namespace yodel;

namespace {

const MessageLog::WallTime start{1'800'000'000s + 208ms};

Message message(std::uint64_t id, std::string_view payload) {
    return {.id = id, .payload = payload};
}

Reply right(std::string_view payload, std::optional<ev::Duration> round_trip = 210us) {
    return {.payload = payload, .round_trip = round_trip, .right = true};
}

Reply bad(std::string_view payload, std::size_t difference) {
    return {.payload = payload, .round_trip = 210us, .difference = difference};
}

// Returns the entries as rows of text, the oldest first.
std::vector<std::string> rows(const MessageLog& log) {
    std::vector<std::string> texts;
    const ui::Transcript& transcript = log.transcript();
    for (std::size_t i = 0; i < transcript.size(); ++i) {
        const ui::Transcript::Entry& entry = *transcript.find(transcript.oldest() + i);
        texts.push_back(ui::plain_text(entry.prefix) + entry.body +
                        ui::plain_text(entry.suffix));
    }
    return texts;
}

// Adds one entry of each kind, a second apart.
void add_each(MessageLog& log) {
    log.add_note(start, "note");
    log.add_sent(start + 1s, 1, "hello");
    log.add_answer(start + 2s, message(1, "hello"), right("hello"), std::nullopt);
    log.add_sent(start + 3s, 2, "again");
    log.add_answer(start + 4s, message(2, "again"), bad("agaXn", 3), std::nullopt);
    log.add_sent(start + 5s, 3, "gone");
    log.add_loss(start + 6s, message(3, "gone"), "no reply after 5s");
    log.add_unsolicited(start + 7s, "news");
}

void no_timestamps(MessageLog& log) {
    log.next_timestamp_style();
    log.next_timestamp_style();
}

}  // namespace

TEST_CASE("each kind of entry has its sign, and its time in the chosen style") {
    MessageLog log({}, true);
    add_each(log);
    const std::string blank(12, ' ');
    const auto clock = [](int seconds) { return clock_text(start + seconds * 1s); };
    struct Row {
        std::string clock;
        std::string since_last;
        std::string off;
        std::string text;
    };
    const Row entries[] = {
        {clock(0), " +0.000s", "", "- note"},
        {clock(1), " +1.000s", "", "> hello"},
        {"      0.21ms", "  0.21ms", "0.21ms", "< hello ok"},
        {clock(3), " +1.000s", "", "> again"},
        {"      0.21ms", "  0.21ms", "0.21ms", "< agaXn x differs at byte 3: 69>58"},
        {clock(5), " +1.000s", "", "> gone"},
        {blank, " +1.000s", "", "? gone - no reply after 5s"},
        {blank, " +1.000s", "", "<< news"}};
    for (std::string Row::*style : {&Row::clock, &Row::since_last, &Row::off, &Row::clock}) {
        std::vector<std::string> expected;
        for (const Row& row : entries)
            expected.push_back(row.*style + ((row.*style).empty() ? "" : " ") + row.text);
        CHECK(rows(log) == expected);
        log.next_timestamp_style();
    }
}

TEST_CASE("a long pause is shown in whole seconds") {
    MessageLog log({}, true);
    log.next_timestamp_style();
    log.add_note(start, "a");
    log.add_note(start + 999s, "b");
    log.add_note(start + 2000s, "c");
    CHECK(rows(log) ==
          std::vector<std::string>{" +0.000s - a", "+999.000s - b", "  +1001s - c"});
}

TEST_CASE("a reply that ends early is marked, and a reply across a pause has no time") {
    MessageLog log({}, true);
    no_timestamps(log);
    log.add_answer(start, message(1, "long"), bad("lo", 2), std::nullopt);
    log.add_answer(start, message(2, "paused"), right("paused", std::nullopt), std::nullopt);
    log.add_answer(start, message(3, "PING"), {"-ERR", 210us}, std::nullopt);
    CHECK(rows(log) == std::vector<std::string>{"0.21ms < lo x differs at byte 2: 6e>end",
                                                "untimed < paused ok",
                                                "0.21ms < -ERR x does not match"});
}

TEST_CASE("a late reply has its fate, and the network's share") {
    MessageLog log({}, true);
    no_timestamps(log);
    log.add_sent(start, 1, "hello");
    log.add_loss(start, message(1, "hello"), "no reply after 5s");
    log.add_answer(start, message(1, "hello"), right("hello"), 100us);
    CHECK(rows(log) == std::vector<std::string>{"> hello", "? hello - no reply after 5s",
                                                "0.21ms < hello ok"});
    log.transcript().select_older();
    CHECK(log.selected()->network_round_trip == ev::Duration(100us));
}

TEST_CASE("the selected entry yields its message and reply, a note yields nothing") {
    MessageLog log({}, true);
    add_each(log);
    CHECK(log.selected() == nullptr);
    std::vector<std::string> exchanges;
    for (std::size_t i = 0; i < 8; ++i) {
        log.transcript().select_older();
        const auto exchange = log.selected();
        exchanges.push_back(!exchange ? "none"
                                      : std::to_string(exchange->id) + " " + exchange->payload +
                                            "=" + exchange->reply);
    }
    CHECK(exchanges ==
          std::vector<std::string>{"0 =news", "3 gone=", "3 gone=", "2 again=agaXn",
                                   "2 again=agaXn", "1 hello=hello", "1 hello=hello", "none"});
}

TEST_CASE("a reply after the loss belongs to the message that was sent") {
    MessageLog log({}, true);
    log.add_sent(start, 1, "late");
    log.add_loss(start + 5s, message(1, "late"), "no reply after 5s");
    Message late = message(1, "late");
    late.late = true;
    log.add_answer(start + 6s, late, right("late", 6s), std::nullopt);
    log.transcript().select_older();
    const auto answered = log.selected();
    log.transcript().select_older();
    CHECK(log.selected() == answered);
    CHECK((answered->sent_at == start));
    CHECK(answered->late);
    CHECK((answered->answered_at == start + 6s));
    CHECK(answered->round_trip == ev::Duration(6s));
}

TEST_CASE("dropped entries drop their messages, and a reply is logged without them") {
    MessageLog log({.entries = 2}, true);
    log.add_sent(start, 1, "first");
    log.add_sent(start, 2, "second");
    log.add_sent(start, 3, "third");
    log.transcript().scroll_to_start();
    log.transcript().select_older();
    log.transcript().select_older();
    CHECK(log.selected()->payload == "second");
    log.add_answer(start + 1s, message(1, "first"), right("first"), std::nullopt);
    log.transcript().select_none();
    log.transcript().select_older();
    CHECK(log.selected()->payload == "first");
    CHECK_FALSE(log.selected()->sent_at);
}

TEST_CASE("a selected entry keeps its message while others arrive and are dropped") {
    MessageLog log({.entries = 8}, true);
    add_each(log);
    log.transcript().rows(80, 2);
    for (int i = 0; i < 4; ++i) log.transcript().select_older();
    for (int i = 0; i < 100; ++i) log.add_note(start + 8s, "note");
    CHECK(log.transcript().size() == 8);
    REQUIRE(log.selected());
    CHECK(log.selected()->reply == "agaXn");
    CHECK(log.selected_text(10) == "agaXn");
    CHECK(log.transcript().find(*log.transcript().selected())->bad_byte == 3);
}

TEST_CASE("the selected entry's text is its message, or the bytes as numbers") {
    MessageLog log({}, true);
    CHECK_FALSE(log.selected_text(100));
    add_each(log);
    CHECK_FALSE(log.selected_text(100));
    log.transcript().select_older();
    CHECK(log.selected_text(100) == "news");
    CHECK(log.selected_text(3) == "new");
    log.transcript().show_hex(true);
    CHECK(log.selected_text(100) == "6e 65 77 73");
    CHECK(log.selected_text(2) == "6e 65");
    for (int i = 0; i < 10; ++i) log.transcript().select_older();
    CHECK(log.selected_text(100) == "note");  // a note has no hex view
}

TEST_CASE("a transcript gets a line for each entry, with remarks about faults") {
    std::string lines;
    MessageLog log({}, true);
    log.add_note(start, "before the file");
    log.write_to(
        [&](auto, char sign, auto line) { (lines += sign).append(" ").append(line) += '\n'; });
    add_each(log);
    log.write_to({});
    log.add_note(start, "after it");
    CHECK(lines == "- note\n> hello\n< hello\n> again\n< agaXn\n"
                   "- message 2 x differs at byte 3: 69>58\n> gone\n"
                   "- gone - no reply after 5s\n< news\n");
}
