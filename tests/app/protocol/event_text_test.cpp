#include "app/protocol/event_text.hpp"

#include "tests/support/catch.hpp"

using namespace std::chrono_literals;
using namespace yodel;

TEST_CASE("each fate has its lines in a transcript") {
    const Message message{.id = 3, .payload = "hel\x1bo"};
    const Reply right{.payload = "hel\x1bo", .right = true};
    const struct {
        Event event;
        const char* lines;
    } cases[] = {
        {{.fate = Fate::note, .reply = {"closed"}}, "- closed\n"},
        {{.fate = Fate::sent, .message = message}, "> hel^[o\n"},
        {{.fate = Fate::unsent, .message = message}, "- message 3 was not sent\n"},
        {{.fate = Fate::echoed, .message = message, .reply = right}, "< hel^[o\n"},
        {{.fate = Fate::late, .message = message, .reply = right}, "< hel^[o\n"},
        {{.fate = Fate::as_recorded, .message = message, .reply = right}, "< hel^[o\n"},
        {{.fate = Fate::bad,
          .message = message,
          .reply = {.payload = "help", .difference = 3, .right_byte = '\x1b'}},
         "< help\n- reply 3 differs at byte 3 (expected 0x1b, got p)\n"},
        {{.fate = Fate::bad, .message = message, .reply = {.payload = "-ERR"}},
         "< -ERR\n- reply 3 does not match\n"},
        {{.fate = Fate::late,
          .message = message,
          .reply = {.payload = "hel", .difference = 3, .right_byte = '\x1b'}},
         "< hel\n- reply 3 differs at byte 3 (expected 0x1b, got end)\n"},
        {{.fate = Fate::lost, .message = message, .reply = {" within 5s; 2 bytes received"}},
         "- no reply to message 3 within 5s; 2 bytes received\n"},
        {{.fate = Fate::unanswered_as_recorded, .message = message},
         "- no reply to message 3, as recorded\n"},
        {{.fate = Fate::unsolicited, .reply = {"news"}}, "< news\n"},
        {{.fate = Fate::unsolicited_as_recorded, .reply = {"news"}}, "< news\n"},
        {{.fate = Fate::unrecorded, .reply = {"news"}}, "< news\n"},
        {{.fate = Fate::stale, .reply = {"news"}}, "< news\n"},
        {{.fate = Fate::read, .reply = {"ne"}}, "< ne\n"},
        {{.fate = Fate::duplicate, .reply = {"news"}}, "< news\n- a duplicate reply\n"},
        {{.fate = Fate::missing, .reply = {"news"}},
         "- a recorded unsolicited message did not arrive\n"},
    };
    const std::string date = "2027-01-15 08:00:00.208113 ";
    for (const auto& [event, expected] : cases) {
        std::string text =
            lines(std::chrono::system_clock::time_point(1'800'000'000'208'113us), event);
        for (std::size_t at = 0; (at = text.find(date, at)) != text.npos;) {
            CHECK((at == 0 || text[at - 1] == '\n'));
            text.erase(at, date.size());
        }
        CHECK(text == expected);
    }
}
