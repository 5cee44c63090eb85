#include "app/run/reporter.hpp"

#include "tests/support/blocked.hpp"
#include "tests/support/redirected.hpp"
#include "tests/support/virtual_time.hpp"

#include <unistd.h>

using namespace std::chrono_literals;
using namespace yodel;
using test::Redirected;
using test::VirtualLoop;

namespace {

struct NobodyElse final : Reporter::User {
    void output_changed() override {}
    bool prepare_for_line() override { return true; }
    void reported(unsigned, std::size_t, const Message&, const Reply*) override {}
};

// Returns the reporter's output for the event.
std::string printed(Reporter::Options options, const RunOptions& run,
                    const std::function<void(Reporter&)>& event) {
    const Redirected output(STDOUT_FILENO);
    VirtualLoop loop;
    NobodyElse user;
    Reporter reporter(loop, std::move(options), run, true, user);
    event(reporter);
    reporter.flush();
    reporter.close_log();
    return output.text();
}

Reporter::Options in(Reporter::Form form) {
    Reporter::Options to;
    to.form = form;
    return to;
}
Reporter::Options quietly(Reporter::Form form) {
    Reporter::Options to = in(form);
    to.quiet = true;
    return to;
}
Reporter::Options load_in(Reporter::Form form, bool verbose = false) {
    Reporter::Options to = in(form);
    to.load = true;
    to.verbose = verbose;
    return to;
}

// Message 3, planned for 1 ms and written at 2 ms.
Message message(std::string_view payload) {
    return {.id = 3,
            .payload = payload,
            .planned = VirtualLoop::start + 1ms,
            .sent = VirtualLoop::start + 2ms};
}
Message late(std::string_view payload) {
    Message to = message(payload);
    to.late = true;
    return to;
}

void answer(Reporter& to, const Message& message, const Reply& reply) {
    to.resolved(1, fate_of(message, reply), &message, &reply);
}
void unanswered(Reporter& to, Fate fate, const Message& message) {
    to.resolved(1, fate, &message, nullptr);
}
void unsolicited(Reporter& to, Fate fate, std::string_view payload) {
    const Reply reply{.payload = payload};
    to.resolved(1, fate, nullptr, &reply);
}

const std::string three = R"({"type":"message","seq":3,"sent_bytes":2,)";
const std::string times = R"("planned_us":1000.000,"sent_us":2000.000,)";

}  // namespace

TEST_CASE("a duplicate datagram is not printed") {
    RunOptions run;
    run.session.endpoint.udp = true;
    const auto copy = [](Reporter& to) { unsolicited(to, Fate::duplicate, "ab"); };
    CHECK(printed(in(Reporter::Form::payload), run, copy).empty());
}

