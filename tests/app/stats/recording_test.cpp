// Writes transcripts and recordings, reads recordings, and refuses bad ones with a sentence.

#include "app/stats/recording.hpp"

#include "tests/app/process/apart.hpp"
#include "tests/app/refusal.hpp"
#include "tests/app/session_script.hpp"
#include "tests/support/text.hpp"
#include "tests/support/virtual_time.hpp"

#include <sys/stat.h>

using namespace std::chrono_literals;
using namespace std::string_literals;
using namespace yodel;

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

// `events` contains ">a" for a message, ">a=b" for one with its expected reply, "<b" for a
// reply in time, "~b" for a late one, "?a" for a lost message, "!a" for an unsent one, "+x" for
// an unsolicited message, and "-x" for a note, or "*x" for one of a success. Times and notes
// are listed only on request. If the file is refused, `events` precede the error, and `trouble`
// is the sentence.
struct Read {
    std::string events;
    std::string trouble;
};
Read read(const std::string& text, bool replay = true, bool timed = false) {
    Recording recording{.name = "f"};
    parse_recording(recording, text, {.is_replay = replay, .max_frame = 1000});
    Read outcome{.events = {}, .trouble = recording.trouble.text};
    for (const StoredEvent& each : recording.events) {
        const Message& sent = each->message;
        std::string word;
        switch (each->fate) {
        case Fate::sent:
            word = ">" + std::string(sent.payload);
            if (sent.expected) word += "=" + std::string(*sent.expected);
            break;
        case Fate::unsent: word = "!" + std::string(sent.payload); break;
        case Fate::lost:
        case Fate::unanswered_as_recorded: word = "?" + std::string(sent.payload); break;
        case Fate::late: word = "~" + std::string(each->reply.payload); break;
        case Fate::note:
            word = (each->reply.is_right ? "*" : "-") + std::string(each->reply.payload);
            break;
        default:
            word = (has_message(each->fate) ? "<" : "+") + std::string(each->reply.payload);
        }
        if (timed) word += "@" + std::to_string(each->at.time_since_epoch() / 1us);
        if (!timed && each->fate == Fate::note) continue;
        outcome.events += (outcome.events.empty() ? "" : " ") + word;
    }
    const int status = replay ? usage_error : input_failed;
    CHECK(recording.trouble.status == (outcome.trouble.empty() ? success : status));
    return outcome;
}

const std::string whole =
    form + connection + unsolicited("hi") + echoed(1, "a", "b") +
    echoed(2, "gr\xc3\xbc\xc3\x9f", "") + message(3, R"("fate":"lost","sent":"c")") +
    unsolicited("x", 3500) +
    message(4, R"("fate":"bad","sent_base64":"/w==","sent_bytes":1,"received":"\u001b")") + end;

std::string path_of(const bufio::Fd& fd) { return "/dev/fd/" + std::to_string(fd.get()); }

Journal journal(const std::string& path) { return {path, SessionOptions{}, 1, {}}; }

Event sent(std::string_view payload) {
    return {.fate = Fate::sent, .message = {.id = 7, .payload = payload}};
}

}  // namespace

TEST_CASE("a recording contains its messages, replies, unsolicited messages and notes") {
    const Read outcome = read(whole, true, true);
    CHECK(outcome.trouble.empty());
    CHECK(outcome.events ==
          "*connected to 127.0.0.1:1@0 +hi@7 >a=b@1000 <b@1000 >gr\xc3\xbc\xc3\x9f=@2000 "
          "<@2000 >c@3000 ?c@3000 +x@3500 >\xff=\x1b@4000 <\x1b@4000 -closed@4000");
}

TEST_CASE("a recording cut short at any byte is refused, and its line is named") {
    const std::string events = read(whole).events;
    for (std::size_t size = 0; size < whole.size() - 1; ++size) {
        CAPTURE(size);
        const std::string part = whole.substr(0, size);
        const Read outcome = read(part);
        const auto lines = std::count(part.begin(), part.end(), '\n') + 1;
        REQUIRE(outcome.trouble.starts_with("f:" + std::to_string(lines) + ": "));
        REQUIRE(events.starts_with(outcome.events));
    }
    CHECK(read(whole.substr(0, whole.size() - 1)).trouble.empty());
}

