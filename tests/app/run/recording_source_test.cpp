// Recordings replayed on one connection, in virtual time, to a server that each test defines.

#include "app/run/recording_source.hpp"

#include "app/run/run_client.hpp"

#include "tests/app/run/recordings.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"
#include "tests/support/virtual_time.hpp"

#include <unistd.h>

#include <csignal>
#include <memory>
#include <optional>
#include <random>
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

struct Replayed {
    int status = -1;
    std::string output;
    std::string errors;
    ev::Duration first{};             // time of the first line since the start
    std::vector<ev::Duration> times;  // when each line arrived, since the first
};

struct Settings {
    bool fast = false;
    Reporter::Form form = Reporter::Form::payload;
    Lines greeting = {};
    ev::Duration reply_timeout = 5s;
    const char* mask = nullptr;
    std::optional<ev::Duration> interrupted = {};  // time since the start
};

Replayed replay(const std::string& text, const LineServer::Answer& answer,
                const Settings& settings = {}) {
    const RecordingFile file(text);
    const Redirected output(STDOUT_FILENO);
    const Redirected errors(STDERR_FILENO);
    VirtualLoop loop;
    LineServer server(loop, answer, settings.greeting);
    RunClient::Options options;
    options.run.session.endpoint.host = "127.0.0.1";
    options.run.session.endpoint.service = server.port();
    if (settings.mask) options.run.session.pattern.emplace(settings.mask);
    options.from = RunClient::Options::From::recording;
    options.recording = std::make_shared<Recording>(file.name, 1000);
    options.fast = settings.fast;
    options.report.form = settings.form;
    options.run.session.reply_timeout = settings.reply_timeout;
    REQUIRE(options.recording->trouble().empty());
    RunClient client(loop, options);
    ev::Timer interrupt(loop, [&] { client.quit(SIGINT); });
    if (settings.interrupted) interrupt.start(*settings.interrupted);
    const ev::Time limit = ev::Clock::now() + 20s;
    while (loop.step()) REQUIRE(ev::Clock::now() < limit);
    Replayed outcome;
    outcome.status = client.report();
    outcome.output = output.text();
    outcome.errors = errors.text();
    if (!server.times.empty()) outcome.first = server.times[0] - VirtualLoop::start;
    for (const ev::Time time : server.times) outcome.times.push_back(time - server.times[0]);
    return outcome;
}

Lines twice(const std::string& line) { return {line + line}; }

const std::string three = Recorded()
                              .say(5s, "a", "aa")
                              .say(5s + 300ms, "b", "bb")
                              .say(5s + 500ms, "c", "cc")
                              .end()
                              .text;

}  // namespace

TEST_CASE("messages are replayed at their times, and their replies match") {
    const Replayed outcome = replay(three, twice);
    CHECK(outcome.status == 0);
    CHECK(outcome.output.empty());
    CHECK(contains(outcome.errors, "3 replayed, 3 matched, 0 different, 0 lost; rtt"));
    REQUIRE(outcome.times.size() == 3);
    CHECK((outcome.times[1] >= 300ms && outcome.times[1] < 400ms));
    CHECK((outcome.times[2] >= 500ms && outcome.times[2] < 600ms));
}

TEST_CASE("a fast replay does not wait for the recorded times") {
    const Replayed outcome = replay(three, twice, {.fast = true});
    CHECK(outcome.status == 0);
    CHECK(contains(outcome.errors, "3 replayed, 3 matched, 0 different, 0 lost"));
    CHECK((outcome.times.back() < 100ms));
}

TEST_CASE("a different reply is printed with the recorded one") {
    const auto changed = [](const std::string& line) {
        return line == "b" ? Lines{"bX\x1b"} : twice(line);
    };
    const bool fast = GENERATE(false, true);
    const Replayed outcome = replay(three, changed, {.fast = fast});
    CHECK(outcome.status == 1);
    CHECK(outcome.output == "reply 2 differs at byte 1 (b, got X)\n"
                            "    sent      b\n"
                            "    recorded  bb\n"
                            "    now       bX^[\n");
    CHECK(
        contains(outcome.errors, "reply 2 differs from the recording at byte 1 (b, got X)\n"));
    CHECK(contains(outcome.errors, "3 replayed, 2 matched, 1 different, 0 lost"));
}

