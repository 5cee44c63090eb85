// Puts the events of a recording into the order of their times.

#include "app/protocol/recorded_events.hpp"

#include "tests/support/table.hpp"

using namespace std::chrono_literals;
using namespace yodel;

namespace {

// Adds messages such as "2@5-9", number 2 sent at 5 us and answered at 9, and unsolicited
// messages such as "+7". A message with ! is adjacent to its reply, one with ? is lost, ~ a
// late reply. Returns the events that can be shown: ">2" and "<2" for a message and its reply.
// A bar separates the events that can be shown at once from those after the end.
std::string shown(const std::string& added) {
    RecordedEvents events;
    std::string text;
    const auto take = [&] {
        while (const RecordedEvent* const event = events.next()) {
            const bool sent = event->kind == RecordedEvent::Kind::sent;
            text += (sent ? ">" : "<") + std::to_string(event->message.id) + " ";
        }
    };
    std::istringstream words(added);
    for (std::string word; words >> word;) {
        char mark = 0;
        unsigned number = 0;
        int sent = 0;
        int at = 0;
        RecordedEvent event{.fate = Fate::echoed, .received = "r"};
        if (word[0] == '+') {
            event.at = std::stoi(word) * 1us;
            events.add(std::move(event));
        } else {
            std::istringstream(word) >> number >> mark >> sent >> mark >> at >> mark;
            if (mark == '~') event.fate = Fate::late;
            event.message = {.id = number, .payload = {}, .sent = ev::Time(sent * 1us)};
            event.at = at * 1us;
            event.sent = "s";
            events.add_message(std::move(event), mark == '!');
        }
        take();
    }
    text += "| ";
    events.end();
    take();
    text.pop_back();
    return text;
}

}  // namespace

TEST_CASE("recorded events are shown in the order of their times") {
    const auto [added, expected] = GENERATE(table<std::string, std::string>({
        {"", "|"},
        {"1@1-2", ">1 | <1"},
        {"1@1-2 2@3-4", ">1 <1 >2 | <2"},
        {"2@2-3 1@1-5 3@4-6", ">1 >2 <2 >3 | <1 <3"},
        {"1@1-9 2@1-8 3@1-7", ">1 >2 >3 | <3 <2 <1"},
        {"+3 1@1-2 2@4-5", ">1 <1 <0 >2 | <2"},
        {"1@1-3 2@2-4 1@1-8~ 3@9-12", ">1 >2 <1 <2 <1 >3 | <3"},
        {"3@3-4 5@5-6", "| >3 <3 >5 <5"},
        {"1@5-9! 1@1-7! 2@2-3!", "| >1 <1 >2 <2 >1 <1"},
    }));
    CAPTURE(added);
    CHECK(shown(added) == expected);
}

TEST_CASE("recorded events are shown out of order before they exceed their memory") {
    RecordedEvents events;
    const auto add = [&events](std::uint64_t number) {
        events.add_message({.fate = Fate::echoed,
                            .message = {.id = number, .payload = {}, .sent = ev::Time(1us)},
                            .sent = std::string(1024 * 1024, 's'),
                            .received = "r"},
                           false);
    };
    std::uint64_t number = 2;  // number 1 is missing
    for (; number < 10; ++number) add(number);
    CHECK_FALSE(events.next());
    for (; number < 50; ++number) add(number);
    const RecordedEvent* const event = events.next();
    REQUIRE(event);
    CHECK(event->message.id == 2);
    CHECK(event->message.payload.size() == 1024 * 1024);
}
