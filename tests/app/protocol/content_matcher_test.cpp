// Matches datagrams that were lost, duplicated, reordered or damaged on their path.

#include "app/protocol/content_matcher.hpp"
#include "tests/support/allocations.hpp"
#include "tests/support/catch.hpp"

using namespace std::chrono_literals;
using namespace yodel;

namespace {

constexpr ev::Time start{1h};

// Logs the events: "1=a" a right reply, "1~b" a bad reply, "?1" a loss, "2xa" a duplicate, "+a"
// an unsolicited reply. "late" or "order" follows if the reply is late or reordered.
class Log {
public:
    explicit Log(ContentMatcher::Options options = {})
        : matcher(options), compares(!options.pattern) {}

    void add(const Event& event) {
        if (!text.empty()) text += " ";
        text += words(event);
    }
    void resolve() {
        while (const auto event = matcher.next_resolved()) add(*event);
    }
    void send(const std::string& payload) {
        const std::size_t end = payload.find(':');
        if (end == payload.npos)
            matcher.queue(payload, {}, {});
        else
            matcher.queue(payload.substr(0, end), {}, payload.substr(end + 1));
        written += matcher.flush(now).size();
        matcher.record_written(written, now);
    }
    void receive(const std::string& payload) {
        add(matcher.match(payload, now, matcher.last_id()));
    }
    // Performs the words: ">a" sends a, ">a:b" sends a and expects b, "<a" receives a, "W"
    // marks the oldest message as late, "E" ends the connection.
    std::string play(const std::string& script) {
        std::istringstream words(script);
        for (std::string word; words >> word; now += 1ms) {
            if (word == "W") matcher.mark_oldest_late();
            if (word == "E") matcher.lose(true);
            if (word == "E") matcher.restart();
            if (word[0] == '>') send(word.substr(1));
            if (word[0] == '<') receive(word.substr(1));
            resolve();
        }
        return text;
    }

    ContentMatcher matcher;
    bool compares;
    ev::Time now = start;
    std::uint64_t written = 0;
    std::string text;

private:
    static std::string remarks(const Message& message, const Reply& reply) {
        return std::string(message.late ? "late" : "") + (reply.reordered ? "order" : "");
    }
    std::string words(const Event& event) const {
        const Message& message = event.message;
        const std::string payload(event.reply.payload);
        if (event.fate == Fate::duplicate) return "2x" + payload;
        if (!has_message(event.fate)) return "+" + payload;
        const std::string id = std::to_string(message.id);
        if (event.fate == Fate::lost) return "?" + id + (message.late ? "late" : "");
        CHECK((!compares ||
               event.reply.right == (message.expected.value_or(message.payload) == payload)));
        return id + (event.reply.right ? "=" : "~") + payload + remarks(message, event.reply);
    }
};

struct Row {
    const char* script;
    const char* log;
};

void check(const ContentMatcher::Options& options, const std::vector<Row>& rows) {
    for (const auto& [script, log] : rows) {
        CAPTURE(script);
        CHECK(Log(options).play(script) == log);
    }
}

}  // namespace

TEST_CASE("matches a reply by its content, in any order") {
    check({}, {
                  {">a <a", "1=a"},
                  {">a >b <a <b", "1=a 2=b"},
                  {">a >b <b <a", "2=b 1=aorder"},
                  {">a >b >c <c <a <b", "3=c 1=aorder 2=border"},
                  {">a <a <a", "1=a 2xa"},
                  {">a >b <a <a <b <b", "1=a 2xa 2=b 2xb"},
                  {">a >a <a <a <a", "1=a 2=a 2xa"},
                  {"<x", "+x"},
                  {">a <a <x", "1=a +x"},
                  {">a W", "?1late"},
                  {">a W <a", "?1late 1=alate"},
                  {">a >b W <b <a <a", "?1late 2=b 1=alateorder 2xa"},
                  {">a W >a <a <a", "?1late 2=a 1=alateorder"},
                  {">a >b E", "?1 ?2"},
                  {">a E >b <b", "?1 2=b"},
                  {">a E <a", "?1 +a"},
              });
}

TEST_CASE("compares a reply that equals no message with the oldest of its length") {
    check({}, {
                  {">abc <abX", "1~abX"},
                  {">abc >defg <deXg <abc", "2~deXg 1=abcorder"},
                  {">abc >def <deX", "1~deX"},
                  {">abc <abX <abc <abX", "1~abX 2xabc 2xabX"},
                  {">abc <x <abc", "+x 1=abc"},  // unsolicited: no message has this length
                  {">abc <x E", "+x ?1"},
                  {">abc W <abX", "?1late +abX"},
                  {">abc W >def <abX", "?1late 2~abX"},
              });
}

