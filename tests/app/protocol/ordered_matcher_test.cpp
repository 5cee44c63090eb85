// Matches replies in order, as a table. A script is a list of words:
//
//     >TEXT  a message is sent          <TEXT  bytes arrive; a comma is the delimiter
//     !      the oldest message is late ?      the first reply is no greeting
//     .      the unmatched replies are resolved, as when a reply is overdue
//     ~      the connection ends: all messages are lost
//
// With Expect::given, >TEXT=REPLY gives the expected reply, and >TEXT expects none. A reply
// that begins with + is expected to come unsolicited.

#include "app/protocol/ordered_matcher.hpp"

#include "tests/support/catch.hpp"

#include <random>

using namespace yodel;

namespace {

std::string description(const Event& event) {
    const Reply& reply = event.reply;
    if (event.fate == Fate::read) return {};
    if (event.fate == Fate::lost) return "lost " + std::string(event.message.payload) + ";";
    if (event.fate == Fate::stale) return "stale " + std::string(reply.payload) + ";";
    if (!has_message(event.fate))
        return std::string(word_of(event.fate)) + " " + std::string(reply.payload) + ";";
    if (!event.frames.empty()) {
        std::string all;
        std::istringstream lines{std::string(event.frames)};
        for (std::string line; std::getline(lines, line);)
            all += "right " + line + "=" + line + ";";
        return all;
    }
    const std::string late = event.message.late ? "late " : "";
    const std::string verdict = reply.right ? "right "
                                : reply.difference
                                    ? "bad@" + std::to_string(*reply.difference) + " "
                                    : "unmatched ";
    return late + verdict + std::string(event.message.payload) + "=" +
           std::string(reply.payload) + ";";
}

// A matcher and the bytes that it has not consumed yet.
class Scene {
public:
    explicit Scene(const OrderedMatcher::Options& options)
        : matcher(options),
          delimiter(options.framing->delimiter),
          given(options.expect == Expect::given) {}

    void send(const std::string& text) {
        const std::size_t end = text.find('=');
        if (!given || end == text.npos)
            matcher.queue(text, {}, {});
        else
            matcher.queue(text.substr(0, end), {}, text.substr(end + 1));
        const auto bytes = matcher.flush(ev::Time{} + std::chrono::seconds(1));
        written_ += bytes.size();
        matcher.record_written(written_, ev::Time{} + std::chrono::seconds(1));
    }
    void receive(const std::string& bytes) {
        input_ += bytes;
        std::string_view rest = input_;
        while (const auto event = matcher.next(rest, ev::Time{} + std::chrono::seconds(2))) {
            log += description(*event);
            if (!log.empty() && on_event) std::exchange(on_event, nullptr)();
        }
        if (matcher.refusal()) log += "refused " + matcher.refusal().text("the server") + ";";
        input_.erase(0, input_.size() - rest.size());
    }
    void drain() {
        while (const auto event = matcher.next_resolved()) {
            log += description(*event);
            overdue += event->fate == Fate::lost && event->message.late ? 1 : 0;
        }
    }
    void perform(const std::string& word) {
        std::string text = word.substr(1);
        for (std::size_t at = 0; (at = text.find(',', at)) != std::string::npos; ++at)
            text.replace(at, 1, delimiter);
        switch (word[0]) {
        case '>': return send(text);
        case '<': return receive(text);
        case '!': matcher.mark_oldest_late(); break;
        case '?': matcher.rule_out_greeting(); break;
        case '.': matcher.resolve_unmatched(); break;
        case '~': matcher.lose(false); break;
        }
        drain();
        CHECK(std::exchange(overdue, 0) == (word[0] == '!' ? 1 : 0));
    }

