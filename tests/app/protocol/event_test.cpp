// Compares replies, and writes events as lines and as JSON objects, which it reads back.

#include "app/protocol/event.hpp"

#include "app/protocol/framing.hpp"
#include "tests/support/catch.hpp"

#include <random>

using namespace std::chrono_literals;
using namespace yodel;

namespace {

StoredEvent read(const std::string& object, ev::Time previous = {}, bool sample = false) {
    return read_event(read_json(object), previous, sample);
}

std::string refusal(const std::string& object) {
    try {
        read(object);
        return "";
    } catch (const JsonError& error) {
        return error.what();
    }
}

}  // namespace

TEST_CASE("gives a hint that fits the reply") {
    const auto hint = [](const char* framing, std::string_view reply) {
        return reply_hint(*find_framing(framing), "hello", {.payload = reply, .difference = 0});
    };
    const std::string any = "if the service does not echo, use --expect any";
    const std::string crlf = "if lines end with CRLF, use -C";
    const std::string resp = "if the service speaks as Redis does, use -f resp";
    const std::string smtp = "if the service speaks SMTP or FTP, use -f smtp";
    const std::string tls = "the reply looks like TLS; use --tls";
    const struct {
        const char* framing;
        std::string reply;
        std::string hint;
    } rows[] = {
        {"line", "he11o", ""},
        {"line", "xello", ""},
        {"line", "hexxx", any},
        {"line", "hello" + std::string(6, 'x'), ""},
        {"line", "he" + std::string(3, 'x'), any},
        {"line", "helxxx", ""},
        {"line", "helxxxx", any},
        {"line", "hell", ""},
        {"line", "HTTP/1.1 400 Bad Request", any},
        {"line", "+PONG\r", resp},
        {"line", "+OK\r", resp},
        {"line", "-ERR unknown command\r", resp},
        {"line", "-NOAUTH Authentication required.\r", resp},
        {"line", "220 mail.test\r", smtp},
        {"line", "250-mail.test\r", smtp},
        {"line", "502 unknown command\r", smtp},
        {"line", "2500 records\r", any + "; " + crlf},
        {"line", "25", any},
        {"line", "hello\r", crlf},
        {"crlf", "hello\r", ""},
        {"crlf", "+PONG\r", resp},
        {"len2", std::string("hello\0\5", 7), ""},
        {"len2", "helloxyz", ""},
        {"line", "\x15\x03\x01", tls},
        {"line", "\x16\x03\x01", tls},
    };
    for (const auto& [framing, reply, expected] : rows) {
        CAPTURE(framing, reply);
        CHECK(hint(framing, reply) == expected);
    }
    const Framing& line = *find_framing("line");
    CHECK(reply_hint(line, "hello", {.payload = std::string(4096, 'x')}) == "");
    CHECK(reply_hint(line, "hello", {.payload = std::string(4097, 'x')}) ==
          "only the first 4096 bytes of a reply are examined");
}

TEST_CASE("compares a reply with the expected one, and names the place") {
    const struct {
        std::string expected;
        std::string reply;
        std::string place;
        const char* mask = nullptr;
    } rows[] = {
        {"hello", "hellO", "at byte 4 (expected o, got O)"},
        {"hello", "hell", "at byte 4 (expected o, got end)"},
        {"hell", "hello", "at byte 4 (expected end, got o)"},
        {"a b", "a~b", "at byte 1 (expected 0x20, got ~)"},
        {"a!b",
         "a\x7f"
         "b",
         "at byte 1 (expected !, got 0x7f)"},
        {"", "x", "at byte 0 (expected end, got x)"},
        {std::string("a\0b", 3), std::string("a\0c", 3), "at byte 2 (expected b, got c)"},
        {std::string(4096, 'm'), std::string(4095, 'm') + "n",
         "at byte 4095 (expected m, got n)"},
        {"t1ok", "t456no", "at byte 4 (expected o, got n)", "[0-9]+"},
        {"t456ok", "t1no", "at byte 2 (expected o, got n)", "[0-9]+"},
        {"t456", "t1!", "at byte 2 (expected end, got !)", "[0-9]+"},
    };
    for (const auto& [expected, reply, place, mask] : rows) {
        CAPTURE(expected, reply);
        std::optional<Regex> expression;
        if (mask) expression.emplace(mask);
        const auto* const masked = expression ? &*expression : nullptr;
        const Reply bad = compared_reply(masked, expected, reply, {});
        CHECK_FALSE(bad.is_right);
        CHECK(bad_byte_text(bad) == place);
        CHECK(compared_reply(masked, expected, expected, {}).is_right);
    }
    CHECK(bad_byte_text(compared_reply(nullptr, std::nullopt, "x", {})) ==
          "at byte 0 (expected end, got x)");
}

