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

// Returns the reporter's output for the event.
std::string printed(Reporter::Options options, RunOptions run,
                    const std::function<void(Reporter&)>& event) {
    const Redirected output(STDOUT_FILENO);
    VirtualLoop loop;
    run.from = RunOptions::From::input;
    Reporter reporter(loop, std::move(options), run);
    event(reporter);
    reporter.flush();
    reporter.finish_output();
    return output.text();
}

// Message 3, planned for 1 ms and written at 2 ms.
Message message(std::string_view payload) {
    return {.id = 3,
            .payload = payload,
            .planned_at = VirtualLoop::start + 1ms,
            .sent_at = VirtualLoop::start + 2ms};
}
Message late(std::string_view payload) {
    Message to = message(payload);
    to.is_late = true;
    return to;
}

void answer(Reporter& to, const Message& message, const Reply& reply) {
    to.lane_event(answered_event(message, reply));
}
void unanswered(Reporter& to, Fate fate, const Message& message) {
    to.lane_event({.fate = fate, .message = message});
}
void unsolicited(Reporter& to, Fate fate, std::string_view payload) {
    to.lane_event(received_event(fate, payload));
}

}  // namespace

TEST_CASE("a duplicate datagram is not printed") {
    RunOptions run;
    run.session.endpoint.udp = true;
    const auto copy = [](Reporter& to) { unsolicited(to, Fate::duplicate, "ab"); };
    CHECK(printed({}, run, copy).empty());
}

TEST_CASE("a reporter prints each event in its form") {
    struct Row {
        Fate fate;
        std::optional<Message> message;
        std::optional<Reply> reply;
        std::string payload;
        std::string hex;  // without repeated spaces
        std::string sequence;
    };
    const Message ab = message("ab");
    const std::string whole = "00000000 61 62 |ab|\n";
    const Row rows[] = {
        {Fate::echoed, ab, Reply{"ab", 5ms, true}, "ab\n", whole, "2 bytes, seq 3, 5.0 ms\n"},
        {Fate::bad, ab, Reply{"a", 5ms, false, 1, false, 'b'}, "a\n", "00000000 61 |a|\n",
         "1 byte, seq 3, 5.0 ms, differs at byte 1 (expected b, got end)\n"},
        {Fate::late, late("ab"), Reply{"ab", {}, true}, "ab\n", whole,
         "2 bytes, seq 3, late\n"},
        {Fate::echoed, ab, Reply{"ab", 5ms, true, {}, true}, "ab\n", whole,
         "2 bytes, seq 3, 5.0 ms, reordered\n"},
        {Fate::lost, ab, {}, "", "", "no reply, seq 3\n"},
        {Fate::unsent, ab, {}, "", "", "not sent, seq 3\n"},
        {Fate::unsolicited, {}, Reply{"hi"}, "hi\n", "00000000 68 69 |hi|\n", ""},
        {Fate::duplicate, {}, Reply{"ab"}, "ab\n", whole, "2 bytes, duplicate\n"},
    };
    using enum Reporter::Form;
    const auto squeezed = [](const std::string& text) {
        std::string to;
        for (const char byte : text)
            if (byte != ' ' || !to.ends_with(' ')) to += byte;
        return to;
    };
    for (const Row& row : rows) {
        const Event event{.fate = row.fate,
                          .message = row.message.value_or(Message{}),
                          .reply = row.reply.value_or(Reply{}),
                          .at = VirtualLoop::start};
        const auto print = [&](const Reporter::Options& options) {
            return printed(options, {}, [&](auto& to) { to.lane_event(event); });
        };
        CHECK(print({.form = payload}) == row.payload);
        CHECK(squeezed(print({.form = hex})) == row.hex);
        const auto object = [&](const EventForm& form) {
            return yodel::json(event, VirtualLoop::start, form).str() + "\n";
        };
        CHECK(print({.form = json}).ends_with("}\n" + object({.max_payload = 1000})));
        CHECK(print({.form = sequence}) == row.sequence);
        CHECK(print({.form = json, .quiet = true}).empty());
        CHECK(print({.form = sequence, .quiet = true}).empty());
        CHECK(print({.form = payload, .load = true}).empty());
        CHECK(print({.form = payload, .verbose = true, .load = true}) ==
              (row.payload.empty() ? "" : "1: " + row.payload));
        CHECK(print({.form = json, .load = true}) == object({.connection = true}));
    }
}

TEST_CASE("echoed lines are printed unchanged") {
    CHECK(printed({}, {}, [](auto& to) {
              Event event = answered_event({.id = 1, .payload = {}}, {});
              event.count = 2;
              event.frames = "one\ntwo\n";
              to.lane_event(event);
          }) == "one\ntwo\n");
}

TEST_CASE("a reply is printed on a terminal with its unsafe bytes escaped") {
    const test::Ends terminal = test::terminal_ends();
    const Redirected output(STDOUT_FILENO);
    ::dup2(terminal.writer.get(), STDOUT_FILENO);
    VirtualLoop loop;
    const RunOptions run;
    Reporter reporter(loop, {}, run);
    answer(reporter, message("ab"), {"a\x1b\nb\x07", 5ms, true});
    reporter.flush();
    CHECK(test::take(terminal.reader) == "a^[\nb^G\n");
}

TEST_CASE("bytes without frames are printed once, before they are matched") {
    RunOptions run;
    run.session.framing = find_framing("raw");
    const auto event = [](Reporter& to) {
        to.lane_event(received_event(Fate::read, "a\nb"));
        answer(to, message("a\nb"), {"a\nb", 5ms, true});
    };
    CHECK(printed({}, run, event) == "a\nb");
    CHECK(printed({.load = true}, run, event).empty());
}

TEST_CASE("a reporter prints only the differences of a replay") {
    RunOptions run;
    run.session.expect = Expect::given;
    Message expected = message("ab");
    expected.expected = "AB";
    const auto print = [&](const std::function<void(Reporter&)>& event) {
        return printed({}, run, event);
    };
    CHECK(print([&](auto& to) { answer(to, expected, {"AB", 5ms, true}); }).empty());
    CHECK(print([&](auto& to) {
              answer(to, expected, {"Ab", 5ms, false, 1, false, 'B'});
          }) == "reply 3 differs at byte 1 (expected B, got b)\n"
                "    sent      ab\n    recorded  AB\n    now       Ab\n");
    CHECK(print([](auto& to) {
              unanswered(to, Fate::unanswered_as_recorded, message("ab"));
          }).empty());
    CHECK(print([&](auto& to) { unanswered(to, Fate::lost, expected); }) ==
          "reply 3 is missing\n    sent      ab\n    recorded  AB\n");
    CHECK(print([](auto& to) { unsolicited(to, Fate::unsolicited_as_recorded, "x"); }).empty());
    CHECK(print([](auto& to) { unsolicited(to, Fate::unrecorded, "x"); }) ==
          "an unsolicited message is not in the recording\n    now       x\n");
    CHECK(print([](auto& to) { unsolicited(to, Fate::missing, "x"); }) ==
          "a recorded unsolicited message is missing\n    recorded  x\n");
}