    OrderedMatcher matcher;
    std::string delimiter;
    std::string log;
    std::function<void()> on_event;  // called after the first logged event
    bool given = false;
    int overdue = 0;  // messages that were reported as late

private:
    std::string input_;
    std::uint64_t written_ = 0;
};

struct Case {
    const char* name;
    const char* script;
    const char* events;
    const char* framing = "line";
    Expect expect = Expect::echo;
    const char* pattern = nullptr;
};

const Case cases[] = {
    {"an echo is right", ">a <a,", "right a=a;"},
    {"echoes answer in order", ">a >b <a,b,", "right a=a;right b=b;"},
    {"a corrupted reply is bad at its first byte that differs", ">a >hello <a,he11o,",
     "right a=a;bad@2 hello=he11o;"},
    {"a reply that is too short or too long is bad at its end",
     ">a >hello >world <a,hell,world!,", "right a=a;bad@4 hello=hell;bad@5 world=world!;"},
    {"a dropped message is lost once a later one is answered", ">a >b >c <c,",
     "lost a;lost b;right c=c;"},
    {"an echo after a bad reply is no duplicate", ">z <z, >a <X,a,",
     "right z=z;bad@0 a=X;stale a;"},
    {"a reply before any message is unsolicited", "<hi, >a <a,", "unsolicited hi;right a=a;"},
    {"a reply that comes again is a duplicate", ">a >b <a,a,b,",
     "right a=a;duplicate a;right b=b;"},
    {"a bad reply among right replies answers the message between them", ">a >b >c <a,X,c,",
     "right a=a;bad@0 b=X;right c=c;"},
    {"a reply before the first echo is unsolicited, and stale after it",
     ">a >b <X,a,b,Y, >c <Z,c,",
     "unsolicited X;right a=a;right b=b;stale Y;bad@0 c=Z;stale c;"},
    {"bad replies for all messages wait for nothing more", ">a >b >c <a,X,Y,",
     "right a=a;bad@0 b=X;bad@0 c=Y;"},
    {"more bad replies than messages begin with an unsolicited one", ">a >b >c <a,X,b,Y,Z,",
     "right a=a;stale X;right b=b;bad@0 c=Y;stale Z;"},
    {"the end of the connection resolves the unmatched replies", ">a >b <X, ~",
     "bad@0 a=X;lost b;"},
    {"events keep the order of arrival if a reply is duplicated", ">a >b >c <a,X,a,c,",
     "right a=a;bad@0 b=X;duplicate a;right c=c;"},

    {"a greeting that crosses a message is unsolicited", ">a <hello,a,",
     "unsolicited hello;right a=a;"},
    {"a greeting of several lines is unsolicited", ">a <hello,world,a,",
     "unsolicited hello;bad@0 a=world;unsolicited a;"},
    {"a greeting and a bad reply are distinguished by their number", ">a <hello,X,",
     "unsolicited hello;bad@0 a=X;"},
    {"the only reply is no greeting in the end", ">a <X, ?", "bad@0 a=X;"},
    {"after the first echo a bad reply waits for nothing", ">a <a, >b <X,",
     "right a=a;bad@0 b=X;"},

    {"a late echo is right and late", ">a ! <a,", "lost a;late right a=a;"},
    {"a late bad reply answers the late message", ">a ! >b <X,b,",
     "lost a;late bad@0 a=X;right b=b;"},
    {"a late bad reply leaves messages in flight alone", ">a ! >b >c <X,b,c,",
     "lost a;late bad@0 a=X;right b=b;right c=c;"},
    {"an overdue bad reply answers the late message", ">a ! >b <X, . ! <b,",
     "lost a;late bad@0 a=X;lost b;late right b=b;"},
    {"a bad reply while only late messages wait leaves the younger messages to later replies",
     ">a ! >b ! >c ! <X,b, <Y,",
     "lost a;lost b;lost c;late bad@0 a=X;late right b=b;"
     "late bad@0 c=Y;"},
    {"more bad replies than late messages begin with an unsolicited one",
     ">a <a, >b ! >c ! >d <X,Y,Z,W, .",
     "right a=a;lost b;lost c;stale X;late bad@0 b=Y;late bad@0 c=Z;bad@0 d=W;"},
    {"an overdue bad reply leaves the younger late messages to later replies",
     ">a ! >b ! >c <X, . <b,c,", "lost a;lost b;late bad@0 a=X;late right b=b;right c=c;"},
    {"a corrupted reply does not answer a dropped message", ">a ! >b >c <X,c,",
     "lost a;bad@0 b=X;right c=c;"},
    {"a reply answers no message that was sent after it came",
     ">a ! >b ! >c <X,Y, >d >e >f <e,",
     "lost a;lost b;late bad@0 b=X;bad@0 c=Y;lost d;right e=e;"},
    {"a message that is late and then skipped stays lost", ">a ! >b <b,", "lost a;right b=b;"},

    {"a first reply that differs may be a greeting", ">abc <x <y,abc,",
     "unsolicited xy;right abc=abc;"},
    {"a duplicate and a later echo, each in two pieces", ">abc <abc, >bcd >bce <abc <, <bce <,",
     "right abc=abc;duplicate abc;lost bcd;right bce=bce;"},
    {"with any, no reply differs", ">a <xy <z,", "right a=xyz;", "line", Expect::any},

    {"with any, the next reply answers", ">a <x, >b <y,", "right a=x;right b=y;", "line",
     Expect::any},
    {"with any, a late message does not take the reply of the next", ">a ! >b <y, >c <z,",
     "lost a;right b=y;right c=z;", "line", Expect::any},
    {"with any, a late reply finds its message while no other waits", ">a ! <x,",
     "lost a;late right a=x;", "line", Expect::any},
    {"with a pattern, a reply that does not match is bad", ">a >b >c <+x,-y,+z,",
     "right a=+x;unmatched b=-y;right c=+z;", "line", Expect::any, "^[+]"},
    {"with a pattern, a late reply is judged too", ">a ! <-x, >b ! <+y,",
     "lost a;late unmatched a=-x;lost b;late right b=+y;", "line", Expect::any, "^[+]"},
    {"with a pattern, a reply before any message is unsolicited", "<-hi, >a <+a,",
     "unsolicited -hi;right a=+a;", "line", Expect::any, "^[+]"},
    {"with none, all is unsolicited", ">a <a,", "unsolicited a;", "line", Expect::none},

    {"raw bytes are matched by their place", ">hello >world <hellowor <Xd!",
     "right hello=hello;bad@3 world=worXd;stale !;", "raw"},
    {"bad raw bytes are reported when the reply is whole", ">hello <hX <ll <o",
     "bad@1 hello=hXllo;", "raw"},
    {"raw with any reports all bytes", ">hello <hi", "right hello=hi;", "raw", Expect::any},
    {"caret replies are the message plus one", ">abc >xyz <*bcd <yz{",
     "right abc=bcd;right xyz=yz{;", "caret"},
    {"caret with any reports all bytes", ">abc <*xyz", "right abc=xyz;", "caret", Expect::any},
    {"the greeting of smtp answers nothing", ">QUIT <220,221,",
     "unsolicited 220;right QUIT=221;", "smtp", Expect::any},
    {"a push of resp answers nothing", ">a >b <:1,>1,:2,:3,",
     "right a=:1;unsolicited >1\r\n:2;right b=:3;", "resp", Expect::any},
    {"caret needs its greeting", ">abc <bcd",
     "refused the server did not send the greeting * of -f caret;", "caret"},
};

std::string run(const Case& each, bool coalesce) {
    OrderedMatcher::Options options;
    options.framing = find_framing(each.framing);
    options.expect = each.expect;
    std::optional<Expression> pattern;
    if (each.pattern) options.pattern = &pattern.emplace(each.pattern);
    options.coalesce = coalesce;
    Scene scene(options);
    std::istringstream script{each.script};
    for (std::string word; script >> word;) scene.perform(word);
    return scene.log;
}

struct Row {
    const char* script;
    const char* events;
};

void check(const OrderedMatcher::Options& options, const std::vector<Row>& rows) {
    for (const auto& [script, events] : rows) {
        CAPTURE(script);
        Scene scene(options);
        std::istringstream words(script);
        for (std::string word; words >> word;) scene.perform(word);
        CHECK(scene.log == events);
    }
}

}  // namespace