TEST_CASE("lets no reply answer a message that was queued after the reply was read") {
    const auto [expect, numbered, last_id, reply, log] =
        GENERATE(table<Expect, bool, std::uint64_t, std::string, std::string>({
            {Expect::echo, false, 1, "2bc", "+2bc 1=1a 2=2bc"},
            {Expect::echo, true, 1, "2bc", "+2bc 1=1a 2=2bc"},
            {Expect::echo, true, 1, "2bX", "+2bX 1=1a 2=2bc"},
            {Expect::echo, false, 0, "2bc", "+2bc 1=1a 2=2bc"},
            {Expect::any, false, 0, "1a", "+1a 1=1a 2=2bc"},
        }));
    ContentMatcher::Options options;
    options.expect = expect;
    options.numbered = numbered;
    Log played(options);
    played.send("1a");
    played.send("2bc");
    played.add(played.matcher.match(reply, played.now, last_id));
    played.receive("1a");
    played.receive("2bc");
    CHECK(played.text == log);
}

TEST_CASE("judges any reply by a pattern") {
    const Expression pattern("^[+]");
    ContentMatcher::Options options;
    options.expect = Expect::any;
    options.pattern = &pattern;
    check(options, {
                       {">a >b <+x <-y", "1=+x 2~-y"},
                       {">a W <-x", "?1late 1~-xlate"},
                       {"<-x >a <+y", "+-x 1=+y"},
                   });
}

TEST_CASE("recognizes a damaged reply to a numbered message by the number") {
    ContentMatcher::Options options;
    options.numbered = true;
    check(options, {
                       {">1abc >2abc >3abc <2abX <1abc <3abc", "2~2abX 1=1abcorder 3=3abc"},
                       {">1abc >2abc W <1abX", "?1late 1~1abXlate"},
                       {">1abc >2abc <1abc <1abc <2abc", "1=1abc 2x1abc 2=2abc"},
                       {">1abc >2abc <9abc <1abc", "1~9abc 2x1abc"},
                       // Numbers with gaps.
                       {">5abc >9abc >12abc <9abX <12abc <5abc", "2~9abX 3=12abc 1=5abcorder"},
                       {">5abc >9abc W <9abc <5abc <5abc <9abc",
                        "?1late 2=9abc 1=5abclateorder 2x5abc 2x9abc"},
                       {">1abA >2acB <xabA", "1~xabA"},
                       // Unsolicited: no message has this length.
                       {">1abc >2abc <hello <1abc <2abc", "+hello 1=1abc 2=2abc"},
                       {">1abA >2acB <2 <1abA", "+2 1=1abA"},  // truncated
                   });
}

TEST_CASE("expects a given reply instead of the datagram") {
    ContentMatcher::Options options;
    options.expect = Expect::given;
    options.expected_unsolicited = [](std::string_view payload) {
        return payload.starts_with('+');
    };
    check(options, {
                       {">a:1 <1", "1=1"},
                       {">a:OK >b:1 <1 <OK", "2=1 1=OKorder"},
                       {">a:OK <OK <OK", "1=OK 2xOK"},
                       {">a:1 <2", "1~2"},
                       {">a:1 <+x <1", "++x 1=1"},
                       {">a W <x", "?1late +x"},
                       {">a <x", "+x"},
                       {">a:1 W <1", "?1late 1=1late"},
                       {">a:1 >b:2 E", "?1 ?2"},
                       {">a:1 <1 >b:2 <1 <2", "1=1 2x1 2=2"},
                       {">a:OK >b:OK <OK <OK <OK", "1=OK 2=OK 2xOK"},
                       {">a:1 >b:22 <X2", "2~X2"},
                       {">a:1 >b:22 <333", "+333"},
                   });
}

TEST_CASE("the masked parts of given datagrams are equal whatever they are") {
    const Expression mask("[0-9]+");
    ContentMatcher::Options options;
    options.expect = Expect::given;
    options.pattern = &mask;
    check(options, {
                       {">a:t1 >b:u1 <u22 <t33", "2=u22 1=t33order"},
                       {">a:t1 <t2 <t3", "1=t2 2xt3"},
                       {">a:t1 W <t2", "?1late 1=t2late"},
                       {">a:t1 <x2", "1~x2"},
                       {">a:t1 <t", "+t"},
                   });
}

TEST_CASE("gives any reply to the oldest message in flight if any is expected") {
    ContentMatcher::Options options;
    options.expect = Expect::any;
    Log log(options);
    log.send("a");
    log.send("b");
    const auto first = log.matcher.match("x", start + 5ms, log.matcher.last_id());
    const auto& answered = first;
    CHECK(answered.message.id == 1);
    CHECK(answered.reply.right);
    CHECK((answered.reply.round_trip == 5ms));
}

TEST_CASE("keeps nothing in flight if no reply is expected, and reports all as unsolicited") {
    ContentMatcher::Options options;
    options.expect = Expect::none;
    Log log(options);
    CHECK(log.play(">a <a") == "+a");
    CHECK(log.matcher.in_flight() == 0);
    CHECK(log.matcher.last_id() == 1);
}

