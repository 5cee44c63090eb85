// Writes events as JSON objects, and reads them back.

#include "app/protocol/event_json.hpp"

#include "tests/app/session_script.hpp"

#include <random>

using namespace std::chrono_literals;
using namespace yodel;

namespace {

StoredEvent read(const std::string& object, ev::Time previous = {}, bool sample = false) {
    const JsonValue value = *read_json(object).value;
    return read_event(JsonFields(value), previous, sample);
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

TEST_CASE("an event is written as an object with its fate and what is known of it") {
    const ev::Time start{1s};
    const Message message{.id = 7, .payload = "a\"\x1b", .planned = start, .sent = start + 2us};
    const Reply right{.payload = "\xff", .round_trip = 3us, .right = true};
    const Reply bad{.payload = "abx", .difference = 2};
    const std::string sent =
        R"({"type":"message","seq":7,"sent_bytes":3,"planned_us":0.000,"sent_us":2.000,)";
    const std::string both = R"({"type":"message","seq":7,"sent_bytes":3,"received_bytes":)";
    const std::string times = R"(,"planned_us":0.000,"sent_us":2.000,)";
    const struct {
        Fate fate;
        Reply reply;
        std::string object;
        std::string payloads;
    } rows[] = {
        {Fate::sent, {}, sent + R"("fate":"sent")", R"(,"sent":"a\"\u001b")"},
        {Fate::unsent, {}, sent + R"("fate":"unsent")", R"(,"sent":"a\"\u001b")"},
        {Fate::lost, {}, sent + R"("fate":"lost")", R"(,"sent":"a\"\u001b")"},
        {Fate::unanswered_as_recorded,
         {},
         sent + R"("fate":"matched")",
         R"(,"sent":"a\"\u001b")"},
        {Fate::echoed, right,
         both + "1" + times + R"("rtt_us":3.000,"fate":"echoed","right":true)",
         R"(,"sent":"a\"\u001b","received_base64":"/w==")"},
        {Fate::as_recorded, right,
         both + "1" + times + R"("rtt_us":3.000,"fate":"matched","right":true)",
         R"(,"sent":"a\"\u001b","received_base64":"/w==")"},
        {Fate::late, right, both + "1" + times + R"("rtt_us":3.000,"fate":"late","right":true)",
         R"(,"sent":"a\"\u001b","received_base64":"/w==")"},
        {Fate::bad, bad, both + "3" + times + R"("fate":"bad","right":false,"difference":2)",
         R"(,"sent":"a\"\u001b","received":"abx")"},
        {Fate::echoed,
         {.payload = "abx", .right = true, .reordered = true},
         both + "3" + times + R"("fate":"echoed","reordered":true,"right":true)",
         R"(,"sent":"a\"\u001b","received":"abx")"},
        {Fate::unsolicited, bad, R"({"type":"message","received_bytes":3,"fate":"unsolicited")",
         R"(,"received_us":5.000,"received":"abx")"},
        {Fate::stale, bad, R"({"type":"message","received_bytes":3,"fate":"unsolicited")",
         R"(,"received_us":5.000,"received":"abx")"},
        {Fate::duplicate, bad, R"({"type":"message","received_bytes":3,"fate":"duplicate")",
         R"(,"received_us":5.000,"received":"abx")"},
        {Fate::missing, bad, R"({"type":"message","received_bytes":3,"fate":"missing")",
         R"(,"received_us":5.000,"received":"abx")"},
        {Fate::unrecorded, bad, R"({"type":"message","received_bytes":3,"fate":"unrecorded")",
         R"(,"received_us":5.000,"received":"abx")"},
    };
    for (const auto& row : rows) {
        Event event{.fate = row.fate, .reply = row.reply, .at = start + 5us};
        if (has_message(row.fate)) event.message = message;
        CHECK(json(event, start, {}).str() == row.object + "}");
        CHECK(json(event, start, {.max_payload = 100}).str() ==
              row.object + row.payloads + "}");
    }
    const Event cut{.fate = Fate::bad, .message = message, .reply = bad, .connection = 4};
    CHECK(json(cut, start, {.max_payload = 2, .connection = true})
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
                             .planned = ev::Time(id * 1001ns),
                             .sent = ev::Time(id * 1003ns),
                             .late = event.fate == Fate::late};
        if (has_reply(event.fate)) event.reply = {.payload = received};
        if (has_reply(event.fate) && has_message(event.fate)) {
            event.reply.round_trip = random() % 100 * 1ns;
            event.reply.right = random() % 2 == 0;
            event.reply.reordered = random() % 2 == 0;
            if (random() % 2 == 0) event.reply.difference = random() % 9;
            event.at += *event.reply.round_trip;
        }
        const StoredEvent found =
            read(json(event, {}, {.max_payload = 100, .connection = true}).str());
        CAPTURE(id, event.fate);
        REQUIRE(found->fate == event.fate);
        REQUIRE((found->at == event.at));
        REQUIRE(found->connection == event.connection);
        REQUIRE(found->message.id == event.message.id);
        REQUIRE(found->message.payload == event.message.payload);
        REQUIRE((found->message.planned == event.message.planned));
        REQUIRE((found->message.sent == event.message.sent));
        REQUIRE(found->message.late == event.message.late);
        REQUIRE(found->reply.payload == event.reply.payload);
        REQUIRE((found->reply.round_trip == event.reply.round_trip));
        REQUIRE(found->reply.right == event.reply.right);
        REQUIRE(found->reply.reordered == event.reply.reordered);
        REQUIRE(found->reply.difference == event.reply.difference);
    }
}

TEST_CASE("an event whose object has no time happened when the one before it did") {
    const std::string lost = R"({"seq":1,"sent_us":5,"fate":"lost","sent":"a"})";
    CHECK((read(lost)->at == ev::Time(5us)));
    CHECK((read(lost, ev::Time(9us))->at == ev::Time(9us)));
    CHECK((read(lost)->message.planned == ev::Time(5us)));
}

TEST_CASE("a sample may be cut, and is timed from its planned time") {
    const StoredEvent event = read(
        R"({"seq":1,"sent_bytes":9,"received_bytes":9,"planned_us":5,"sent_us":7,"rtt_us":2,)"
        R"("fate":"bad","sent":"a","received":"b"})",
        {}, true);
    CHECK((event->message.sent == ev::Time(5us)));
    CHECK((event->at == ev::Time(7us)));
}

TEST_CASE("an object that is no event is refused") {
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

TEST_CASE("describes a connection with its phases") {
    test::SessionScript script;
    script.play("open");
    const std::string port = std::to_string(script.peer->port());
    const auto text = [&](std::size_t number) {
        return connection_object(*script.session, number).str();
    };
    CHECK(text(0) == R"({"type":"connection","address":"127.0.0.1:)" + port +
                         R"(","framing":"line","lookup_us":0.000,"connect_us":0.000})");
    CHECK(text(1).starts_with(R"({"type":"connection","connection":1,"address":)"));
}

TEST_CASE("begins a recording with its format") {
    const std::chrono::system_clock::time_point started(90s);
    CHECK(recording_object({.framing = find_framing("crlf")}, 8, 2, started).str() ==
          R"({"type":"recording","version":2,"framing":"crlf","first":8,"connections":2,)"
          R"("started":"1970-01-01T00:01:30.000000Z","expect":"echo"})");
    CHECK(
        recording_object({.framing = datagram_framing(), .expect = Expect::any}, 1, 1, started)
            .str() ==
        R"({"type":"recording","version":2,"framing":"datagram","first":1,"connections":1,)"
        R"("started":"1970-01-01T00:01:30.000000Z","expect":"any"})");
}