TEST_CASE("describes bytes, differences and stale replies") {
    CHECK(byte_text("a\xff", 0) == "61");
    CHECK(byte_text("a\xff", 1) == "ff");
    CHECK(byte_text("a\xff", 2) == "end");
    CHECK(differs_text(7) == "differs at byte 7");
    CHECK(differs_text({}) == "does not match");
    CHECK(stale_text("x") ==
          "after a right reply, the server sent \"x\", which answers no message");
}

TEST_CASE("each fate has its lines in a transcript") {
    const Message message{.id = 3, .payload = "hel\x1bo"};
    const Reply right{.payload = "hel\x1bo", .is_right = true};
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

TEST_CASE("an event is written as an object with its fate and what is known of it") {
    const ev::Time start{1s};
    const Message message{
        .id = 7, .payload = "a\"\x1b", .planned_at = start, .sent_at = start + 2us};
    const Reply right{.payload = "\xff", .round_trip = 3us, .is_right = true};
    const Reply bad{.payload = "abx", .difference = 2};
    const std::string sent =
        R"({"type":"message","seq":7,"sent_bytes":3,"planned_us":0.000,"sent_us":2.000,)";
    const std::string both = R"({"type":"message","seq":7,"sent_bytes":3,"received_bytes":)";
    const std::string times = R"(,"planned_us":0.000,"sent_us":2.000,)";
    const std::string sent_end = R"(,"sent":"a\"\u001b")";
    const std::string right_end = sent_end + R"(,"received_base64":"/w==")";
    const std::string bad_end = sent_end + R"(,"received":"abx")";
    const std::string received = R"({"type":"message","received_bytes":3,"fate":)";
    const std::string received_end = R"(,"received_us":5.000,"received":"abx")";
    const std::string answered = both + "1" + times + R"("rtt_us":3.000,"fate":)";
    const Reply reordered{.payload = "abx", .is_right = true, .is_reordered = true};
    const struct {
        Fate fate;
        Reply reply;
        std::string object;
        std::string payloads;
    } rows[] = {
        {Fate::sent, {}, sent + R"("fate":"sent")", sent_end},
        {Fate::unsent, {}, sent + R"("fate":"unsent")", sent_end},
        {Fate::lost, {}, sent + R"("fate":"lost")", sent_end},
        {Fate::unanswered_as_recorded, {}, sent + R"("fate":"matched")", sent_end},
        {Fate::echoed, right, answered + R"("echoed","right":true)", right_end},
        {Fate::as_recorded, right, answered + R"("matched","right":true)", right_end},
        {Fate::late, right, answered + R"("late","right":true)", right_end},
        {Fate::bad, bad, both + "3" + times + R"("fate":"bad","right":false,"difference":2)",
         bad_end},
        {Fate::echoed, reordered,
         both + "3" + times + R"("fate":"echoed","reordered":true,"right":true)", bad_end},
        {Fate::unsolicited, bad, received + R"("unsolicited")", received_end},
        {Fate::stale, bad, received + R"("unsolicited")", received_end},
        {Fate::duplicate, bad, received + R"("duplicate")", received_end},
        {Fate::missing, bad, received + R"("missing")", received_end},
        {Fate::unrecorded, bad, received + R"("unrecorded")", received_end},
    };
    for (const auto& row : rows) {
        Event event{.fate = row.fate, .reply = row.reply, .at = start + 5us};
        if (has_message(row.fate)) event.message = message;
        CHECK(json(event, start, {}).str() == row.object + "}");
        CHECK(json(event, start, {.max_payload = 100}).str() ==
              row.object + row.payloads + "}");
    }
    const Event cut{.fate = Fate::bad, .message = message, .reply = bad, .connection = 4};
    CHECK(json(cut, start, {.max_payload = 2, .has_connection = true})
              .str()
              .ends_with(R"("connection":4,"sent":"a\"","received":"ab"})"));
}