TEST_CASE("matches each reply as the table defines") {
    const std::size_t i = GENERATE(range(std::size_t{0}, std::size(cases)));
    const bool coalesce = GENERATE(false, true);
    CAPTURE(cases[i].name, cases[i].script, coalesce);
    CHECK(run(cases[i], coalesce) == cases[i].events);
}

TEST_CASE("lets no bytes answer a message that was queued after they were read") {
    const auto [framing, expect, bytes, log] =
        GENERATE(table<const char*, Expect, std::string, std::string>({
            {"line", Expect::echo, "a\nb\n", "right a=a;stale b;"},
            {"line", Expect::echo, "a\nbX\n", "right a=a;stale bX;"},
            {"line", Expect::any, "x\ny\n", "right a=x;unsolicited y;"},
            {"raw", Expect::echo, "ab", "right a=a;stale b;"},
        }));
    OrderedMatcher::Options options;
    options.framing = find_framing(framing);
    options.expect = expect;
    Scene scene(options);
    scene.send("a");
    scene.on_event = [&] { scene.send("b"); };
    scene.receive(bytes);
    CHECK(scene.log == log);
    scene.receive("b\n");
    CHECK(scene.log.starts_with(log + "right b=b;"));
}

TEST_CASE("matches replies the same however the bytes are cut") {
    const std::string answer = "a\nX\nc\nc\nd\n";
    const std::string events = "right a=a;bad@0 b=X;right c=c;duplicate c;right d=d;";
    const std::size_t cut = GENERATE_COPY(range(std::size_t{0}, answer.size() + 1));
    Scene scene({});
    for (const char* text : {"a", "b", "c", "d"}) scene.send(text);
    scene.receive(answer.substr(0, cut));
    scene.receive(answer.substr(cut));
    scene.matcher.lose(false);
    scene.drain();
    CHECK(scene.log == events);
}