TEST_CASE("a missing reply is lost, and the replay continues") {
    const auto silent = [](const std::string& line) {
        return line == "b" ? Lines{} : twice(line);
    };
    const bool fast = GENERATE(false, true);
    const Replayed outcome = replay(three, silent, {.fast = fast});
    CHECK(outcome.status == 1);
    // The reply to the next message reveals the loss before the timeout does.
    const std::string how = fast ? "did not arrive within 5s" : "is missing";
    CHECK(contains(outcome.output, "reply 2 " + how + "\n    sent      b\n    recorded  bb\n"));
    CHECK(contains(outcome.errors, "3 replayed, 2 matched, 0 different, 1 lost"));
}

TEST_CASE("a late reply is reported twice, and is no difference") {
    const auto slow = [](const std::string& line) {
        return line == "b" ? Lines{"~bb"} : twice(line);
    };
    const std::string text =
        Recorded().say(0s, "a", "aa").say(1s, "b", "bb").say(4s, "c", "cc").end().text;
    const Replayed outcome = replay(text, slow, {.reply_timeout = 600ms});
    CAPTURE(outcome.output);
    CHECK(outcome.status == 0);
    CHECK(outcome.output.starts_with("reply 2 did not arrive within 600ms\n"
                                     "    sent      b\n"
                                     "    recorded  bb\n"
                                     "reply 2 arrived late, after 1"));
    CHECK(outcome.output.ends_with(" ms and matches the recording\n"));
    CHECK(contains(outcome.errors, "3 replayed, 3 matched, 0 different, 0 lost, 1 late"));
}

TEST_CASE("late replies are compared, and an unrecorded late reply differs") {
    const std::string text =
        Recorded().say(0s, "a", "aa").say(1ms, "b", std::nullopt).say(3s, "c", "cc").end().text;
    const auto slow = [](const std::string& line) {
        if (line == "c") return twice(line);
        return Lines{line == "a" ? "~aa" : "~new"};
    };
    const Replayed outcome = replay(text, slow, {.reply_timeout = 500ms});
    CHECK(outcome.status == 1);
    CHECK(contains(outcome.errors, "3 replayed, 2 matched, 1 different, 0 lost, 2 late"));
    CHECK(contains(outcome.output, "reply 1 did not arrive within 500ms\n"));
    CHECK(contains(outcome.output, "reply 1 arrived late, after 1"));
    CHECK(contains(outcome.output, "reply 2 is new: no reply was recorded\n"));
}

TEST_CASE("a reply that was recorded late may be as late again") {
    const Message message{.id = 1, .payload = "a", .planned = ev::Time(3s)};
    const Reply reply{"aa", 1s};
    const std::string text =
        Recorded()
            .say(3s, "a", std::nullopt)
            .add(recorded_object(Fate::late, &message, &reply, {}, {}).str())
            .say(3s + 100ms, "b", "bb")
            .end()
            .text;
    const auto slow = [](const std::string& line) {
        return line == "a" ? Lines{"~aa"} : twice(line);
    };
    const bool fast = GENERATE(false, true);
    const Replayed outcome = replay(text, slow, {.fast = fast, .reply_timeout = 500ms});
    CAPTURE(outcome.output);
    CHECK(outcome.status == 0);
    CHECK(contains(outcome.errors, "2 matched, 0 different, 0 lost, 1 unsolicited matched"));
}

TEST_CASE("a message without a recorded reply expects none") {
    const std::string text =
        Recorded().say(0s, "a", "aa").say(1s, "b", std::nullopt).say(2s, "c", "cc").end().text;
    const bool fast = GENERATE(false, true);
    const auto silent = [](const std::string& line) {
        return line == "b" ? Lines{} : twice(line);
    };
    const Replayed as_before = replay(text, silent, {.fast = fast});
    CHECK(as_before.status == 0);
    CHECK(contains(as_before.errors, "3 replayed, 3 matched, 0 different, 0 lost"));
    const auto only_b = [](const std::string& line) {
        return line == "b" ? Lines{"new"} : twice(line);
    };
    const Replayed other = replay(text, only_b, {.fast = fast});
    CHECK(other.status == 1);
    CHECK(contains(other.errors, "3 replayed, 2 matched, 1 different, 0 lost"));
    CHECK(contains(other.output, "reply 2 is new: no reply was recorded\n"));
}