TEST_CASE("events are in the order in which they happened") {
    const auto [text, events] = GENERATE(table<std::string, std::string>({
        {echoed(2, "b", "2") + echoed(1, "a", "1") + echoed(3, "c", "3"),
         ">a=1 <1 >b=2 <2 >c=3 <3"},
        {echoed(3, "c", "3") + unsolicited("x"), "+x >c=3 <3"},
        {message(1, R"("fate":"lost","sent":"a")") + echoed(2, "b", "2") +
             message(1, R"("fate":"late","rtt_us":5000,"sent":"a","received":"1")"),
         ">a ?a >b=2 <2 ~1"},
        {message(1, R"("fate":"late","rtt_us":5000,"sent":"a","received":"1")"), ">a ~1"},
        {unsolicited("x", 1500) + echoed(2, "b", "2") + unsolicited("y", 2500),
         "+x >b=2 <2 +y"},
        {echoed(1, "a", "1") + unsolicited("1", 1500, "duplicate"), ">a=1 <1 +1"},
        {message(1, R"("fate":"sent","sent":"a")") + unsolicited("1", 1500), ">a +1"},
        // Message 2 was in flight at the end.
        {echoed(1, "a", "1") + echoed(3, "c", "3"), ">a=1 <1 >c=3 <3"},
        {echoed(1, "a", "1") + "\n  \r\n", ">a=1 <1"},
        {echoed(1, "a", "1") + unsent(2) + echoed(3, "c", "3"), ">a=1 <1 !never >c=3 <3"},
        {message(1, R"("fate":"matched","sent":"a")") +
             message(2, R"("fate":"bad","sent":"b","received":"2","extra":[1])") +
             unsolicited("x", 2400, "missing") + unsolicited("y", 2500, "unrecorded"),
         ">a ?a >b=2 <2 +x +y"},
        // The time of sending may follow the planned time.
        {message(1,
                 R"("fate":"echoed","sent_us":2000.5,"rtt_us":9,"sent":"a","received":"1")") +
             unsolicited("x", 1500) + unsolicited("y", 2005) + unsolicited("z", 2010),
         "+x >a=1 +y <1 +z"},
        // What was received is older than what was sent at the same time.
        {message(1, R"("fate":"echoed","sent_us":1,"rtt_us":9,"sent":"a","received":"1")") +
             message(2,
                     R"("fate":"echoed","sent_us":10,"rtt_us":9,"sent":"b","received":"2")") +
             unsolicited("x", 10),
         ">a=1 +x <1 >b=2 <2"},
    }));
    const Read outcome = read(form + text + end);
    CAPTURE(text);
    CHECK(outcome.trouble.empty());
    CHECK(outcome.events == events);
}

TEST_CASE("a file that is not a recording is refused in one sentence") {
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
        {"{\"a\":1,\"a\":2}", "the line contains an object with a duplicate name"},
        {"{\"a\":tru}", "the line is not JSON at byte 8"},
        {connection, "another connection begins, but only one can be replayed"},
        {echoed(1, "a", "b"), "message 1 appears twice"},
        {message(2, R"("fate":"lost","sent":"a\nb")"),
         "\"sent\" is not exactly one valid message (-f line)"},
        {message(2, R"("fate":"bad","sent":"a","received":"\n")"),
         "\"received\" is not exactly one reply (-f line)"},
        {message(2, "\"fate\":\"lost\",\"sent\":\"" + std::string(1001, 'a') + "\""),
         "\"sent\" is not exactly one valid message (-f line)"},
        {message(2, R"("sent":"a")"), "\"fate\" is missing or has an unknown value"},
    }));
    CAPTURE(line);
    const Read outcome = read(form + connection + echoed(1, "a", "b") + line +
                              (line.ends_with('\n') ? "" : "\n") + echoed(2, "c", "d") + end);
    CHECK(outcome.trouble == "f:4: " + trouble);
    CHECK(outcome.events == ">a=b <b");
}

TEST_CASE("an object after the end of a recording is refused") {
    CHECK(read(whole + "\n" + end).trouble ==
          "f:11: the recording continues after its end object");
    CHECK(read(whole + "\n \n").trouble.empty());
}

TEST_CASE("without frames, a reply may be any bytes but not empty") {
    std::string caret = form;
    caret.replace(caret.find("line"), 4, "caret");
    CHECK(read(caret + echoed(1, "a", "b$^") + end).events == ">a=b$^ <b$^");
    CHECK(read(caret + echoed(1, "a", "") + end).trouble ==
          "f:2: \"received\" is not exactly one reply (-f caret)");
    CHECK(read(caret + echoed(1, "a$b", "x") + end).trouble ==
          "f:2: \"sent\" is not exactly one valid message (-f caret)");
}