namespace {

// Logs the events of a server that garbles, drops and duplicates its echoes.
class Garbler {
public:
    explicit Garbler(unsigned seed) : random_(seed) {
        for (int i = 0; i < 40; ++i) sent_.push_back(word());
        for (const std::string& line : sent_) switch (below(8)) {
            case 0: answer_ += word() + "\n"; break;
            case 1: break;
            case 2: answer_ += line + "\n"; [[fallthrough]];
            default: answer_ += line + "\n";
            }
    }

    std::string reported(bool coalesce) const {
        std::mt19937 random = random_;  // a copy, so that each call draws the same numbers
        OrderedMatcher::Options options;
        options.coalesce = coalesce;
        Scene scene(options);
        for (std::size_t at = 0; at < sent_.size();) {
            std::string group = sent_[at];
            ++at;
            for (; at < sent_.size() && random() % 4 != 0; ++at) group += "\n" + sent_[at];
            scene.send(group);
        }
        for (std::string_view rest = answer_; !rest.empty();) {
            const std::size_t count = std::min<std::size_t>(rest.size(), 1 + random() % 9);
            scene.receive(std::string(rest.substr(0, count)));
            rest.remove_prefix(count);
        }
        scene.matcher.lose(false);
        scene.drain();
        CHECK(scene.matcher.messages().count() == 0);
        return scene.log;
    }

private:
    unsigned below(unsigned count) { return static_cast<unsigned>(random_() % count); }
    // Uses few letters, so that many messages are equal.
    std::string word() {
        std::string text;
        for (unsigned left = below(3); left > 0; --left)
            text += static_cast<char>('a' + static_cast<char>(below(2)));
        return text;
    }

    std::mt19937 random_;
    std::vector<std::string> sent_;
    std::string answer_;
};

}  // namespace

TEST_CASE("answers messages the same whether coalesced or not") {
    const unsigned seed = GENERATE(range(0U, 300U));
    const Garbler garbler(seed);
    CHECK(garbler.reported(true) == garbler.reported(false));
}