TEST_CASE("unsolicited messages must come again, between any replies") {
    const std::string text = Recorded()
                                 .hear(100ms, "ready")
                                 .say(200ms, "a", "aa")
                                 .hear(300ms, "tick")
                                 .say(400ms, "b", "bb")
                                 .say(401ms, "c", "cc")
                                 .end()
                                 .text;
    const bool fast = GENERATE(false, true);
    const Lines where = GENERATE(Lines{"a"}, Lines{"b"});
    const auto ticking = [&](const std::string& line) {
        const bool now = line == where[0];
        const bool early = now && line == "b";  // before the late reply
        if (early) return Lines{"tick", line + line};
        return now ? Lines{line + line, "tick"} : twice(line);
    };
    if (fast && where[0] == "b") return;  // a fast replay waits for it before sending b
    const Replayed outcome = replay(text, ticking, {.fast = fast, .greeting = {"ready"}});
    CAPTURE(outcome.output);
    CHECK(outcome.status == 0);
    CHECK(contains(outcome.errors,
                   "3 replayed, 3 matched, 0 different, 0 lost, 2 unsolicited matched"));
}

TEST_CASE("the first message, the end, and a fast replay wait for unsolicited messages") {
    const std::string text = Recorded()
                                 .hear(1s, "ready")
                                 .say(2s, "a", "aa")
                                 .hear(2s + 200ms, "tick")
                                 .say(2s + 300ms, "b", "bb")
                                 .hear(4s, "bye")
                                 .end()
                                 .text;
    const auto slow = [](const std::string& line) {
        return Lines{line + line, line == "a" ? "~tick" : "~bye"};
    };
    const bool fast = GENERATE(false, true);
    const Replayed outcome = replay(text, slow, {.fast = fast, .greeting = {"~ready"}});
    CAPTURE(outcome.output, outcome.errors);
    CHECK(outcome.status == 0);
    CHECK(contains(outcome.errors, "3 unsolicited matched"));
    CHECK((outcome.first >= 1s));
    REQUIRE(outcome.times.size() == 2);
    CHECK((outcome.times[1] >= 1s) == fast);
}

TEST_CASE("an expected unsolicited message does not answer a message in flight") {
    const std::string text =
        Recorded().say(0s, "a", "aa").hear(100ms, "tick").say(200ms, "b", "bb").end().text;
    const auto early = [](const std::string& line) {
        return line == "a" ? Lines{"aa"} : Lines{"tick", "~bb"};
    };
    const Replayed outcome = replay(text, early);
    CAPTURE(outcome.output);
    CHECK(outcome.status == 0);
    CHECK(contains(outcome.errors, "2 matched, 0 different, 0 lost, 1 unsolicited matched"));
}

TEST_CASE("a fast replay has the same messages in flight together") {
    const std::string text = Recorded()
                                 .say(1s, "PING", "PONG", 10ms)
                                 .say(1s, "LIST", "one", 10ms)
                                 .say(1s, "PING", "two", 11ms)
                                 .say(1s, "TIME", "PONG", 11ms)
                                 .hear(1s + 12ms, "time")
                                 .say(1s + 12ms, "LIST", "one", 10ms)
                                 .hear(1s + 22ms, "two")
                                 .end()
                                 .text;
    const auto answers = [](const std::string& line) {
        if (line == "LIST") return Lines{"one", "two"};
        return Lines{line == "PING" ? "PONG" : "time"};
    };
    const Replayed outcome = replay(text, answers, {.fast = true});
    CAPTURE(outcome.output);
    CHECK(outcome.status == 0);
    CHECK(contains(outcome.errors, "5 matched, 0 different, 0 lost, 2 unsolicited matched"));
}

TEST_CASE("messages without a reply do not hold up a fast replay") {
    Recorded script;
    for (int i = 0; i < 5; ++i) script.say(i * 1ms, std::to_string(i), std::nullopt);
    const auto nothing = [](const std::string&) { return Lines{}; };
    const Replayed outcome = replay(script.end().text, nothing, {.fast = true});
    CHECK(outcome.status == 0);
    REQUIRE(outcome.times.size() == 5);
    CHECK((outcome.times[4] < 1s));
}

