// Recordings replayed on one connection, in virtual time.

#include "app/run/sources.hpp"

#include "app/protocol/event.hpp"
#include "tests/app/run/client_fixture.hpp"
#include "tests/support/text.hpp"

using namespace std::chrono_literals;
using namespace yodel;
using test::contains;
using test::Replies;
using test::Server;

namespace {

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::istringstream in(text);
    for (std::string part; std::getline(in >> std::ws, part, separator);) parts.push_back(part);
    return parts;
}

// Returns the recording of events, each after its time in milliseconds: "0 a=aa" is the message
// a with the reply aa, "0 a=aa@10" adds a round trip of 10 ms, "0 a~aa" is a message with a
// late reply after a second, "5 b" a message without a reply, and "9 +x" an unsolicited
// message.
std::string recorded(const std::string& events) {
    std::string text = recording_object({}, 1, 1, {}).str() + "\n";
    std::uint64_t id = 0;
    for (const std::string& event : split(events, ';')) {
        std::size_t digits = 0;
        const ev::Duration at = std::stoi(event, &digits) * 1ms;
        const std::string what = event.substr(digits + 1);
        const std::size_t end = std::min(what.find_first_of("=~"), what.size());
        const std::size_t answered = std::min(what.find('@'), what.size());
        const char kind = what[0] == '+' ? '+' : what[end];
        const std::string sent = what.substr(0, end);
        const std::string received = what.substr(kind == '+' ? 1 : std::min(end + 1, answered),
                                                 kind == '+' ? end : answered - end - 1);
        Reply reply{received, {}};
        if (answered < what.size())
            reply.round_trip = std::stoi(what.substr(answered + 1)) * 1ms;
        if (kind == '~') reply.round_trip = 1s;
        const auto add = [&](Fate fate) {
            const Message message{
                .id = id, .payload = sent, .planned_at = ev::Time(at), .sent_at = ev::Time(at)};
            const Event added{
                .fate = fate, .message = message, .reply = reply, .at = ev::Time(at)};
            text += json(added, {}, {.max_payload = 1000}).str() + "\n";
        };
        if (kind != '+') ++id;
        if (kind == '+') add(Fate::unsolicited);
        if (kind == '=') add(Fate::echoed);
        if (kind == '~' || kind == '\0') add(Fate::lost);
        if (kind == '~') add(Fate::late);
    }
    return text + "{\"type\":\"end\"}\n";
}

// Returns a server that answers the line "a" with "aa", or with the given lines: "a=aa,~x"
// answers a with aa, and with x a second later, and "b=" answers b with nothing.
Server::Answer answers(const std::string& lines) {
    std::map<std::string, Replies> others;
    for (const std::string& line : split(lines, ';')) {
        const std::size_t end = line.find('=');
        others[line.substr(0, end)] = split(line.substr(end + 1), ',');
    }
    return [others](const std::string& line) {
        const auto found = others.find(line);
        return found == others.end() ? Replies{line + line} : found->second;
    };
}

struct Settings {
    bool is_fast = false;
    ev::Duration reply_timeout = 5s;
    Replies greeting = {};
    const char* mask = nullptr;
    std::optional<ev::Duration> interrupted = {};  // time since the start
    Reporter::Form form = Reporter::Form::payload;
};

struct Replayed {
    int status = -1;
    std::string counts;  // without zeros and the number of messages
    std::string output;
    std::string times;  // arrival of each line, in milliseconds since the start
};

Replayed replay(const std::string& recording, const Server::Answer& answer,
                const Settings& settings = {}) {
    auto read = std::make_shared<Recording>();
    parse_recording(*read, recording, {.is_replay = true, .max_frame = 1000});
    REQUIRE(read->trouble.text.empty());
    test::ClientFixture fixture(answer, settings.greeting);
    RunClient::Options options{
        .run = {.session = {.reply_timeout = settings.reply_timeout},
                .from = RunOptions::From::recording,
                .recording = read,
                .is_fast = settings.is_fast},
        .report = {.form = settings.form},
    };
    if (settings.mask) options.run.session.pattern.emplace(settings.mask);
    fixture.start(options);
    ev::Timer interrupt(fixture.loop, [&] { fixture.client->quit(SIGINT); });
    if (settings.interrupted) interrupt.start(*settings.interrupted);
    Replayed outcome;
    outcome.status = fixture.wait_for_end();
    outcome.output = fixture.printed;
    const std::string& errors = fixture.reported;
    if (const std::size_t begin = errors.find(" replayed, "); begin != std::string::npos)
        outcome.counts =
            errors.substr(begin + 11, errors.find_first_of(";\n", begin) - begin - 11);
    for (const std::string zero : {", 0 bad", ", 0 lost"})
        if (const std::size_t at = outcome.counts.find(zero); at != std::string::npos)
            outcome.counts.erase(at, zero.size());
    for (const ev::Time time : fixture.server.times)
        outcome.times += (outcome.times.empty() ? "" : " ") +
                         std::to_string((time - test::VirtualLoop::start) / 1ms);
    return outcome;
}