namespace {

struct Counts {
    int right = 0, bad = 0, lost = 0;
};

// Plays a service that answers in order. It echoes most messages, and garbles or drops the
// others. Sometimes the reply timeout of all unanswered messages passes before it answers.
Counts run_with_timeouts(unsigned seed, Counts& expected) {
    std::mt19937 random(seed);
    Scene scene({});
    std::vector<std::string> unanswered;
    const auto answer = [&] {
        for (const std::string& line : unanswered) {
            const unsigned fate = static_cast<unsigned>(random() % 8);
            if (fate > 1) scene.perform("<" + line + ",");
            if (fate == 1) scene.perform("<#" + line + ",");
            ++(fate > 1 ? expected.right : fate == 1 ? expected.bad : expected.lost);
        }
        unanswered.clear();
    };
    scene.perform(">first");
    scene.perform("<first,");
    for (int i = 0; i < 100; ++i) {
        unanswered.push_back("message-" + std::to_string(i));
        scene.perform(">" + unanswered.back());
        if (random() % 4 == 0) scene.perform(".");
        if (random() % 3 == 0)
            while (scene.matcher.messages().in_flight() > 0) scene.perform("!");
        if (random() % 4 == 0) answer();
    }
    answer();
    scene.perform("~");
    const auto count = [&](const std::string& word) {
        int found = 0;
        for (std::size_t at = scene.log.find(word); at != std::string::npos;
             at = scene.log.find(word, at + 1))
            ++found;
        return found;
    };
    return {count("right ") - 1, count("bad@"), count("lost ") - count("late ")};
}

}  // namespace

TEST_CASE("a late reply does not change the verdict on the others") {
    Counts expected;
    const Counts found = run_with_timeouts(GENERATE(range(0U, 200U)), expected);
    CHECK(found.right == expected.right);
    CHECK(found.bad == expected.bad);
    CHECK(found.lost == expected.lost);
}