TEST_CASE("missing and unrecorded messages are differences") {
    const std::string text =
        Recorded().hear(0s, "ready").say(1s, "a", "aa").say(2s, "b", "bb").end().text;
    const auto extra = [](const std::string& line) {
        return line == "a" ? Lines{"aa", "news"} : twice(line);
    };
    const bool fast = GENERATE(false, true);
    const Replayed outcome = replay(text, extra, {.fast = fast});
    CHECK(outcome.status == 1);
    CHECK(contains(outcome.output,
                   "a recorded unsolicited message is missing\n    recorded  ready\n"));
    CHECK(contains(outcome.output,
                   "an unsolicited message is not in the recording\n    now       news\n"));
    CHECK(contains(outcome.errors, "2 replayed, 2 matched, 0 different, 0 lost, 1 unsolicited "
                                   "missing, 1 unsolicited not recorded"));
}

TEST_CASE("unsolicited messages of a burst are found, however many were recorded") {
    constexpr int count = 10000;
    const int piece = GENERATE(1, 100);  // place of the message "b" among them
    Recorded recorded;
    Lines burst{"aa"};
    recorded.say(0s, "a", "aa");
    for (int i = 1; i <= count; ++i) {
        burst.push_back("tick " + std::to_string(i));
        recorded.hear(i * 100us, burst.back());
        if (i == piece) recorded.say(i * 100us, "b", "bb");
    }
    const std::string text = recorded.end().text;
    const auto answer = [&](const std::string& line) {
        return line == "a" ? burst : twice(line);
    };
    const bool fast = GENERATE(false, true);
    const Replayed outcome = replay(text, answer, {.fast = fast});
    CAPTURE(piece, fast, outcome.output.substr(0, 1000), outcome.errors);
    CHECK(outcome.output.empty());
    CHECK(contains(outcome.errors, " 0 lost, 10000 unsolicited matched;"));
    burst.insert(burst.begin() + 1, "tick 1");
    const Replayed more = replay(text, answer, {.fast = fast});
    CHECK(contains(more.errors, "10000 unsolicited matched, 1 unsolicited not recorded;"));
}

TEST_CASE("an unsolicited message comes no earlier than the reply timeout allows") {
    const std::string text = Recorded()
                                 .say(0s, "a", "aa")
                                 .say(1s, "b", "bb")
                                 .hear(3s, "tick")
                                 .hear(7s, "late tick")
                                 .end()
                                 .text;
    const auto early = [](const std::string& line) {
        return line == "a" ? Lines{"aa", "tick", "late tick"} : twice(line);
    };
    const Replayed outcome = replay(text, early);
    CHECK(outcome.output ==
          "an unsolicited message is not in the recording\n    now       late tick\n"
          "a recorded unsolicited message is missing\n    recorded  late tick\n");
    CHECK(contains(outcome.errors, "1 unsolicited matched, 1 unsolicited missing, "
                                   "1 unsolicited not recorded"));
}

TEST_CASE("a signal that ends a replay makes no message missing") {
    const std::string text =
        Recorded().say(0s, "a", "aa").hear(1s, "tick").say(9s, "b", "bb").end().text;
    const Replayed outcome = replay(text, twice, {.interrupted = 2s});
    CHECK(outcome.status == 128 + SIGINT);
    CHECK(outcome.output.empty());
    CHECK(contains(outcome.errors, "1 replayed, 1 matched, 0 different, 0 lost; rtt"));
}

TEST_CASE("masked parts of unsolicited messages and replies are no differences") {
    const std::string text = Recorded()
                                 .hear(0s, "ready 12:01")
                                 .say(1s, "a", "id 7 ok")
                                 .say(2s, "b", "id 8 ok")
                                 .end()
                                 .text;
    const auto other = [](const std::string& line) {
        return Lines{line == "a" ? "id 1234 ok" : "id 5 no"};
    };
    const Settings masked{.greeting = {"ready 9:59"}, .mask = "([0-9]+:[0-9]+)|(id [0-9]+)"};
    const Replayed outcome = replay(text, other, masked);
    CHECK(outcome.status == 1);
    CHECK(outcome.output == "reply 2 differs at byte 5 (o, got n)\n"
                            "    sent      b\n"
                            "    recorded  id 8 ok\n"
                            "    now       id 5 no\n");
    CHECK(contains(outcome.errors, "2 replayed, 1 matched, 1 different, 0 lost"));
}