TEST_CASE("a recording to look at may be damaged, and may have several connections") {
    CHECK(read(form + connection + connection + echoed(1, "a", "b") + echoed(1, "a", "b") + end,
               false)
              .events == ">a <b >a <b");
    const Read outcome = read(form + echoed(2, "b", "2") + echoed(1, "a", "1") + "{\n", false);
    CHECK(outcome.trouble == "f:4: the line is truncated");
    CHECK(outcome.events == ">a <1 >b <2");
    CHECK(read(connection, false).trouble ==
          "f:2: the recording is truncated: the end object is missing");
    CHECK(read(end, false).trouble ==
          "f:1: this is neither a recording (yodel --json) nor a load with samples "
          "(yodel-load --json)");
}

TEST_CASE("the samples of a load are shown one after another") {
    const std::string slowest =
        R"({"type":"message","seq":9,"sent_bytes":5000,"received_bytes":5000,"planned_us":2,)"
        R"("sent_us":3,"rtt_us":100,"fate":"echoed","right":true,"connection":3,)"
        R"("sent":"b","received":"b"})";
    const std::string bad =
        R"({"type":"message","seq":9,"planned_us":1,"sent_us":3,)"
        R"("rtt_us":50,"fate":"late","connection":1,"sent":"a","received":"x"})";
    const std::string samples = "{\"type\":\"interval\"}\n{\"type\":\"end\",\"samples\":{"
                                "\"started\":\"2026-11-23T18:00:00Z\",\"slowest\":[" +
                                slowest + "],\"bad\":[" + bad + "]}";
    const Read outcome = read(samples + "}\n", false, true);
    CHECK(outcome.trouble.empty());
    CHECK(outcome.events == ">a@1 ~x@51 >b@2 <b@102");
    // The round trips are those of the whole load.
    const std::string times = R"(,"rtt_us":{"min":9.5,"max":100},"histogram":[[10.047,7],)";
    Recording recording{.name = "f"};
    parse_recording(recording, samples + times + "[100.351,2]]}", {});
    CHECK(recording.has_samples);
    CHECK(recording.round_trips.count() == 9);
    CHECK(recording.round_trips.percentile(50) == 10047ns);
    CHECK(recording.round_trips.max() == 100us);
    CHECK(read(samples + times + "[3]]}", false).trouble ==
          "f:2: a bucket is not a pair of numbers");
}

TEST_CASE("a recording may be a pipe, which is read to its end") {
    const auto [text, is_whole] = GENERATE(table<std::string, bool>({
        {form + echoed(1, "a", "b") + end, true},
        {form + echoed(1, "a", "b") + end, false},
        {"{", false},
    }));
    CAPTURE(text, is_whole);
    test::Ends pipe = test::pipe_ends();
    REQUIRE(::write(pipe.writer.get(), text.data(), text.size()) ==
            static_cast<ssize_t>(text.size()));
    if (is_whole) pipe.writer = {};
    test::VirtualLoop loop;
    const std::string name = "/dev/fd/" + std::to_string(pipe.reader.get());
    const Recording recording =
        read_recording(loop, name, {.is_replay = true, .max_frame = 1000}, 10s);
    CHECK(recording.trouble.text ==
          (is_whole ? "" : name + ": the recording did not end within 10s (--max-time)"));
    CHECK(recording.trouble.status == (is_whole ? success : timed_out));
    CHECK((loop.time == loop.start + 10s) == !is_whole);
    CHECK(recording.framing == (is_whole ? find_framing("line") : nullptr));
    CHECK(recording.events.size() == (is_whole ? 3u : 0u));
}

TEST_CASE("a recording that cannot be read is refused with the system's reason") {
    for (const std::string name : {"/no/such", "/"}) {
        ev::Loop loop;
        const Recording recording = read_recording(loop, name, {.is_replay = true}, {});
        CHECK(recording.trouble.text ==
              name + (name == "/" ? ": Is a directory" : ": No such file or directory"));
        CHECK(recording.trouble.status == input_failed);
    }
}

