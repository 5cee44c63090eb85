#include "app/protocol/message_object.hpp"

#include "tests/app/session_script.hpp"

using namespace std::chrono_literals;
using namespace yodel;

TEST_CASE("writes a message as an object with its fate") {
    const ev::Time start{1s};
    const Message message{.id = 7, .payload = "abc", .planned = start, .sent = start + 2us};
    const Reply right{"abc", 3us, true};
    const Reply bad{"abx", {}, false, 2};
    CHECK(
        message_object(answered_event(message, right), start).str() ==
        R"({"type":"message","seq":7,"sent_bytes":3,"received_bytes":3,"planned_us":0.000,"sent_us":2.000,)"
        R"("rtt_us":3.000,"fate":"echoed","right":true})");
    CHECK(
        message_object(answered_event(message, bad), start).str() ==
        R"({"type":"message","seq":7,"sent_bytes":3,"received_bytes":3,"planned_us":0.000,"sent_us":2.000,)"
        R"("fate":"bad","right":false,"difference":2})");
    CHECK(
        message_object(message_event(Fate::lost, message), start).str() ==
        R"({"type":"message","seq":7,"sent_bytes":3,"planned_us":0.000,"sent_us":2.000,"fate":"lost"})");
    CHECK(message_object(received_event(Fate::unsolicited, "abx"), start).str() ==
          R"({"type":"message","received_bytes":3,"fate":"unsolicited"})");
}

TEST_CASE("marks a reply that was reordered") {
    const Message message{.id = 7, .payload = "abc"};
    const Reply reply{.payload = "abc", .right = true, .reordered = true};
    CHECK(message_object(answered_event(message, reply), {})
              .str()
              .ends_with(R"("fate":"echoed","reordered":true,"right":true})"));
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

TEST_CASE("counts a reply to a message that was reported as lost as late") {
    Message message{.id = 7, .payload = "abc", .late = true};
    CHECK(fate_of(message, {"abc", {}, true}) == Fate::late);
}

TEST_CASE("records the payloads of a message, and the time of an unsolicited one") {
    const ev::Time start{1s};
    const Message message{.id = 7, .payload = "a\"\x1b", .planned = start, .sent = start};
    const Reply reply{"\xff", 3us, true};
    CHECK(
        recorded_object(answered_event(message, reply), start).str() ==
        R"({"type":"message","seq":7,"sent_bytes":3,"received_bytes":1,"planned_us":0.000,"sent_us":0.000,)"
        R"("rtt_us":3.000,"fate":"echoed","right":true,"sent":"a\"\u001b","received_base64":"/w=="})");
    Event alone = received_event(Fate::unsolicited, "\xff");
    alone.at = start + 5us;
    CHECK(
        recorded_object(alone, start).str() ==
        R"({"type":"message","received_bytes":1,"fate":"unsolicited","received_us":5.000,"received_base64":"/w=="})");
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
