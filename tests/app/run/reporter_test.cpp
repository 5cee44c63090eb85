#include "app/run/reporter.hpp"

#include "app/protocol/event.hpp"
#include "tests/support/blocked.hpp"
#include "tests/support/redirected.hpp"
#include "tests/support/virtual_time.hpp"

#include <unistd.h>

using namespace std::chrono_literals;
using namespace yodel;
using test::Redirected;
using test::VirtualLoop;

namespace {

// Returns the reporter's output for the events.
std::string printed(const std::vector<Event>& events, Reporter::Options options,
                    RunOptions run = {}) {
    const Redirected output(STDOUT_FILENO);
    VirtualLoop loop;
    run.from = RunOptions::From::input;
    Reporter reporter(loop, std::move(options), run);
    for (const Event& event : events) reporter.lane_event(event);
    reporter.flush();
    reporter.finish_output();
    return output.text();
}

// Message 3, planned for 1 ms and written at 2 ms.
const Message ab{.id = 3,
                 .payload = "ab",
                 .planned_at = VirtualLoop::start + 1ms,
                 .sent_at = VirtualLoop::start + 2ms};

}  // namespace

TEST_CASE("a duplicate datagram is not printed") {
    RunOptions run;
    run.session.endpoint.is_udp = true;
    CHECK(printed({received_event(Fate::duplicate, "ab")}, {}, run).empty());
}

TEST_CASE("a reporter prints each event in its form") {
    struct Row {
        Event event;
        std::string payload;
        std::string hex;  // without repeated spaces
        std::string sequence;
    };
    Message late = ab;
    late.is_late = true;
    const std::string whole = "00000000 61 62 |ab|\n";
    const Row rows[] = {
        {answered_event(ab, {"ab", 5ms, true}), "ab\n", whole, "2 bytes, seq 3, 5.0 ms\n"},
        {answered_event(ab, {"a", 5ms, false, 1, false, 'b'}), "a\n", "00000000 61 |a|\n",
         "1 byte, seq 3, 5.0 ms, differs at byte 1 (expected b, got end)\n"},
        {answered_event(late, {"ab", {}, true}), "ab\n", whole, "2 bytes, seq 3, late\n"},
        {answered_event(ab, {"ab", 5ms, true, {}, true}), "ab\n", whole,
         "2 bytes, seq 3, 5.0 ms, reordered\n"},
        {{.fate = Fate::lost, .message = ab}, "", "", "no reply, seq 3\n"},
        {{.fate = Fate::unsent, .message = ab}, "", "", "not sent, seq 3\n"},
        {received_event(Fate::unsolicited, "hi"), "hi\n", "00000000 68 69 |hi|\n", ""},
        {received_event(Fate::duplicate, "ab"), "ab\n", whole, "2 bytes, duplicate\n"},
    };
    using enum Reporter::Form;
    const auto squeezed = [](const std::string& text) {
        std::string to;
        for (const char byte : text)
            if (byte != ' ' || !to.ends_with(' ')) to += byte;
        return to;
    };
    for (const Row& row : rows) {
        Event event = row.event;
        event.at = VirtualLoop::start;
        const auto print = [&](const Reporter::Options& options) {
            return printed({event}, options);
        };
        CHECK(print({.form = payload}) == row.payload);
        CHECK(squeezed(print({.form = hex})) == row.hex);
        const auto object = [&](const EventForm& form) {
            return yodel::json(event, VirtualLoop::start, form).str() + "\n";
        };
        CHECK(print({.form = json}).ends_with("}\n" + object({.max_payload = 1000})));
        CHECK(print({.form = sequence}) == row.sequence);
        CHECK(print({.form = json, .is_quiet = true}).empty());
        CHECK(print({.form = sequence, .is_quiet = true}).empty());
        CHECK(print({.form = payload, .is_load = true}).empty());
        CHECK(print({.form = payload, .is_verbose = true, .is_load = true}) ==
              (row.payload.empty() ? "" : "1: " + row.payload));
        CHECK(print({.form = json, .is_load = true}) == object({.has_connection = true}));
    }
}

TEST_CASE("echoed lines are printed unchanged") {
    Event event = answered_event({.id = 1, .payload = {}}, {});
    event.count = 2;
    event.frames = "one\ntwo\n";
    CHECK(printed({event}, {}) == "one\ntwo\n");
}

TEST_CASE("a reply is printed on a terminal with its unsafe bytes escaped") {
    const test::Ends terminal = test::terminal_ends();
    const Redirected output(STDOUT_FILENO);
    ::dup2(terminal.writer.get(), STDOUT_FILENO);
    VirtualLoop loop;
    const RunOptions run;
    Reporter reporter(loop, {}, run);
    reporter.lane_event(answered_event(ab, {"a\x1b\nb\x07", 5ms, true}));
    reporter.flush();
    CHECK(test::take(terminal.reader) == "a^[\nb^G\n");
}

TEST_CASE("bytes without frames are printed once, before they are matched") {
    RunOptions run;
    run.session.framing = find_framing("raw");
    const std::vector<Event> events = {received_event(Fate::read, "a\nb"),
                                       answered_event(ab, {"a\nb", 5ms, true})};
    CHECK(printed(events, {}, run) == "a\nb");
    CHECK(printed(events, {.is_load = true}, run).empty());
}

TEST_CASE("a reporter prints only the differences of a replay") {
    RunOptions run;
    run.session.expect = Expect::given;
    Message expected = ab;
    expected.expected = "AB";
    const std::pair<Event, const char*> rows[] = {
        {answered_event(expected, {"AB", 5ms, true}), ""},
        {answered_event(expected, {"Ab", 5ms, false, 1, false, 'B'}),
         "reply 3 differs at byte 1 (expected B, got b)\n"
         "    sent      ab\n    recorded  AB\n    now       Ab\n"},
        {{.fate = Fate::unanswered_as_recorded, .message = ab}, ""},
        {{.fate = Fate::lost, .message = expected},
         "reply 3 is missing\n    sent      ab\n    recorded  AB\n"},
        {received_event(Fate::unsolicited_as_recorded, "x"), ""},
        {received_event(Fate::unrecorded, "x"),
         "an unsolicited message is not in the recording\n    now       x\n"},
        {received_event(Fate::missing, "x"),
         "a recorded unsolicited message is missing\n    recorded  x\n"},
    };
    for (const auto& [event, text] : rows) CHECK(printed({event}, {}, run) == text);
}
