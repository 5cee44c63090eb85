// A recording replayed on several connections at once, in virtual time.

#include "app/run/recording_source.hpp"

#include "app/run/run_client.hpp"
#include "tests/app/run/recordings.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"
#include "tests/support/virtual_time.hpp"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using namespace yodel;
using test::contains;
using test::Lines;
using test::LineServer;
using test::Recorded;
using test::RecordingFile;
using test::Redirected;
using test::VirtualLoop;

namespace {

struct Outcome {
    int status = -1;
    std::string output;
    std::string errors;
    std::size_t lines = 0;   // lines received by the server
    ev::Duration between{};  // the first line and the last
};

struct Settings {
    bool fast = false;
    unsigned window = 1;
    Reporter::Form form = Reporter::Form::payload;
    Lines greeting = {};
    std::optional<Pace> connect_pace = {};
    ev::Duration reply_timeout = 5s;
    std::optional<ev::Duration> interrupted = {};  // time since the start
};

// Replays the recording on three connections.
Outcome replay(const std::string& text, const LineServer::Answer& answer,
               const Settings& settings = {}) {
    const RecordingFile file(text);
    const Redirected output(STDOUT_FILENO);
    const Redirected errors(STDERR_FILENO);
    VirtualLoop loop;
    LineServer server(loop, answer, settings.greeting);
    RunClient::Options options;
    options.run.session.endpoint.host = "127.0.0.1";
    options.run.session.endpoint.service = server.port();
    options.run.connections = 3;
    options.load = true;
    options.from = RunClient::Options::From::recording;
    options.recording = std::make_shared<Recording>(file.name, 1000);
    options.fast = settings.fast;
    options.run.window = settings.window;
    options.run.connect_pace = settings.connect_pace;
    options.run.session.reply_timeout = settings.reply_timeout;
    options.report.form = settings.form;
    REQUIRE(options.recording->trouble().empty());
    RunClient client(loop, options);
    ev::Timer interrupt(loop, [&] { client.quit(SIGINT); });
    if (settings.interrupted) interrupt.start(*settings.interrupted);
    const ev::Time limit = ev::Clock::now() + 20s;
    while (loop.step()) REQUIRE(ev::Clock::now() < limit);
    Outcome outcome;
    outcome.status = client.report();
    outcome.output = output.text();
    outcome.errors = errors.text();
    outcome.lines = server.times.size();
    if (outcome.lines > 0) outcome.between = server.times.back() - server.times.front();
    return outcome;
}

Lines twice(const std::string& line) { return {line + line}; }

// Answers the second line "b" of all with `other`, and every other line as before.
LineServer::Answer with_second_b(Lines other) {
    return [other = std::move(other), count = 0](const std::string& line) mutable {
        if (line == "b") ++count;
        return line == "b" && count == 2 ? other : twice(line);
    };
}

const std::string three = Recorded()
                              .say(5s, "a", "aa")
                              .say(5s + 300ms, "b", "bb")
                              .say(5s + 500ms, "c", "cc")
                              .end()
                              .text;

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1))
        ++found;
    return found;
}

}  // namespace

TEST_CASE("each connection replays the whole recording, and the counts are sums") {
    const bool fast = GENERATE(false, true);
    const Outcome outcome = replay(three, twice, {.fast = fast});
    CAPTURE(outcome.output, outcome.errors);
    CHECK(outcome.status == 0);
    CHECK(outcome.output.empty());
    CHECK(contains(outcome.errors, "9 said again, 9 as before, 0 different, 0 lost"));
    CHECK(contains(outcome.errors, "; rtt "));
    CHECK(outcome.lines == 9);
    CHECK((outcome.between >= 500ms) == !fast);
}

TEST_CASE("connections that open one after the other replay at their own times") {
    const Outcome outcome = replay(three, twice, {.connect_pace = Pace(1, 1s)});
    CHECK(outcome.status == 0);
    CHECK(contains(outcome.errors, "9 said again, 9 as before, 0 different, 0 lost"));
    CHECK((outcome.between >= 2500ms && outcome.between < 2600ms));
}

TEST_CASE("a different reply on one connection is printed with the connection's number") {
    const bool fast = GENERATE(false, true);
    const Outcome outcome = replay(three, with_second_b({"bX"}), {.fast = fast});
    CHECK(outcome.status == 1);
    CHECK(outcome.output.starts_with("connection "));
    CHECK(outcome.output.substr(12) == ": reply 2 differs at byte 1: 62 before, 58 now\n"
                                       "    sent      b\n"
                                       "    recorded  bb\n"
                                       "    now       bX\n");
    CHECK(
        contains(outcome.errors, "reply 2 differs from the recording at byte 1 (b, got X)\n"));
    CHECK(contains(outcome.errors, "9 said again, 8 as before, 1 different, 0 lost"));
}

TEST_CASE("a missing reply on one connection is lost, and all replays continue") {
    const bool fast = GENERATE(false, true);
    const Outcome outcome = replay(three, with_second_b({}), {.fast = fast});
    CHECK(outcome.status == 1);
    const std::string how = fast ? "did not arrive within 5s" : "is missing";
    CHECK(contains(outcome.output, ": reply 2 " + how + "\n    sent      b\n"));
    CHECK(contains(outcome.errors, "9 said again, 8 as before, 0 different, 1 lost"));
}