const char* const three = "5000 a=aa; 5300 b=bb; 5500 c=cc";

}  // namespace

TEST_CASE("a replay compares the server with the recording") {
    enum Mode { timed, fast, both };
    struct Played {
        Mode mode;
        const char* recording;
        const char* server = "";  // see answers()
        Settings settings = {};
    };
    struct Expected {
        const char* counts;
        const char* output = "";
        const char* times = nullptr;
    };
    struct Row {
        const char* name;
        Played played;
        Expected expected;
    };
    const Row rows[] = {
        {"messages at their times", {timed, three}, {"3 matched", "", "0 300 500"}},
        {"messages as soon as possible", {fast, three}, {"3 matched", "", "0 0 0"}},
        {"a bad reply",
         {both, three, "b=bX\x1b"},
         {"2 matched, 1 bad", "reply 2 differs at byte 1 (expected b, got X)\n"
                              "    sent      b\n    recorded  bb\n    now       bX^[\n"}},
        {"a missing reply, revealed by the next one",
         {timed, three, "b="},
         {"2 matched, 1 lost", "reply 2 is missing\n    sent      b\n    recorded  bb\n",
          "0 300 500"}},
        {"a missing reply holds up a fast replay",
         {fast, three, "b="},
         {"2 matched, 1 lost",
          "reply 2 did not arrive within 5s\n    sent      b\n    recorded  bb\n", "0 0 5000"}},
        {"a late reply is no difference",
         {timed, "0 a=aa; 1000 b=bb; 4000 c=cc", "b=~bb", {.reply_timeout = 600ms}},
         {"3 matched, 1 late",
          "reply 2 did not arrive within 600ms\n    sent      b\n    recorded  bb\n"
          "reply 2 arrived late (after 1000 ms) and matches the recording\n"}},
        {"an unrecorded late reply differs",
         {timed, "0 a=aa; 1 b; 3000 c=cc", "a=~aa; b=~new", {.reply_timeout = 500ms}},
         {"2 matched, 1 bad, 2 late",
          "reply 1 did not arrive within 500ms\n    sent      a\n    recorded  aa\n"
          "reply 1 arrived late (after 1000 ms) and matches the recording\n"
          "reply 2 is unexpected: no reply to its message was recorded\n    sent      b\n    "
          "now       new\n"}},
        {"a reply that was recorded late may be as late again",
         {both, "3000 a~aa; 3100 b=bb", "a=~aa", {.reply_timeout = 500ms}},
         {"2 matched, 1 unsolicited matched"}},
        {"a message without a recorded reply expects none",
         {both, "0 a=aa; 1000 b; 2000 c=cc", "b="},
         {"3 matched"}},
        {"a new reply",
         {both, "0 a=aa; 1000 b; 2000 c=cc", "b=new"},
         {"2 matched, 1 bad", "reply 2 is unexpected: no reply to its message was recorded\n   "
                              " sent      b\n    now       new\n"}},
        {"messages without replies do not hold up a fast replay",
         {fast, "0 a; 1 b; 2 c", "a=; b=; c="},
         {"3 matched", "", "0 0 0"}},
        {"unsolicited messages arrive again",
         {both,
          "100 +ready; 200 a=aa; 300 +tick; 400 b=bb; 401 c=cc",
          "a=aa,tick",
          {.greeting = {"ready"}}},
         {"3 matched, 2 unsolicited matched"}},
        {"an unsolicited message arrives later, before a reply",
         {timed, "200 a=aa; 300 +tick; 400 b=bb; 401 c=cc", "b=tick,bb"},
         {"3 matched, 1 unsolicited matched"}},
        {"an unsolicited message arrives later, before a late reply",
         {timed, "0 a=aa; 100 +tick; 200 b=bb", "b=tick,~bb"},
         {"2 matched, 1 unsolicited matched"}},
        {"the first message and the end wait for unsolicited messages",
         {timed,
          "1000 +ready; 2000 a=aa; 2200 +tick; 2300 b=bb; 4000 +bye",
          "a=aa,~tick; b=bb,~bye",
          {.greeting = {"~ready"}}},
         {"2 matched, 3 unsolicited matched", "", "1000 1300"}},
        {"each message of a fast replay waits for unsolicited messages",
         {fast,
          "1000 +ready; 2000 a=aa; 2200 +tick; 2300 b=bb; 4000 +bye",
          "a=aa,~tick; b=bb,~bye",
          {.greeting = {"~ready"}}},
         {"2 matched, 3 unsolicited matched", "", "1000 2000"}},
        {"a fast replay has the same messages in flight together",
         {fast,
          "1000 PING=PONG@10; 1000 LIST=one@10; 1000 PING=two@11; 1000 TIME=PONG@11; "
          "1012 +time; 1012 LIST=one@10; 1022 +two",
          "PING=PONG; LIST=one,two; TIME=time"},
         {"5 matched, 2 unsolicited matched"}},
        {"missing and unrecorded messages",
         {both, "0 +ready; 1000 a=aa; 2000 b=bb", "a=aa,news"},
         {"2 matched, 1 unsolicited missing, 1 unsolicited not recorded",
          "a recorded unsolicited message is missing\n    recorded  ready\n"
          "an unsolicited message is not in the recording\n    now       news\n"}},
        {"an unsolicited message arrives early by at most the reply timeout",
         {timed, "0 a=aa; 1000 b=bb; 3000 +tick; 7000 +late tick", "a=aa,tick,late tick"},
         {"2 matched, 1 unsolicited matched, 1 unsolicited missing, 1 unsolicited not recorded",
          "an unsolicited message is not in the recording\n    now       late tick\n"
          "a recorded unsolicited message is missing\n    recorded  late tick\n"}},
        {"masked parts are no differences",
         {both,
          "0 +ready 12:01; 1000 a=id 7 ok; 2000 b=id 8 ok",
          "a=id 1234 ok; b=id 5 no",
          {.greeting = {"ready 9:59"}, .mask = "([0-9]+:[0-9]+)|(id [0-9]+)"}},
         {"1 matched, 1 bad, 1 unsolicited matched",
          "reply 2 differs at byte 5 (expected o, got n)\n"
          "    sent      b\n    recorded  id 8 ok\n    now       id 5 no\n"}},
    };
    const std::string differences[] = {"bad", "lost", "missing", "not recorded"};
    for (const Row& row : rows)
        for (const bool is_fast : {false, true}) {
            const Mode mode = row.played.mode;
            if (mode == (is_fast ? timed : fast)) continue;
            CAPTURE(row.name, is_fast);
            Settings settings = row.played.settings;
            settings.is_fast = is_fast;
            const Replayed outcome =
                replay(recorded(row.played.recording), answers(row.played.server), settings);
            int status = 0;
            for (const std::string& difference : differences)
                if (contains(row.expected.counts, difference)) status = 1;
            CHECK(outcome.status == status);
            CHECK(outcome.counts == row.expected.counts);
            CHECK(outcome.output == row.expected.output);
            if (row.expected.times) CHECK(outcome.times == row.expected.times);
        }
}

