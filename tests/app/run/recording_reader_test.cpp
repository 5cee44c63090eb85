// Reads recordings, and refuses bad ones with a sentence.

#include "app/run/recording_reader.hpp"

#include "app/protocol/message_object.hpp"
#include "app/run/recording.hpp"
#include "tests/support/blocked.hpp"
#include "tests/support/text.hpp"
#include "tests/support/virtual_time.hpp"

#include <unistd.h>

#include <random>

using namespace std::chrono_literals;
using namespace std::string_literals;
using namespace yodel;
using test::contains;

namespace {

const std::string form =
    R"({"type":"recording","version":2,"framing":"line","first":1,"connections":1})"
    "\n";
const std::string connection = "{\"type\":\"connection\",\"address\":\"127.0.0.1:1\"}\n";
const std::string end = "{\"type\":\"end\",\"reason\":\"closed\",\"status\":0}\n";

std::string message(int seq, const std::string& rest) {
    return "{\"type\":\"message\",\"seq\":" + std::to_string(seq) +
           ",\"planned_us\":" + std::to_string(seq) + "000.5," + rest + "}\n";
}
std::string echoed(int seq, const std::string& sent, const std::string& received) {
    return message(seq, R"("fate":"echoed","sent":")" + sent + R"(","received":")" + received +
                            "\"");
}
std::string unsolicited(const std::string& received, int at = 7,
                        const std::string& verdict = "unsolicited") {
    return R"({"type":"message","fate":")" + verdict + R"(","received_us":)" +
           std::to_string(at) + R"(,"received":")" + received + "\"}\n";
}
std::string unsent(int seq) { return message(seq, R"("fate":"unsent","sent":"never")"); }

// Describes the items: "a=b" a message and its reply, "a" a message without a reply, "+a" an
// unsolicited message. After an error: the items before it, and `trouble` with the sentence.
struct Read {
    std::string items;
    std::string trouble;
};
Read read(const std::string& text, std::size_t step = std::string::npos) {
    RecordingReader reader("f", 1000);
    Read outcome;
    for (std::string_view rest = text; !rest.empty();) {
        const std::string_view part = rest.substr(0, step);
        reader.append(part);
        rest.remove_prefix(part.size());
    }
    reader.end();
    for (const RecordedItem& item : reader.items()) {
        if (!outcome.items.empty()) outcome.items += " ";
        if (item.kind == RecordedItem::Kind::unsolicited) outcome.items += "+";
        outcome.items += item.payload;
        if (item.reply) outcome.items += "=" + *item.reply;
    }
    outcome.trouble = reader.trouble();
    return outcome;
}

const std::string whole =
    form + connection + unsolicited("hi") + echoed(1, "a", "b") +
    echoed(2, "gr\xc3\xbc\xc3\x9f", "") + message(3, R"("fate":"lost","sent":"c")") +
    unsolicited("x", 3500) +
    message(4, R"("fate":"bad","sent_base64":"/w==","sent_bytes":1,"received":"\u001b")") + end;
const std::string whole_items = "+hi a=b gr\xc3\xbc\xc3\x9f= c +x \xff=\x1b";

}  // namespace

TEST_CASE("a recording yields its messages and its unsolicited messages") {
    const Read outcome = read(whole);
    CHECK(outcome.trouble.empty());
    CHECK(outcome.items == whole_items);
    RecordingReader reader("f", 1000);
    reader.append(whole);
    CHECK((reader.items().at(0).at == 7us));
    CHECK((reader.items().at(1).at == 1000500ns));
    CHECK(reader.framing() == find_framing("line"));
}

TEST_CASE("a recording yields the same items at any cut between its bytes") {
    const std::size_t step = GENERATE(1U, 2U, 3U, 7U, 64U, 100U);
    const Read outcome = read(whole, step);
    CHECK(outcome.trouble.empty());
    CHECK(outcome.items == whole_items);
}

TEST_CASE("a recording cut short at any byte is refused, and its line is named") {
    for (std::size_t size = 0; size < whole.size() - 1; ++size) {
        CAPTURE(size);
        const std::string part = whole.substr(0, size);
        const Read outcome = read(part);
        const auto lines = std::count(part.begin(), part.end(), '\n') + 1;
        REQUIRE(outcome.trouble.starts_with("f:" + std::to_string(lines) + ": "));
        REQUIRE(whole_items.starts_with(outcome.items));
    }
    CHECK(read(whole.substr(0, whole.size() - 1)).trouble.empty());
}