TEST_CASE("each connection expects no reply to a message without a recorded one") {
    const std::string text = Recorded()
                                 .say(0s, "a", "aa")
                                 .say(1s, "b", std::nullopt)
                                 .say(2s, "c", "cc")
                                 .say(3s, "d", "dd")
                                 .end()
                                 .text;
    const auto silent = [](const std::string& line) {
        return line == "b" ? Lines{} : twice(line);
    };
    const bool fast = GENERATE(false, true);
    const Outcome outcome = replay(text, silent, {.fast = fast});
    CHECK(outcome.status == 0);
    CHECK(contains(outcome.errors, "12 said again, 12 as before, 0 different, 0 lost"));
    const Outcome other = replay(text, twice, {.fast = fast});
    CHECK(other.status == 1);
    CHECK(contains(other.errors, "12 said again, 9 as before, 3 different, 0 lost"));
}

TEST_CASE("late replies are compared, and an unrecorded late reply differs") {
    const std::string text =
        Recorded().say(0s, "a", "aa").say(1ms, "b", std::nullopt).say(3s, "c", "cc").end().text;
    const auto slow = [](const std::string& line) {
        if (line == "c") return twice(line);
        return Lines{line == "a" ? "~aa" : "~new"};
    };
    const Outcome outcome = replay(text, slow, {.reply_timeout = 500ms});
    CHECK(outcome.status == 1);
    CHECK(contains(outcome.errors, "9 said again, 6 as before, 3 different, 0 lost, 6 late"));
    CHECK(count(outcome.output, ": reply 1 did not arrive within 500ms\n") == 3);
    CHECK(count(outcome.output, ": reply 1 arrived late, after 1") == 3);
    CHECK(contains(outcome.output, ": reply 2 is new: no reply was recorded\n"));
}

TEST_CASE("a signal that ends the replays makes no message missing") {
    const std::string text =
        Recorded().say(0s, "a", "aa").hear(1s, "tick").say(9s, "b", "bb").end().text;
    const Outcome outcome = replay(text, twice, {.interrupted = 2s});
    CHECK(outcome.status == 128 + SIGINT);
    CHECK(outcome.output.empty());
    CHECK(contains(outcome.errors, "3 said again, 3 as before, 0 different, 0 lost; rtt"));
}

TEST_CASE("each connection expects its unsolicited messages again") {
    const std::string text = Recorded().hear(0s, "ready").say(1s, "a", "aa").end().text;
    const bool fast = GENERATE(false, true);
    const Outcome same = replay(text, twice, {.fast = fast, .greeting = {"ready"}});
    CAPTURE(same.output);
    CHECK(same.status == 0);
    CHECK(contains(same.errors, "3 as before, 0 different, 0 lost, 3 unsolicited as before"));
    const Outcome other = replay(text, twice, {.fast = fast, .greeting = {"hello"}});
    CHECK(other.status == 1);
    CHECK(contains(other.errors, "3 unsolicited missing, 3 unsolicited not recorded"));
    CHECK(contains(other.output, "connection 2: unsolicited before, and missing now\n"));
    CHECK(contains(other.output, "connection 3: unsolicited, and not recorded\n"));
}

TEST_CASE("each connection reads a long recording at its own speed") {
    Recorded recorded;
    for (int i = 0; i < 5000; ++i) {
        const std::string text = std::to_string(i);
        recorded.say(i * 1ms, text, text + text);
    }
    const Settings settings{.fast = true, .connect_pace = Pace(1, 1ms)};
    const Outcome outcome = replay(recorded.end().text, twice, settings);
    CHECK(outcome.status == 0);
    CHECK(contains(outcome.errors, "15000 said again, 15000 as before, 0 different, 0 lost"));
}

TEST_CASE("a bad line ends the replay of each connection in order") {
    Recorded recorded;
    for (int i = 0; i < 3000; ++i) {
        const std::string text = std::to_string(i);
        recorded.say(i * 1ms, text, text + text);
    }
    const Outcome outcome = replay(recorded.add("{\"type\":").text, twice, {.fast = true});
    CHECK(outcome.status == 2);
    CHECK(contains(outcome.errors, ":3002: the line is cut short (3 times)\n"));
    CHECK(contains(outcome.errors, " 0 different, 0 lost"));
    CHECK(outcome.lines < 9000);
}

TEST_CASE("a thousand differences are printed, and all are counted") {
    Recorded recorded;
    for (int i = 0; i < 500; ++i) recorded.say(i * 1ms, "a", "before");
    const Outcome outcome = replay(recorded.end().text, twice, {.fast = true});
    CHECK(outcome.status == 1);
    CHECK(count(outcome.output, " differs at byte ") == 1000);
    CHECK(outcome.output.ends_with("\nfurther differences are not shown\n"));
    CHECK(contains(outcome.errors, "1500 said again, 0 as before, 1500 different, 0 lost"));
}

TEST_CASE("the objects of a replay contain the connection and the sums") {
    const Settings json{.fast = true, .form = Reporter::Form::json};
    const Outcome outcome = replay(three, with_second_b({"bX"}), json);
    CHECK(outcome.status == 1);
    for (const std::string number : {"1", "2", "3"})
        CHECK(count(outcome.output, "\"connection\":" + number + "}") == 3);
    CHECK(count(outcome.output, R"("verdict":"as before","right":true)") == 8);
    CHECK(count(outcome.output, R"("verdict":"different","right":false,"difference":1)") == 1);
    CHECK(contains(outcome.output, R"("replay":{"said":9,"as_before":8,"different":1,"lost":0,)"
                                   R"("unsolicited_as_before":0,"missing":0,"unrecorded":0})"));
    CHECK_FALSE(contains(outcome.output, "interval"));
}