TEST_CASE("random events are read back unchanged") {
    std::mt19937 random;
    const auto bytes = [&] {
        std::string text(random() % 20, '\0');
        const bool plain = random() % 2 == 0;
        for (char& byte : text)
            byte = static_cast<char>(plain ? 'a' + random() % 26 : random());
        return text;
    };
    for (std::uint64_t id = 1; id <= 1000; ++id) {
        const std::string sent = bytes();
        const std::string received = bytes();
        Event event{.fate = static_cast<Fate>(random() % 13)};
        if (event.fate == Fate::unsolicited_as_recorded) continue;  // `unsolicited` in JSON
        event.at = ev::Time(id * 1003ns);
        event.connection = static_cast<std::uint32_t>(random() % 9 + 1);
        if (has_message(event.fate))
            event.message = {.id = id,
                             .payload = sent,
                             .planned_at = ev::Time(id * 1001ns),
                             .sent_at = ev::Time(id * 1003ns),
                             .is_late = event.fate == Fate::late};
        if (has_reply(event.fate)) event.reply = {.payload = received};
        if (has_reply(event.fate) && has_message(event.fate)) {
            event.reply.round_trip = random() % 100 * 1ns;
            event.reply.is_right = random() % 2 == 0;
            event.reply.is_reordered = random() % 2 == 0;
            if (random() % 2 == 0) event.reply.difference = random() % 9;
            event.at += *event.reply.round_trip;
        }
        const EventForm form{.max_payload = 100, .has_connection = true};
        const std::string object = json(event, {}, form).str();
        const StoredEvent found = read(object);
        CAPTURE(object);
        REQUIRE(found->fate == event.fate);
        REQUIRE((found->at == event.at));
        REQUIRE(found->message.is_late == event.message.is_late);
        REQUIRE(json(*found, {}, form).str() == object);
    }
}

TEST_CASE("an event whose object has no time happened when the one before it did") {
    const std::string lost = R"({"seq":1,"sent_us":5,"fate":"lost","sent":"a"})";
    CHECK((read(lost)->at == ev::Time(5us)));
    CHECK((read(lost, ev::Time(9us))->at == ev::Time(9us)));
    CHECK((read(lost)->message.planned_at == ev::Time(5us)));
}

TEST_CASE("a sample may be cut, and is timed from its planned time") {
    const StoredEvent event = read(
        R"({"seq":1,"sent_bytes":9,"received_bytes":9,"planned_us":5,"sent_us":7,"rtt_us":2,)"
        R"("fate":"bad","sent":"a","received":"b"})",
        {}, true);
    CHECK((event->message.sent_at == ev::Time(5us)));
    CHECK((event->at == ev::Time(7us)));
}

TEST_CASE("an object that is not an event is refused") {
    const auto [object, trouble] = GENERATE(table<std::string, std::string>({
        {R"({"seq":2,"planned_us":1,"fate":"fine","sent":"a"})",
         "\"fate\" is missing or has an unknown value"},
        {R"({"seq":2,"planned_us":1,"sent":"a"})",
         "\"fate\" is missing or has an unknown value"},
        {R"({"seq":2,"planned_us":1,"fate":"lost"})", "\"sent\" is missing"},
        {R"({"seq":2,"planned_us":1,"fate":"bad","sent":"a"})", "\"received\" is missing"},
        {R"({"seq":0,"planned_us":1,"fate":"lost","sent":"a"})",
         "\"seq\" is not a whole number from 1 to 10000000000000"},
        {R"({"seq":2,"planned_us":1,"fate":"lost","sent":5})", "\"sent\" is not a string"},
        {R"({"seq":2,"planned_us":1,"fate":"lost","sent_base64":"a"})",
         "\"sent_base64\" is not base64"},
        {R"({"seq":2,"planned_us":1,"fate":"lost","sent":"a","sent_base64":"YQ=="})",
         "\"sent\" and \"sent_base64\" are both present"},
        {R"({"seq":2,"planned_us":1,"fate":"lost","sent":"ab","sent_bytes":3})",
         "\"sent_bytes\" is 3, but the payload has 2 bytes"},
        {R"({"seq":2,"planned_us":1,"fate":"bad","sent":"ab","received":"x","received_bytes":2})",
         "\"received_bytes\" is 2, but the payload has 1 byte"},
        {R"({"seq":2,"fate":"lost","sent":"a"})", "\"planned_us\" is missing"},
        {R"({"seq":2,"planned_us":-1,"fate":"lost","sent":"a"})",
         "\"planned_us\" is not a time in microseconds"},
        {R"({"seq":2,"planned_us":99999999999999,"fate":"lost","sent":"a"})",
         "\"planned_us\" is too long"},
        {R"({"fate":"unsolicited","received":"a"})", "\"received_us\" is missing"},
    }));
    CHECK(refusal(object) == trouble);
}