TEST_CASE("messages are replayed in the order in which they were sent") {
    const auto [text, items] = GENERATE(table<std::string, std::string>({
        {echoed(2, "b", "2") + echoed(1, "a", "1") + echoed(3, "c", "3"), "a=1 b=2 c=3"},
        {echoed(3, "c", "3") + unsolicited("x") + echoed(2, "b", "2") + echoed(1, "a", "1"),
         "+x a=1 b=2 c=3"},
        {message(1, R"("fate":"lost","sent":"a")") + echoed(2, "b", "2") +
             message(1, R"("fate":"late","rtt_us":5000,"sent":"a","received":"1")"),
         "a b=2 +1"},
        {unsolicited("x", 1500) + echoed(2, "b", "2") + unsolicited("y", 2500) +
             echoed(1, "a", "1"),
         "a=1 +x b=2 +y"},
        {echoed(1, "a", "1") + unsolicited("1", 1500, "duplicate"), "a=1 +1"},
        {message(1, R"("fate":"sent","sent":"a")") + unsolicited("1", 1500), "a +1"},
        // Message 2 was in flight at the end.
        {echoed(1, "a", "1") + echoed(3, "c", "3"), "a=1 c=3"},
        {echoed(1, "a", "1") + "\n  \r\n", "a=1"},
        {echoed(1, "a", "1") + unsent(2) + echoed(3, "c", "3"), "a=1 c=3"},
        {message(1, R"("fate":"matched","sent":"a")") +
             message(2, R"("fate":"bad","sent":"b","received":"2","extra":[1])") +
             R"({"type":"message","fate":"missing","received":"x"})" + "\n" +
             unsolicited("y", 2500, "unrecorded"),
         "a b=2 +y"},
    }));
    const Read outcome = read(form + text + end);
    CAPTURE(text);
    CHECK(outcome.trouble.empty());
    CHECK(outcome.items == items);
}

TEST_CASE("a late reply is timed at its arrival") {
    RecordingReader reader("f", 1000);
    reader.append(form + message(1, R"("fate":"lost","sent":"a")") +
                  message(1, R"("fate":"late","rtt_us":9,"sent":"a","received":"1")"));
    REQUIRE(reader.items().size() == 2);
    CHECK((reader.items()[1].at == 1009500ns));
}

TEST_CASE("a file that is no recording is refused in one sentence") {
    const auto [text, trouble] = GENERATE(table<std::string, std::string>({
        {"", "f:1: the file is empty"},
        {"\n\n", "f:3: the file is empty"},
        {"hello\n", "f:1: the line is not a JSON object"},
        {"[1]", "f:1: the line is not a JSON object"},
        {"\0\0\0"s, "f:1: the line is not a JSON object"},
        {"{\"a\":1", "f:1: the line is truncated"},
        {"{}\n", "f:1: this is not a recording (yodel --json prints one)"},
        {connection, "f:1: this is not a recording (yodel --json prints one)"},
        {R"({"type":"recording","version":9,"framing":"line"})",
         "f:1: the recording has version 9, but only version 2 is supported"},
        {R"({"type":"recording","version":"1"})", "f:1: \"version\" is not a whole number"},
        {R"({"type":"recording","version":2,"framing":"morse"})",
         "f:1: the framing \"morse\" is not supported in recordings"},
        {R"({"type":"recording","version":2,"framing":"raw"})",
         "f:1: the framing \"raw\" is not supported in recordings"},
        {R"({"type":"recording","version":2,"framing":"line","first":0})",
         "f:1: \"first\" is not a whole number from 1 to 10000000000000"},
        {R"({"type":"recording","version":2,"framing":"line","first":1,"connections":3})",
         "f:1: this is a recording of 3 connections, but only one can be replayed"},
        {form, "f:2: the recording is truncated: the end object is missing"},
        {form + end, "f:2: the recording contains no messages"},
    }));
    CHECK(read(text).trouble == trouble);
}