TEST_CASE("a bad line ends a long replay gracefully") {
    Recorded script;
    for (int i = 0; i < 3000; ++i) {
        const std::string text = std::to_string(i);
        script.say(i * 1ms, text, text + text);
    }
    const Replayed outcome = replay(script.add("{\"type\":").text, twice, {.fast = true});
    CHECK(outcome.status == 2);
    CHECK(contains(outcome.errors, ":3002: the line is truncated\n"));
    CHECK(contains(outcome.errors, " 0 different, 0 lost"));
    CHECK(outcome.times.size() < 3000);
}

TEST_CASE("the objects of a replay make a recording with its counts") {
    const Settings json{.fast = true, .form = Reporter::Form::json};
    const auto changed = [](const std::string& line) {
        return line == "b" ? Lines{"bX"} : twice(line);
    };
    const Replayed outcome = replay(three, changed, json);
    CHECK(outcome.status == 1);
    CHECK(contains(outcome.output, R"("seq":1,"sent_bytes":1,"received_bytes":2,)"));
    CHECK(contains(outcome.output, R"("fate":"matched","right":true)"));
    CHECK(contains(outcome.output, R"("fate":"different","right":false,"difference":1)"));
    CHECK(contains(outcome.output,
                   R"("replay":{"replayed":3,"matched":2,"different":1,"lost":0,)"
                   R"("unsolicited_matched":0,"missing":0,"unrecorded":0})"));
}

namespace {

// A server whose lines depend on all earlier input, and a recording of it.
class RandomServer {
public:
    explicit RandomServer(unsigned seed) : seed_(seed) {}

    Lines answer(const std::string& line) {
        std::mt19937 random(seed_ + static_cast<unsigned>(++count_) * 977U);
        Lines lines;
        if (random() % 6 == 0) lines.push_back("event " + std::to_string(count_));
        const bool silent = random() % 9 == 0;
        if (!silent) lines.push_back(random() % 3 == 0 ? "OK" : line + "!");
        if (count_ == wrong) {
            if (lines.empty()) lines.emplace_back();
            lines.back() += "?";
        }
        if (random() % 6 == 0) lines.push_back("later " + std::to_string(count_));
        return lines;
    }

    int wrong = 0;  // number of the line that is answered differently; 0: none

private:
    unsigned seed_;
    int count_ = 0;
};

std::string random_recording(unsigned seed, int count) {
    RandomServer server(seed);
    Recorded script;
    for (int i = 1; i <= count; ++i) {
        const ev::Duration at = i * 20ms;
        const std::string line = "say " + std::to_string(i % 5);
        std::optional<std::string> reply;
        Lines later;
        for (const std::string& each : server.answer(line)) {
            if (each.starts_with("event "))
                script.hear(at + 1ms, each);
            else if (each.starts_with("later "))
                later.push_back(each);
            else
                reply = each;
        }
        script.say(at, line, reply);
        for (const std::string& each : later) script.hear(at + 3ms, each);
    }
    return script.end().text;
}

}  // namespace

TEST_CASE("the recording of a random server is replayed alike, and one change is found") {
    const unsigned seed = GENERATE(range(1U, 13U));
    const bool fast = GENERATE(false, true);
    constexpr int count = 40;
    CAPTURE(seed, fast);
    const std::string text = random_recording(seed, count);
    RandomServer same(seed);
    const auto answer = [](RandomServer& server) {
        return [&server](const std::string& line) { return server.answer(line); };
    };
    const Replayed before = replay(text, answer(same), {.fast = fast});
    CAPTURE(before.output, before.errors);
    CHECK(before.status == 0);
    CHECK(contains(before.errors, "40 replayed, 40 matched, 0 different, 0 lost"));
    RandomServer other(seed);
    other.wrong = static_cast<int>(1 + seed % count);
    const Replayed after = replay(text, answer(other), {.fast = fast});
    CAPTURE(after.output, after.errors);
    CHECK(after.status == 1);
    CHECK(contains(after.output, "?\n"));
}