TEST_CASE("the first line of a recording contains its framing, its start and what it expects") {
    const std::chrono::system_clock::time_point started(90s);
    const std::string object =
        recording_object({.framing = find_framing("crlf"), .expect = Expect::any}, 8, 2,
                         started)
            .str();
    CHECK(object ==
          R"({"type":"recording","version":2,"framing":"crlf","first":8,"connections":2,)"
          R"("started":"1970-01-01T00:01:30.000000Z","expect":"any"})");
    Recording recording{.name = "f"};
    parse_recording(recording, object, {});
    CHECK(recording.framing == find_framing("crlf"));
    CHECK((recording.started == started));
    CHECK(recording.expect == Expect::any);
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

TEST_CASE("refuses a transcript that can't be opened with the reason, without waiting") {
    const test::Folder folder;
    ::mkfifo((folder / "pipe").c_str(), 0600);
    for (const auto& [path, reason] :
         {std::pair<std::string, const char*>{"/", "Is a directory"},
          {"/no/log", "No such file or directory"},
          {folder / "pipe", "the pipe has no reader"}})
        CHECK(test::refusal([&, path = path] {
                  journal(path);
              }).starts_with("cannot write the transcript " + path + ": " + reason));
}

TEST_CASE("only the user may read a new transcript") {
    const test::Folder folder;
    const Journal log = journal(folder / "new");
    using std::filesystem::perms;
    CHECK(std::filesystem::status(folder / "new").permissions() ==
          (perms::owner_read | perms::owner_write));
}

TEST_CASE("fails once and for all when the file is full") {
    Journal log = journal("/dev/full");
    log.add_event(sent("a"));
    CHECK_FALSE(log.flush());
    CHECK(log.trouble() == "cannot write the transcript /dev/full: No space left on device");
    log.add_event(sent("b"));
    CHECK_FALSE(log.flush());
    CHECK_FALSE(log.drain());
}

TEST_CASE("a transcript without a reader blocks nothing") {
    test::Ends (*const make)() = GENERATE(&test::pipe_ends, &test::stopped_terminal_ends);
    const test::Ends ends = make();
    test::fill(ends.writer);
    Journal log = journal(path_of(ends.writer));
    const std::string message(100'000, 'm');
    SECTION("a little waits for the reader until the end") {
        log.add_event(sent(message));
        CHECK(log.flush());
        CHECK_FALSE(log.drain());
        CHECK(log.trouble().ends_with("its reader did not keep up; output is incomplete"));
    }
    SECTION("too many bytes make the transcript fail") {
        for (int i = 0; i < 11; ++i) log.add_event(sent(message));
        CHECK_FALSE(log.flush());
        CHECK(log.trouble().ends_with(": its reader did not keep up"));
    }
}

TEST_CASE("a recording contains the messages from its first one on, and its end") {
    const test::Ends ends = test::pipe_ends();
    JournalFile file(path_of(ends.writer));
    file.is_recording = true;
    Journal recording(file, SessionOptions{}, 7, {});
    const Reply reply{.payload = "b"};
    const auto add = [&](std::uint64_t id) {
        const Message message{.id = id, .payload = "a"};
        return recording.add_event(answered_event(message, reply));
    };
    CHECK_FALSE(add(6));
    CHECK(add(7));
    CHECK(recording.add_event(received_event(Fate::unsolicited, "b")));
    recording.add_event(received_event(Fate::note, "only in transcripts"));
    recording.add_event(sent("only in transcripts"));
    CHECK(recording.finish("the end"));
    const std::string all = test::take(ends.reader);
    CHECK(all.starts_with("{\"type\":\"recording\",\"version\":2,"));
    CHECK(all.find("\"seq\":6") == std::string::npos);
    CHECK(all.find("\"seq\":7") != std::string::npos);
    CHECK(all.find("\"fate\":\"unsolicited\"") != std::string::npos);
    CHECK(all.find("transcripts") == std::string::npos);
    CHECK(all.ends_with("}\nthe end\n"));
}

TEST_CASE("a transcript is written in batches, or when it is flushed") {
    const test::Ends ends = test::pipe_ends();
    Journal log = journal(path_of(ends.writer));
    log.add_event(sent("a\x1b"));
    REQUIRE(log.flush());
    CHECK(test::take(ends.reader).ends_with(" > a^[\n"));
    const std::string line(1000, 'x');
    for (int i = 0; i < 15; ++i) log.add_event(sent(line));
    CHECK(test::take(ends.reader).empty());
    log.add_event(sent(std::string(2000, 'x')));
    CHECK(test::take(ends.reader).size() >= 16 * 1024);
}