TEST_CASE("unsolicited messages in a burst are found among any number of recorded ones") {
    constexpr int count = 10000;
    for (const int place : {1, 100})
        for (const bool is_fast : {false, true}) {
            CAPTURE(place, is_fast);
            std::string events = "0 a=aa";
            Replies burst{"aa"};
            for (int i = 1; i <= count; ++i) {
                burst.push_back("tick " + std::to_string(i));
                events += ";" + std::to_string((i + 9) / 10) + " +" + burst.back();
                if (i == place) events += ";" + std::to_string((i + 9) / 10) + " b=bb";
            }
            const auto answer = [&](const std::string& line) {
                return line == "a" ? burst : Replies{"bb"};
            };
            const std::string text = recorded(events);
            CHECK(replay(text, answer, {.is_fast = is_fast}).counts ==
                  "2 matched, 10000 unsolicited matched");
            burst.insert(burst.begin() + 1, "tick 1");
            CHECK(replay(text, answer, {.is_fast = is_fast}).counts ==
                  "2 matched, 10000 unsolicited matched, "
                  "1 unsolicited not recorded");
        }
}

TEST_CASE("no message is missing if a signal ends the replay") {
    const Replayed outcome =
        replay(recorded("0 a=aa; 1000 +tick; 9000 b=bb"), answers(""), {.interrupted = 2s});
    CHECK(outcome.status == 128 + SIGINT);
    CHECK(outcome.output.empty());
    CHECK(outcome.counts == "1 matched");
}

TEST_CASE("the objects of a replay name the fates of its messages") {
    const Replayed outcome = replay(recorded(three), answers("b=bX"),
                                    {.is_fast = true, .form = Reporter::Form::json});
    CHECK(outcome.status == 1);
    CHECK(contains(outcome.output, R"("fate":"matched","right":true)"));
    CHECK(contains(outcome.output, R"("fate":"bad","right":false,"difference":1)"));
    CHECK(contains(outcome.output, R"("replayed":3,"matched":2,"bad":1,"lost":0,)"));
}