TEST_CASE("a bad line ends the recording, and is named") {
    const auto [line, trouble] = GENERATE(table<std::string, std::string>({
        {form, "unexpected object of type \"recording\""},
        {"{\"type\":\"interval\"}", "unexpected object of type \"interval\""},
        {"{\"a\":1,\"a\":2}", "the line contains a duplicate name in one object"},
        {"{\"a\":tru}", "the line is not JSON at byte 8"},
        {connection, "another connection begins, but only one can be replayed"},
        {echoed(1, "a", "b"), "message 1 appears twice"},
        {message(2, R"("fate":"fine","sent":"a")"),
         "\"fate\" is missing or has an unknown value"},
        {message(2, R"("sent":"a")"), "\"fate\" is missing or has an unknown value"},
        {message(2, R"("fate":"lost")"), "\"sent\" and \"received\" are missing"},
        {R"({"type":"message","seq":0,"planned_us":1,"fate":"lost","sent":"a"})",
         "\"seq\" is not a whole number from 1 to 10000000000000"},
        {message(2, R"("fate":"lost","sent":5)"), "\"sent\" is not a string"},
        {message(2, R"("fate":"lost","sent_base64":"a")"), "\"sent_base64\" is not base64"},
        {message(2, R"("fate":"lost","sent":"a","sent_base64":"YQ==")"),
         "\"sent\" and \"sent_base64\" are both present"},
        {message(2, R"("fate":"lost","sent":"ab","sent_bytes":3)"),
         "\"sent_bytes\" is 3, but the payload has 2 bytes"},
        {message(2, R"("fate":"bad","sent":"ab","received":"x","received_bytes":2)"),
         "\"received_bytes\" is 2, but the payload has 1 byte"},
        {message(2, R"("fate":"lost","sent":"a\nb")"),
         "\"sent\" is not exactly one valid message (-f line)"},
        {message(2, R"("fate":"bad","sent":"a","received":"\n")"),
         "\"received\" is not exactly one reply (-f line)"},
        {message(2, "\"fate\":\"lost\",\"sent\":\"" + std::string(1001, 'a') + "\""),
         "\"sent\" is not exactly one valid message (-f line)"},
        {R"({"type":"message","seq":2,"fate":"lost","sent":"a"})", "\"planned_us\" is missing"},
        {R"({"type":"message","seq":2,"planned_us":-1,"fate":"lost","sent":"a"})",
         "\"planned_us\" is not a time in microseconds"},
        {R"({"type":"message","seq":2,"planned_us":99999999999999,"fate":"lost","sent":"a"})",
         "\"planned_us\" is too long"},
        {R"({"type":"message","fate":"unsolicited","received":"a"})",
         "\"received_us\" is missing"},
    }));
    CAPTURE(line);
    const Read outcome = read(form + connection + echoed(1, "a", "b") + line +
                              (line.ends_with('\n') ? "" : "\n") + echoed(2, "c", "d") + end);
    CHECK(outcome.trouble == "f:4: " + trouble);
    CHECK(outcome.items == "a=b");
}

TEST_CASE("an object after the end of a recording is refused") {
    CHECK(read(whole + "\n" + end).trouble ==
          "f:11: the recording continues after its end object");
    CHECK(read(whole + "\n \n").trouble.empty());
}

TEST_CASE("without frames, a reply may be any bytes but not empty") {
    std::string caret = form;
    caret.replace(caret.find("line"), 4, "caret");
    CHECK(read(caret + echoed(1, "a", "b$^") + end).items == "a=b$^");
    CHECK(read(caret + echoed(1, "a", "") + end).trouble ==
          "f:2: \"received\" is not exactly one reply (-f caret)");
    CHECK(read(caret + echoed(1, "a$b", "x") + end).trouble ==
          "f:2: \"sent\" is not exactly one valid message (-f caret)");
}

TEST_CASE("random payloads are read back unchanged") {
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
        const Message message{.id = 1, .payload = sent, .planned = ev::Time(id * 1001ns)};
        const Reply reply{received, {}};
        RecordingReader reader("f", 1000);
        reader.append(recording_object({.framing = find_framing("len2")}, 1, 1, {}).str() +
                      "\n" + recorded_object(answered_event(message, reply), {}).str() + "\n" +
                      end);
        CHECK(reader.trouble().empty());
        const RecordedItem& item = reader.items().at(0);
        CHECK((item.at == id * 1001ns));
        CHECK(item.payload == sent);
        CHECK(item.reply == received);
    }
}