TEST_CASE("times messages from when the system accepts them") {
    ContentMatcher matcher({});
    matcher.queue("a", {}, {});
    matcher.reserve_id();
    matcher.queue("b", start - 1ms, {});
    CHECK(matcher.in_flight() == 2);
    CHECK(matcher.in_flight_bytes() == 2);
    CHECK(matcher.flush(start) == std::string_view("\0\1a\0\1b", 6));
    CHECK(matcher.flushed());
    CHECK(matcher.oldest_sent_at() == start);
    matcher.record_written(5, start + 1ms);  // all of the first frame, a part of the second
    CHECK(matcher.oldest_sent_at() == start + 1ms);
    matcher.record_written(6, start + 3ms);
    auto event = matcher.match("b", start + 10ms, matcher.last_id());
    const auto& b = event;
    CHECK(b.message.id == 3);
    CHECK((b.message.planned == start - 1ms));
    CHECK((b.reply.round_trip == 7ms));
    matcher.void_round_trips();
    event = matcher.match("a", start + 10ms, matcher.last_id());
    CHECK_FALSE(event.reply.round_trip);
    CHECK(matcher.in_flight() == 0);
}

TEST_CASE("counts an overdue message that is not written yet as the first to be written") {
    ContentMatcher matcher({});
    matcher.queue("a", {}, {});
    matcher.queue("b", {}, {});
    matcher.mark_oldest_late();
    while (matcher.next_resolved()) continue;
    matcher.flush(start);
    matcher.record_written(3, start + 1ms);
    matcher.record_written(6, start + 3ms);
    const auto event = matcher.match("b", start + 10ms, matcher.last_id());
    CHECK((event.reply.round_trip == 7ms));
}

TEST_CASE("cuts replies at their lengths, however they arrive") {
    const std::string all("\0\1a\0\0\0\2bc", 9);
    for (std::size_t cut = 0; cut <= all.size(); ++cut) {
        ContentMatcher matcher({});
        for (const char* each : {"a", "", "bc"}) matcher.queue(each, {}, {});
        std::string log;
        std::size_t used = 0;
        for (const std::size_t end : {cut, all.size()}) {
            std::string_view received = std::string_view(all).substr(used, end - used);
            while (const auto event = matcher.next(received, start))
                log += std::to_string(event->message.id);
            used = end - received.size();
        }
        CHECK(log == "123");
        CHECK(used == all.size());
    }
}

TEST_CASE("allocates nothing after enough messages") {
    ContentMatcher::Options options;
    options.max_remembered = 100;
    ContentMatcher matcher(options);
    std::string payload(64, 'x');
    const auto exchange = [&](int i) {
        payload[static_cast<std::size_t>(i) % 64] ^= 1;
        matcher.queue(payload, {}, {});
        matcher.flush(start);
        matcher.record_written(static_cast<std::uint64_t>(i) * (payload.size() + 2), start);
        return matcher.match(payload, start, matcher.last_id()).fate == Fate::echoed;
    };
    int i = 0;
    while (i < 200) exchange(++i);
    test::allocations.count = 0;
    while (i < 400) REQUIRE(exchange(++i));
    CHECK(test::allocations.count == 0);
}

TEST_CASE("bounds the memory for answered and late messages") {
    const struct {
        const char* script;
        const char* log;
        std::size_t late_bytes = 1000;
    } rows[] = {
        {">a <a >b <b <a <b", "1=a 2=b 2xa 2xb"},
        {">a <a >b <b >c <c <a <b <c", "1=a 2=b 3=c +a 2xb 2xc"},
        {">a <a >b <b >c <c >d <d >e <e <c <d <e", "1=a 2=b 3=c 4=d 5=e +c 2xd 2xe"},
        {">a >b W W <a <b", "?1late ?2late 1=alate 2=blate"},
        {">a >b >c W W W <a <b <c", "?1late ?2late ?3late +a 2=blate 3=clate"},
        {">aa >bb W W <aa <bb", "?1late ?2late 1=aalate 2=bblate", 4},
        {">aa >bb W W <aa <bb", "?1late ?2late +aa 2=bblate", 3},
        {">aa >bb W W <aa >cc W <bb <cc", "?1late ?2late 1=aalate ?3late 2=bblate 3=cclate", 4},
        {">aa >bb >c W W W <aa <bb <c", "?1late ?2late ?3late +aa 2=bblate 3=clate", 4},
    };
    for (const auto& [script, log, late_bytes] : rows) {
        CAPTURE(script);
        ContentMatcher::Options options;
        options.max_remembered = 2;
        options.max_late_bytes = late_bytes;
        Log played(options);
        CHECK(played.play(script) == log);
        CHECK(played.matcher.in_flight_bytes() == 0);
    }
}

TEST_CASE("reports a reply to a forgotten message as unsolicited, and never as bad") {
    ContentMatcher::Options options;
    options.numbered = GENERATE(true, false);
    options.max_remembered = 2;
    Log log(options);
    log.play(">11 >12 >13 W W W >14 >15");
    log.text.clear();
    CHECK(log.play("<11 <12 <13 <14") == "+11 2=12late 3=13late 4=14");
    log.text.clear();
    CHECK(log.play("<1X <XX <15") == (options.numbered ? "+1X 5~XX 2x15" : "+1X +XX 5=15"));
    log.text.clear();
    CHECK(log.play("E >16 <1X") == "6~1X");  // the new connection has forgotten no message
}