TEST_CASE("a reply to a message that was forgotten is not compared with others") {
    OrderedMatcher::Options options;
    options.framing = find_framing(GENERATE("line", "len4"));
    options.expect = GENERATE(Expect::echo, Expect::given);
    const bool given = options.expect == Expect::given;
    Scene scene(options);
    const auto message = [](int i) { return std::to_string(i) + std::string(400'000, 'x'); };
    const auto send = [&](const std::string& text) {
        scene.send(given ? text + "=" + text : text);
    };
    const auto answer = [&](const std::string& text) {
        std::string frame;
        encode(*options.framing, text, frame);
        scene.receive(frame);
        return std::exchange(scene.log, "").substr(0, 12);
    };
    send("first");
    CHECK(answer("first") == "right first=");
    for (int i = 0; i < 6; ++i) send(message(i));
    for (int i = 0; i < 6; ++i) scene.perform("!");
    scene.log.clear();
    send("next");
    for (int i = 0; i < 4; ++i) CHECK(answer(message(i)) == "unsolicited ");
    for (int i = 4; i < 6; ++i) CHECK(answer(message(i)) == "late right " + std::to_string(i));
    CHECK(answer("nexT") == "bad@3 next=n");
    send("last");
    CHECK(answer("last") == "right last=l");
    CHECK(answer("last") == "unsolicited ");
}

TEST_CASE("expects a given reply instead of the message") {
    OrderedMatcher::Options options;
    options.expect = Expect::given;
    options.expected_unsolicited = [](std::string_view payload) {
        return payload.starts_with('+');
    };
    check(options, {
                       {">set=OK >get=1 <OK,1,", "right set=OK;right get=1;"},
                       {">a=OK >b=OK <OK,OK,", "right a=OK;right b=OK;"},
                       {">a=OK >get=1 <OK,2,", "right a=OK;bad@0 get=2;"},
                       // The second OK is no duplicate.
                       {">a=OK >get=1 <OK,OK,", "right a=OK;bad@0 get=OK;"},
                       {">a= >b=x <,x,", "right a=;right b=x;"},
                       {">a=OK >b=1 >c=OK >d=2 <OK,9,OK,2,",
                        "right a=OK;bad@0 b=9;right c=OK;right d=2;"},
                       {">a=1 >b=2 <2,", "lost a;right b=2;"},
                       {">a=1 <hi,1,", "unsolicited hi;right a=1;"},
                       {">a=1 <+tick,1,", "unsolicited +tick;right a=1;"},
                       {">a=1 <1, >b=2 <+tick, <3, <x,",
                        "right a=1;unsolicited +tick;bad@0 b=3;unsolicited x;"},
                       // The first +x is not the reply to c.
                       {">a=1 <1, >b=2 >c=+x <+x, <2,+x,",
                        "right a=1;unsolicited +x;right b=2;right c=+x;"},
                       {">a=1 <1, >b >c=3 <3,", "right a=1;lost b;right c=3;"},
                       {">a=1 <1, >b <9,", "right a=1;bad@0 b=9;"},
                       {">a=1 <1, >b <,", "right a=1;bad@0 b=;"},
                       {">a=1 <1, >b ! <+tick,", "right a=1;lost b;unsolicited +tick;"},
                       {">a=1 >b=2 ~", "lost a;lost b;"},
                   });
}

TEST_CASE("the masked parts of given replies are equal whatever they are") {
    const Expression mask("[0-9]+");
    OrderedMatcher::Options options;
    options.expect = Expect::given;
    options.pattern = &mask;
    check(options,
          {
              {">a=t12 >b=t7ok <t3,t456ok, ~", "right a=t3;right b=t456ok;"},
              {">a=t12 <t12, ~", "right a=t12;"},
              {">a=t12 <t, ~", "bad@1 a=t;"},  // a part that matches nothing is not masked
              {">a=t12 <x12, ~", "bad@0 a=x12;"},
              {">a=t12ok <t3456no, ~", "bad@5 a=t3456no;"},  // offset in the reply
              {">a=1-2-3 <456-7-x, ~", "bad@6 a=456-7-x;"},
              {">a=t1 >b=u1 >c=v1 <u5,v6, ~", "lost a;right b=u5;right c=v6;"},
              {">a=t1 >b=t2 <t8,t9, ~", "right a=t8;right b=t9;"},
              {">a=t1 ! <t2, ~", "lost a;late right a=t2;"},
              {">a=t1 <hi,t2, ~", "unsolicited hi;right a=t2;"},
          });
}

TEST_CASE("takes given replies without frames in their given length") {
    OrderedMatcher::Options options;
    options.expect = Expect::given;
    options.framing = find_framing("caret");
    check(options, {
                       {">abc=bcd <*bc <d", "right abc=bcd;"},
                       {">abc=bcd >x=y <*bcdy", "right abc=bcd;right x=y;"},
                       {">abc=xy >x=y <*x <yy", "right abc=xy;right x=y;"},
                       {">abc=bcd <*bXd", "bad@1 abc=bXd;"},
                       {">abc >x=y <*y", "lost abc;right x=y;"},
                       {">abc ! >x=y <*y", "lost abc;right x=y;"},
                   });
}

TEST_CASE("accepts several messages in a row that expect no reply") {
    OrderedMatcher::Options options;
    options.framing = find_framing("raw");
    options.expect = Expect::given;
    check(options,
          {{">a=x ! >b ! >c <x <y", "lost a;lost b;late right a=x;lost c;unsolicited y;"}});
}

TEST_CASE("measures no round trip for a reply that came before its message was written whole") {
    const auto second = [](int count) { return ev::Time{} + std::chrono::seconds(count); };
    OrderedMatcher matcher{OrderedMatcher::Options()};
    matcher.queue("a", {}, {});
    matcher.flush(second(1));
    std::string_view received = "X\n";
    CHECK_FALSE(matcher.next(received, second(2)));
    matcher.record_written(2, second(3));
    matcher.rule_out_greeting();
    const auto event = matcher.next_resolved();
    REQUIRE(event);
    CHECK_FALSE(event->reply.round_trip);
}

TEST_CASE("resolves unmatched replies once they take more memory than allowed") {
    OrderedMatcher::Options options;
    options.unmatched_bytes = 1000;
    Scene scene(options);
    for (int i = 0; i < 100; ++i) scene.send("message " + std::to_string(i));
    scene.receive("message 0\n");
    scene.log.clear();
    for (int i = 1; i < 50; ++i) scene.receive("bad\n");
    CHECK(scene.log.starts_with("bad@0 message 1=bad;bad@0 message 2=bad;"));
}

TEST_CASE("takes linear time for a great many bad replies") {
    Scene scene({});
    const int count = 40'000;
    for (int i = 0; i < count; ++i) scene.send("message " + std::to_string(i));
    std::string replies;
    for (int i = 0; i < count; ++i) replies += "bad " + std::to_string(i) + "\n";
    scene.receive(replies);
    scene.matcher.lose(false);
    scene.drain();
    CHECK(scene.matcher.messages().count() == 0);
    CHECK(std::count(scene.log.begin(), scene.log.end(), '@') == count);
}