namespace {

// Returns the events to show of messages such as "2@5-9", number 2 sent at 5 us and answered at
// 9, and unsolicited messages such as "+7". ~ marks a late reply. Returns ">2" and "<2" for a
// message and its reply.
std::string shown(const std::string& added) {
    RecordingReader reader("f", 1000, true);
    reader.append(form);
    std::istringstream words(added);
    for (std::string word; words >> word;) {
        int number = 0, sent = 0, at = 0;
        char mark = 0;
        std::istringstream(word) >> number >> mark >> sent >> mark >> at >> mark;
        if (word[0] == '+') {
            reader.append(unsolicited("x", number));
            continue;
        }
        reader.append(message(
            number, "\"fate\":\"" + std::string(mark == '~' ? "late" : "echoed") +
                        "\",\"sent\":\"s\",\"received\":\"r\",\"sent_us\":" +
                        std::to_string(sent) + ",\"rtt_us\":" + std::to_string(at - sent)));
    }
    reader.append(end);
    reader.end();
    CHECK(reader.trouble().empty());
    std::string text;
    for (const RecordedEvent& each : reader.events()) {
        if (each.kind == RecordedEvent::Kind::ended) continue;
        const bool sent = each.kind == RecordedEvent::Kind::sent;
        text += (text.empty() ? "" : " ") + std::string(sent ? ">" : "<") +
                std::to_string(each.message.id);
        CHECK((each.message.id == 0 || each.message.payload == "s"));
        CHECK((sent || each.reply.payload == (each.message.id == 0 ? "x" : "r")));
    }
    return text;
}

}  // namespace

TEST_CASE("a recording is shown in the order of its times") {
    const auto [added, expected] = GENERATE(table<std::string, std::string>({
        {"", ""},
        {"1@1-2", ">1 <1"},
        {"1@1-2 2@3-4", ">1 <1 >2 <2"},
        {"2@2-3 1@1-5 3@4-6", ">1 >2 <2 >3 <1 <3"},
        {"3@1-7 2@1-8 1@1-9", ">1 >2 >3 <3 <2 <1"},
        {"1@1-2 +3 2@4-5", ">1 <1 <0 >2 <2"},
        {"1@1-3 2@2-4 1@1-8~ 3@9-12", ">1 >2 <1 <2 <1 >3 <3"},
        {"3@3-4 5@5-6", ">3 <3 >5 <5"},
    }));
    CAPTURE(added);
    CHECK(shown(added) == expected);
}

TEST_CASE("a damaged recording is shown up to the damage") {
    RecordingReader reader("f", 1000, true);
    reader.append(form + echoed(2, "b", "2") + echoed(1, "a", "1") + "{\n");
    reader.end();
    CHECK(reader.trouble() == "f:4: the line is truncated");
    REQUIRE(reader.events().size() == 4);
    CHECK(reader.events()[0].message.payload == "a");
}

namespace {

// A pipe that contains the text. Unless the text is whole, a writer keeps the pipe open.
struct Piped {
    explicit Piped(const std::string& text, bool is_whole) : pipe(test::pipe_ends()) {
        REQUIRE(::write(pipe.writer.get(), text.data(), text.size()) ==
                static_cast<ssize_t>(text.size()));
        if (is_whole) pipe.writer = {};
    }
    test::Ends pipe;
    std::string name = "/dev/fd/" + std::to_string(pipe.reader.get());
    Recording recording{name, 1000};
};

}  // namespace

TEST_CASE("a recording may be a pipe, which is read and checked before the replay") {
    struct Row {
        std::string text;
        bool is_whole;
        bool fetched;
        std::string trouble;
    };
    const std::string rest = echoed(1, "a", "b") + end;
    const Row rows[] = {
        {form + rest, true, true, ""},
        {form + rest, false, false, ""},
        {form + echoed(1, "a", "b"), true, true,
         ":3: the recording is truncated: the end "
         "object is missing"},
        {"x", false, true, ":1: the line is not a JSON object"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.text, row.is_whole);
        Piped piped(row.text, row.is_whole);
        CHECK_FALSE(piped.recording.framing());
        test::VirtualLoop loop;
        CHECK(piped.recording.fetch(loop, 10s) == row.fetched);
        CHECK((loop.time == loop.start + 10s) == !row.fetched);
        CHECK(piped.recording.trouble() ==
              (row.trouble.empty() ? "" : piped.name + row.trouble));
        if (!row.fetched || !row.trouble.empty()) continue;
        CHECK(piped.recording.framing() == find_framing("line"));
        REQUIRE(piped.recording.items().size() == 1);
        CHECK(piped.recording.items()[0].payload == "a");
    }
}

TEST_CASE("a file that cannot be read is no recording, and names the system's reason") {
    for (const std::string name : {"/no/such", "/"}) {
        Recording recording(name, 1000);
        ev::Loop loop;
        CHECK(recording.fetch(loop, {}));
        CHECK(recording.trouble() ==
              name + (name == "/" ? ": Is a directory" : ": No such file or directory"));
        CHECK(recording.status() == input_failed);
    }
}