TEST_CASE("a reporter prints each event in its form") {
    struct Row {
        std::function<void(Reporter&)> event;
        std::string payload;
        std::string hex;  // without repeated spaces
        std::string json;
        std::string sequence;
    };
    const Row rows[] = {
        {[](auto& to) {
             answer(to, message("ab"), {"ab", 5ms, true});
         },
         "ab\n", "00000000 61 62 |ab|\n",
         three + R"("received_bytes":2,)" + times +
             R"("rtt_us":5000.000,"fate":"echoed","right":true})" + "\n",
         "2 bytes, seq 3, 5.0 ms\n"},
        {[](auto& to) {
             answer(to, message("ab"), {"a", 5ms, false, 1, false, 'b'});
         },
         "a\n", "00000000 61 |a|\n",
         three + R"("received_bytes":1,)" + times +
             R"("rtt_us":5000.000,"fate":"bad","right":false,"difference":1})" + "\n",
         "1 byte, seq 3, 5.0 ms, differs at byte 1 (expected b, got end)\n"},
        {[](auto& to) {
             answer(to, late("ab"), {"ab", {}, true});
         },
         "ab\n", "00000000 61 62 |ab|\n",
         three + R"("received_bytes":2,)" + times + R"("fate":"late","right":true})" + "\n",
         "2 bytes, seq 3, late\n"},
        {[](auto& to) {
             answer(to, message("ab"), {"ab", 5ms, true, {}, true});
         },
         "ab\n", "00000000 61 62 |ab|\n",
         three + R"("received_bytes":2,)" + times +
             R"("rtt_us":5000.000,"fate":"echoed","reordered":true,"right":true})" + "\n",
         "2 bytes, seq 3, 5.0 ms, reordered\n"},
        {[](auto& to) { unanswered(to, Fate::lost, message("ab")); }, "", "",
         three + times + R"("fate":"lost"})" + "\n", "no reply, seq 3\n"},
        {[](auto& to) { unanswered(to, Fate::unsent, message("ab")); }, "", "",
         three + times + R"("fate":"unsent"})" + "\n", "not sent, seq 3\n"},
        {[](auto& to) { unsolicited(to, Fate::unsolicited, "hi"); }, "hi\n",
         "00000000 68 69 |hi|\n",
         R"({"type":"message","received_bytes":2,"fate":"unsolicited"})"
         "\n",
         ""},
        {[](auto& to) { unsolicited(to, Fate::duplicate, "ab"); }, "ab\n",
         "00000000 61 62 |ab|\n",
         R"({"type":"message","received_bytes":2,"fate":"duplicate"})"
         "\n",
         "2 bytes, duplicate\n"},
    };
    using enum Reporter::Form;
    const auto squeezed = [](const std::string& text) {
        std::string to;
        for (const char byte : text)
            if (byte != ' ' || !to.ends_with(' ')) to += byte;
        return to;
    };
    const RunOptions run;
    for (const Row& row : rows) {
        CHECK(printed(in(payload), run, row.event) == row.payload);
        CHECK(squeezed(printed(in(hex), run, row.event)) == row.hex);
        CHECK(printed(in(json), run, row.event) == row.json);
        CHECK(printed(in(sequence), run, row.event) == row.sequence);
        CHECK(printed(quietly(json), run, row.event).empty());
        CHECK(printed(quietly(sequence), run, row.event).empty());
        CHECK(printed(load_in(payload), run, row.event).empty());
        const std::string numbered = row.payload.empty() ? "" : "1: " + row.payload;
        CHECK(printed(load_in(payload, true), run, row.event) == numbered);
        const std::string object = row.json.substr(0, row.json.size() - 2);
        CHECK(printed(load_in(json), run, row.event) == object + ",\"connection\":1}\n");
    }
}

TEST_CASE("lines that came back unchanged are printed unchanged") {
    CHECK(printed({}, {}, [](auto& to) {
              to.echoed(
                  1, {.first = {.id = 1, .payload = {}}, .count = 2, .frames = "one\ntwo\n"});
          }) == "one\ntwo\n");
}

TEST_CASE("a reply is printed on a terminal with its unsafe bytes escaped") {
    const test::Ends terminal = test::terminal_ends();
    const Redirected output(STDOUT_FILENO);
    ::dup2(terminal.writer.get(), STDOUT_FILENO);
    VirtualLoop loop;
    NobodyElse user;
    const RunOptions run;
    Reporter reporter(loop, {}, run, true, user);
    answer(reporter, message("ab"), {"a\x1b\nb\x07", 5ms, true});
    reporter.flush();
    CHECK(test::take(terminal.reader) == "a^[\nb^G\n");
}

TEST_CASE("bytes without frames are printed once, before they are matched") {
    RunOptions run;
    run.session.framing = find_framing("raw");
    const auto event = [](Reporter& to) {
        to.received(1, "a\nb");
        answer(to, message("a\nb"), {"a\nb", 5ms, true});
    };
    CHECK(printed({}, run, event) == "a\nb");
    CHECK(printed(load_in(Reporter::Form::payload), run, event).empty());
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
