// Matches replies in streams and in datagrams, as tables. A script is a list of words:
//
//     >TEXT  a message is sent           <TEXT  bytes arrive; a comma is the delimiter
//     !      the oldest message is late  ?      the first reply is no greeting
//     .      the held replies are settled, as when a reply is overdue
//     ~      the connection ends: all messages are lost
//     ^      another connection begins
//
// With Expect::given, >TEXT=REPLY gives the expected reply, and >TEXT expects none. A reply
// that begins with + is expected to arrive unsolicited. With datagrams, a comma ends a
// datagram.
//
// Events are written with ids: "1=a" is a right reply, "1~b@0" a bad one that differs at byte
// 0,
// "!1" a late message, "?1" another loss, "2xa" a duplicate, "+a" an unsolicited reply, "*a" a
// stale one. "late" or "order" follows if the reply is late or reordered.

#include "app/protocol/ledger.hpp"

#include "tests/support/allocations.hpp"
#include "tests/support/catch.hpp"

#include <random>

using namespace std::chrono_literals;
using namespace yodel;

namespace {

// Returns the text of an event, or of each message of a batch, after a space.
std::string text_of(const Event& event, const Framing& framing) {
    const std::string reply(event.reply.payload);
    std::uint64_t id = event.message.id;
    const auto with_id = [&](const char* sign) { return sign + std::to_string(id); };
    if (event.fate == Fate::read) return {};
    if (event.fate == Fate::lost) return with_id(event.message.is_late ? " !" : " ?");
    if (event.fate == Fate::stale) return " *" + reply;
    if (!has_message(event.fate)) return (event.fate == Fate::duplicate ? " 2x" : " +") + reply;
    std::string text;
    if (event.count > 1) {
        for_each_piece(framing, event.message.payload, [&](std::string_view piece) {
            text += with_id(" ") + "=" + std::string(piece);
            ++id;
        });
        CHECK(id == event.message.id + event.count);
        return text;
    }
    text = with_id(" ") + (event.reply.is_right ? "=" : "~") + reply;
    if (event.reply.difference) text += "@" + std::to_string(*event.reply.difference);
    return text + (event.message.is_late ? "late" : "") +
           (event.reply.is_reordered ? "order" : "");
}

constexpr ev::Time start{1s};
const Framing& packets = *datagram_framing();

SessionOptions with_datagrams(SessionOptions options = {}) {
    options.framing = &packets;
    return options;
}

// A ledger and the bytes that it has not consumed yet.
class Scene {
public:
    explicit Scene(const SessionOptions& all = {}, LedgerLimits limits = {})
        : options(all), ledger(options, limits) {}

    QueuedIds send(const std::string& text) {
        const std::size_t end = text.find('=');
        const bool given = options.expect == Expect::given && end != text.npos;
        const QueuedIds ids = given
                                  ? ledger.queue(text.substr(0, end), {}, text.substr(end + 1))
                                  : ledger.queue(text);
        written_ += ledger.flush(start).size();
        ledger.record_written(written_, start);
        return ids;
    }
    void receive(const std::string& bytes) {
        input_ += bytes;
        std::string_view rest = input_;
        while (const auto event = ledger.next(rest, start + 1s)) {
            add(*event);
            if (!log.empty() && on_event) std::exchange(on_event, nullptr)();
        }
        if (ledger.refusal()) log += "refused " + ledger.refusal().text("the server");
        input_.erase(0, input_.size() - rest.size());
    }
    void receive_all(const std::string& text) {
        std::string bytes;
        if (options.framing->uses_datagrams) {
            std::istringstream parts(text);
            for (std::string part; std::getline(parts, part, ',');)
                encode(packets, part, bytes);
        } else {
            for (const char byte : text)
                bytes += byte == ',' ? std::string(options.framing->delimiter)
                                     : std::string(1, byte);
        }
        for (; arrives_in_bytes && !bytes.empty(); bytes.erase(0, 1))
            receive(bytes.substr(0, 1));
        if (!bytes.empty()) receive(bytes);
        if (options.framing->uses_datagrams) CHECK(input_.empty());
    }
    void add(const Event& event) {
        const std::string text = text_of(event, *options.framing);
        log += text.substr(log.empty() && !text.empty() ? 1 : 0);
    }
    void drain() {
        while (const auto event = ledger.next_resolved()) add(*event);
    }
    void perform(const std::string& word) {
        const std::string text = word.substr(1);
        switch (word[0]) {
        case '>': send(text); return;
        case '<': return receive_all(text);
        case '!': {
            const Event event = ledger.expire_oldest();
            CHECK(event.message.is_late == (event.fate == Fate::lost));
            add(event);
            break;
        }
        case '?': ledger.rule_out_greeting(); break;
        case '.': ledger.resolve_held(); break;
        case '~': ledger.lose(false); break;
        case '^':
            ledger.restart();
            written_ = 0;
            break;
        }
        drain();
    }
    const std::string& perform_all(const std::string& script) {
        std::istringstream words(script);
        for (std::string word; words >> word;) perform(word);
        return log;
    }

    const SessionOptions options;
    Ledger ledger;
    std::string log;
    std::function<void()> on_event;  // called after the first logged event
    bool arrives_in_bytes = false;   // each byte is read alone

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
    {"an echo is right", ">a <a,", "1=a"},
    {"echoes answer in order", ">a >b <a,b,", "1=a 2=b"},
    {"a corrupted reply is bad at its first byte that differs", ">a >hello <a,he11o,",
     "1=a 2~he11o@2"},
    {"a reply that is too short or too long is bad at its end",
     ">a >hello >world <a,hell,world!,", "1=a 2~hell@4 3~world!@5"},
    {"a dropped message is lost once a later one is answered", ">a >b >c <c,", "?1 ?2 3=c"},
    {"an echo after a bad reply is no duplicate", ">z <z, >a <X,a,", "1=z 2~X@0 *a"},
    {"a reply before any message is unsolicited", "<hi, >a <a,", "+hi 1=a"},
    {"a reply that arrives again is a duplicate", ">a >b <a,a,b,", "1=a 2xa 2=b"},
    {"a bad reply among right replies answers the message between them", ">a >b >c <a,X,c,",
     "1=a 2~X@0 3=c"},
    {"a reply before the first echo is unsolicited, and stale after it",
     ">a >b <X,a,b,Y, >c <Z,c,", "+X 1=a 2=b *Y 3~Z@0 *c"},
    {"bad replies for all messages wait for nothing more", ">a >b >c <a,X,Y,",
     "1=a 2~X@0 3~Y@0"},
    {"more bad replies than messages begin with an unsolicited one", ">a >b >c <a,X,b,Y,Z,",
     "1=a *X 2=b 3~Y@0 *Z"},
    {"the end of the connection resolves the unmatched replies", ">a >b <X, ~", "1~X@0 ?2"},
    {"events keep the order of arrival if a reply is duplicated", ">a >b >c <a,X,a,c,",
     "1=a 2~X@0 2xa 3=c"},

    {"a greeting that crosses a message is unsolicited", ">a <hello,a,", "+hello 1=a"},
    {"a greeting of several lines is unsolicited", ">a <hello,world,a,", "+hello 1~world@0 +a"},
    {"a greeting and a bad reply are distinguished by their number", ">a <hello,X,",
     "+hello 1~X@0"},
    {"the only reply is no greeting in the end", ">a <X, ?", "1~X@0"},
    {"after the first echo a bad reply waits for nothing", ">a <a, >b <X,", "1=a 2~X@0"},

    {"a late echo is right and late", ">a ! <a,", "!1 1=alate"},
    {"a late bad reply answers the late message", ">a ! >b <X,b,", "!1 1~X@0late 2=b"},
    {"a late bad reply leaves messages in flight alone", ">a ! >b >c <X,b,c,",
     "!1 1~X@0late 2=b 3=c"},
    {"an overdue bad reply answers the late message", ">a ! >b <X, . ! <b,",
     "!1 1~X@0late !2 2=blate"},
    {"a bad reply while only late messages wait leaves the younger messages to later replies",
     ">a ! >b ! >c ! <X,b, <Y,", "!1 !2 !3 1~X@0late 2=blate 3~Y@0late"},
    {"more bad replies than late messages begin with an unsolicited one",
     ">a <a, >b ! >c ! >d <X,Y,Z,W, .", "1=a !2 !3 *X 2~Y@0late 3~Z@0late 4~W@0"},
    {"an overdue bad reply leaves the younger late messages to later replies",
     ">a ! >b ! >c <X, . <b,c,", "!1 !2 1~X@0late 2=blate 3=c"},
    {"a corrupted reply does not answer a dropped message", ">a ! >b >c <X,c,", "!1 2~X@0 3=c"},
    {"a reply answers no message that was sent after it arrived",
     ">a ! >b ! >c <X,Y, >d >e >f <e,", "!1 !2 2~X@0late 3~Y@0 ?4 5=e"},
    {"a message that is late and then skipped stays lost", ">a ! >b <b,", "!1 2=b"},

    {"a first reply that differs may be a greeting", ">abc <x <y,abc,", "+xy 1=abc"},
    {"a duplicate and a later echo, each in two pieces", ">abc <abc, >bcd >bce <abc <, <bce <,",
     "1=abc 2xabc ?2 3=bce"},
    {"with any, no reply differs", ">a <xy <z,", "1=xyz", "line", Expect::any},

    {"with any, the next reply answers", ">a <x, >b <y,", "1=x 2=y", "line", Expect::any},
    {"with any, a late message does not take the reply of the next", ">a ! >b <y, >c <z,",
     "!1 2=y 3=z", "line", Expect::any},
    {"with any, a late reply finds its message while no other waits", ">a ! <x,", "!1 1=xlate",
     "line", Expect::any},
    {"with a pattern, a reply that does not match is bad", ">a >b >c <+x,-y,+z,",
     "1=+x 2~-y 3=+z", "line", Expect::any, "^[+]"},
    {"with a pattern, a late reply is judged too", ">a ! <-x, >b ! <+y,",
     "!1 1~-xlate !2 2=+ylate", "line", Expect::any, "^[+]"},
    {"with a pattern, a reply before any message is unsolicited", "<-hi, >a <+a,", "+-hi 1=+a",
     "line", Expect::any, "^[+]"},
    {"with none, all is unsolicited", ">a <a,", "+a", "line", Expect::none},

    {"raw bytes are matched by their place", ">hello >world <hellowor <Xd!",
     "1=hello 2~worXd@3 *!", "raw"},
    {"bad raw bytes are reported when the reply is whole", ">hello <hX <ll <o", "1~hXllo@1",
     "raw"},
    {"raw with any reports all bytes", ">hello <hi", "1=hi", "raw", Expect::any},
    {"caret replies are the message plus one", ">abc >xyz <*bcd <yz{", "1=bcd 2=yz{", "caret"},
    {"caret with any reports all bytes", ">abc <*xyz", "1=xyz", "caret", Expect::any},
    {"the greeting of smtp answers nothing", ">QUIT <220,221,", "+220 1=221", "smtp",
     Expect::any},
    {"a push of resp answers nothing", ">a >b <:1,>1,:2,:3,", "1=:1 +>1\r\n:2 2=:3", "resp",
     Expect::any},
    {"caret needs its greeting", ">abc <b",
     "refused the server did not send the greeting * of -f caret", "caret"},
};

struct Row {
    const char* script;
    const char* events;
};

// Plays each script in a new scene, and compares its events.
void check(const SessionOptions& options, const std::vector<Row>& rows) {
    for (const auto& [script, events] : rows) {
        CAPTURE(script);
        CHECK(Scene(options).perform_all(script) == events);
    }
}

}  // namespace

TEST_CASE("finds the message of each reply in the table, however the bytes are cut") {
    const Case& each = cases[GENERATE(range(std::size_t{0}, std::size(cases)))];
    SessionOptions options;
    options.framing = find_framing(each.framing);
    options.expect = each.expect;
    options.has_numbers = true;  // has no effect in a stream
    if (each.pattern) options.pattern.emplace(each.pattern);
    options.may_coalesce = GENERATE(false, true);
    Scene scene(options);
    // Without frames, any bytes that are read together are a reply.
    scene.arrives_in_bytes = GENERATE(false, true) && (options.framing->has_framed_replies() ||
                                                       each.expect != Expect::any);
    CAPTURE(each.name, each.script, options.may_coalesce, scene.arrives_in_bytes);
    CHECK(scene.perform_all(each.script) == each.events);
}

TEST_CASE("no reply answers a message that was queued after it was read") {
    SessionOptions options;
    const auto [framing, expect, replies, log] =
        GENERATE(table<const char*, Expect, const char*, std::string>({
            {"line", Expect::echo, "<1a,2bc,", "1=1a *2bc"},
            {"line", Expect::echo, "<1a,2bX,", "1=1a *2bX"},
            {"line", Expect::any, "<x,y,", "1=x +y"},
            {"raw", Expect::echo, "<1a2bc", "1=1a *2bc"},
            {"datagram", Expect::echo, "<1a,2bc,", "1=1a +2bc"},
            {"datagram", Expect::echo, "<1a,2bX,", "1=1a +2bX"},
            {"datagram", Expect::any, "<1a,1a,", "1=1a +1a"},
        }));
    options.framing = find_framing(framing);
    options.expect = expect;
    options.has_numbers = GENERATE(false, true);
    Scene scene(options);
    scene.send("1a");
    scene.on_event = [&] { scene.send("2bc"); };
    CHECK(scene.perform_all(replies) == log);
    CHECK(scene.perform_all("<2bc,").starts_with(log + " 2=2bc"));
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
        SessionOptions options;
        options.may_coalesce = coalesce;
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
        scene.ledger.lose(false);
        scene.drain();
        CHECK(scene.ledger.oldest_id() == 0);
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

TEST_CASE("finds the same messages whether coalesced or not") {
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
    Scene scene;
    std::vector<std::string> unanswered;  // without the letter l
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
            while (scene.ledger.in_flight() > 0) scene.perform("!");
        if (random() % 4 == 0) answer();
    }
    answer();
    scene.perform("~");
    const auto count = [&](char sign) {
        return static_cast<int>(std::count(scene.log.begin(), scene.log.end(), sign));
    };
    const int late = count('l');  // of late replies
    return {count('=') - 1, count('~'), count('?') + count('!') - late};
}

}  // namespace

TEST_CASE("a late reply changes no other verdict") {
    Counts expected;
    const Counts found = run_with_timeouts(GENERATE(range(0U, 200U)), expected);
    CHECK(found.right == expected.right);
    CHECK(found.bad == expected.bad);
    CHECK(found.lost == expected.lost);
}

TEST_CASE("a reply to a forgotten message is not compared") {
    SessionOptions options;
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
        std::erase(scene.log, 'x');
        return std::exchange(scene.log, "");
    };
    send("first");
    CHECK(answer("first") == "1=first");
    for (int i = 0; i < 6; ++i) send(message(i));
    for (int i = 0; i < 6; ++i) scene.perform("!");
    scene.log.clear();
    send("next");
    for (int i = 0; i < 4; ++i) CHECK(answer(message(i)) == "+" + std::to_string(i));
    CHECK(answer(message(4)) == "6=4late");
    CHECK(answer(message(5)) == "7=5late");
    CHECK(answer("nexT") == "8~neT@3");
    send("last");
    CHECK(answer("last") == "9=last");
    CHECK(answer("last") == "+last");
}

TEST_CASE("finds messages by their given replies") {
    SessionOptions options;
    options.expect = Expect::given;
    options.expects_unsolicited = [](std::string_view payload) {
        return payload.starts_with('+');
    };
    check(options, {
                       {">set=OK >get=1 <OK,1,", "1=OK 2=1"},
                       {">a=OK >b=OK <OK,OK,", "1=OK 2=OK"},
                       {">a=OK >get=1 <OK,2,", "1=OK 2~2@0"},
                       // The second OK is no duplicate.
                       {">a=OK >get=1 <OK,OK,", "1=OK 2~OK@0"},
                       {">a= >b=x <,x,", "1= 2=x"},
                       {">a=OK >b=1 >c=OK >d=2 <OK,9,OK,2,", "1=OK 2~9@0 3=OK 4=2"},
                       {">a=1 >b=2 <2,", "?1 2=2"},
                       {">a=1 <hi,1,", "+hi 1=1"},
                       {">a=1 <+tick,1,", "++tick 1=1"},
                       {">a=1 <1, >b=2 <+tick, <3, <x,", "1=1 ++tick 2~3@0 +x"},
                       // The first +x is not the reply to c.
                       {">a=1 <1, >b=2 >c=+x <+x, <2,+x,", "1=1 ++x 2=2 3=+x"},
                       {">a=1 <1, >b >c=3 <3,", "1=1 ?2 3=3"},
                       {">a=1 <1, >b <9,", "1=1 2~9@0"},
                       {">a=1 <1, >b <,", "1=1 2~@0"},
                       {">a=1 <1, >b ! <+tick,", "1=1 !2 ++tick"},
                       {">a=1 >b=2 ~", "?1 ?2"},
                   });
}

TEST_CASE("finds messages by given replies with masked parts") {
    SessionOptions options;
    options.expect = Expect::given;
    options.pattern.emplace("[0-9]+");
    check(options, {
                       {">a=t12 >b=t7ok <t3,t456ok, ~", "1=t3 2=t456ok"},
                       {">a=t12 <t12, ~", "1=t12"},
                       {">a=t12 <t, ~", "1~t@1"},  // a part that matches nothing is not masked
                       {">a=t12 <x12, ~", "1~x12@0"},
                       {">a=t12ok <t3456no, ~", "1~t3456no@5"},  // offset in the reply
                       {">a=1-2-3 <456-7-x, ~", "1~456-7-x@6"},
                       {">a=t1 >b=u1 >c=v1 <u5,v6, ~", "?1 2=u5 3=v6"},
                       {">a=t1 >b=t2 <t8,t9, ~", "1=t8 2=t9"},
                       {">a=t1 ! <t2, ~", "!1 1=t2late"},
                       {">a=t1 <hi,t2, ~", "+hi 1=t2"},
                   });
}

TEST_CASE("a given reply without a frame has its given length") {
    SessionOptions options;
    options.expect = Expect::given;
    options.framing = find_framing("caret");
    check(options, {
                       {">abc=bcd <*bc <d", "1=bcd"},
                       {">abc=bcd >x=y <*bcdy", "1=bcd 2=y"},
                       {">abc=xy >x=y <*x <yy", "1=xy 2=y"},
                       {">abc=bcd <*bXd", "1~bXd@1"},
                       {">abc >x=y <*y", "?1 2=y"},
                       {">abc ! >x=y <*y", "!1 2=y"},
                   });
}

TEST_CASE("several messages in a row expect no reply") {
    SessionOptions options;
    options.framing = find_framing("raw");
    options.expect = Expect::given;
    check(options, {{">a=x ! >b ! >c <x <y", "!1 !2 1=xlate ?3 +y"}});
}

TEST_CASE("a reply to a message that is not fully written has no round trip") {
    const auto second = [](int count) { return ev::Time{} + std::chrono::seconds(count); };
    const SessionOptions options;
    Ledger ledger(options);
    ledger.queue("a");
    ledger.flush(second(1));
    std::string_view received = "X\n";
    CHECK_FALSE(ledger.next(received, second(2)));
    ledger.record_written(2, second(3));
    ledger.rule_out_greeting();
    const auto event = ledger.next_resolved();
    REQUIRE(event);
    CHECK(event->fate == Fate::bad);
    CHECK_FALSE(event->reply.round_trip);
}

TEST_CASE("settles held replies that take more memory than allowed") {
    Scene scene({}, {.held_bytes = 1000});
    for (int i = 0; i < 100; ++i) scene.send("message " + std::to_string(i));
    scene.receive("message 0\n");
    scene.log.clear();
    for (int i = 1; i < 50; ++i) scene.receive("bad\n");
    CHECK(scene.log.starts_with("2~bad@0 3~bad@0"));
}

TEST_CASE("settles many thousands of bad replies") {
    Scene scene;
    const int count = 20'000;
    for (int i = 0; i < count; ++i) scene.send("message " + std::to_string(i));
    std::string replies;
    for (int i = 0; i < count; ++i) replies += "bad " + std::to_string(i) + "\n";
    scene.receive(replies);
    scene.ledger.lose(false);
    scene.drain();
    CHECK(scene.ledger.oldest_id() == 0);
    CHECK(std::count(scene.log.begin(), scene.log.end(), '@') == count);
}

// --- Datagrams.

TEST_CASE("finds the message of a datagram in any order") {
    check(with_datagrams(), {
                                {">a <a", "1=a"},
                                {">a >b <a <b", "1=a 2=b"},
                                {">a >b <b <a", "2=b 1=aorder"},
                                {">a >b >c <c <a <b", "3=c 1=aorder 2=border"},
                                {">a <a <a", "1=a 2xa"},
                                {">a >b <a <a <b <b", "1=a 2xa 2=b 2xb"},
                                {">a >a <a <a <a", "1=a 2=a 2xa"},
                                {"<x", "+x"},
                                {">a <a <x", "1=a +x"},
                                {">a !", "!1"},
                                {">a ! <a", "!1 1=alate"},
                                {">a >b ! <b <a <a", "!1 2=b 1=alateorder 2xa"},
                                {">a ! >a <a <a", "!1 2=a 1=alateorder"},
                                {">a >b ~ ^", "?1 ?2"},
                                {">a ~ ^ >b <b", "?1 2=b"},
                                {">a ~ ^ <a", "?1 +a"},
                            });
}

TEST_CASE("compares a bad datagram with a message of its length without its own reply") {
    check(with_datagrams(),
          {
              {">abc <abX", "1~abX@2"},
              {">abc >defg <deXg <abc", "2~deXg@2 1=abcorder"},
              {">abc >def <deX <abc", "1=abc 2~deX@2"},
              {">abc >def <deX <abc <abc <deX <def", "1=abc 2~deX@2 2xabc 2xdeX 2xdef"},
              {">abc >def <abX <def", "2=def 1~abX@2"},  // not reordered
              {">abc >def <deX <abX", "1~deX@0 2~abX@0"},
              {">abc >def <deX ! ! <abc <def", "1~deX@0 !2 2xabc 2=deflate"},
              {">abc >defg >hij <hiX >klmn ! ! <hij", "1~hiX@0 !2 3=hij"},
              {">abc >def >ghij >klmn <deX <klmX <ghij <abc",
               "3=ghij 4~klmX@3 1=abcorder 2~deX@2"},
              {">abc >def <deX >ghi <ghi <abc", "3=ghi 1=abcorder 2~deX@2"},
              {">abc >def <deX >ghi <ghX <abc <def", "1=abc 2~deX@2 3~ghX@2 2xdef"},
              {">abc >def <deX <deX <abc", "2xdeX 1=abc 2~deX@2"},
              {">abc >def <deX ~ ^", "1~deX@0 ?2"},
              {">abc >def >ghi <ghX <deX ~ ^", "1~ghX@0 2~deX@2 ?3"},
              {">abc <abX <abc <abX", "1~abX@2 2xabc 2xabX"},
              {">abc <x <abc", "+x 1=abc"},  // unsolicited: no message has this length
              {">abc <x ~ ^", "+x ?1"},
              {">abc ! <abX", "!1 +abX"},
              {">abc ! >def <abX", "!1 2~abX@0"},
          });
}

TEST_CASE("judges any datagram by a pattern") {
    SessionOptions options;
    options.expect = Expect::any;
    options.pattern.emplace("^[+]");
    check(with_datagrams(options), {
                                       {">a >b <+x <-y", "1=+x 2~-y"},
                                       {">a ! <-x", "!1 1~-xlate"},
                                       {"<-x >a <+y", "+-x 1=+y"},
                                   });
}

TEST_CASE("finds the message of a damaged datagram by its number") {
    SessionOptions options;
    options.has_numbers = true;
    check(with_datagrams(options),
          {
              {">1abc >2abc >3abc <2abX <1abc <3abc", "2~2abX@3 1=1abcorder 3=3abc"},
              {">1abc >2abc ! <1abX", "!1 1~1abX@3late"},
              {">1abc >2abc <1abc <1abc <2abc", "1=1abc 2x1abc 2=2abc"},
              {">1abc >2abc <9abc <1abc", "1=1abc 2~9abc@0"},
              {">1abc >2def <1def <1abc", "1=1abc 2~1def@0"},  // the number is damaged
              // Numbers with gaps.
              {">5abc >9abc >12abc <9abX <12abc <5abc", "2~9abX@3 3=12abc 1=5abcorder"},
              {">5abc >9abc ! <9abc <5abc <5abc <9abc",
               "!1 2=9abc 1=5abclateorder 2x5abc 2x9abc"},
              {">1abA >2acB <xabA <2acB", "2=2acB 1~xabA@0"},
              // Unsolicited: no message has this length.
              {">1abc >2abc <hello <1abc <2abc", "+hello 1=1abc 2=2abc"},
              {">1abA >2acB <2 <1abA", "+2 1=1abA"},  // truncated
          });
}

TEST_CASE("finds messages by their given datagrams") {
    SessionOptions options;
    options.expect = Expect::given;
    options.expects_unsolicited = [](std::string_view payload) {
        return payload.starts_with('+');
    };
    check(with_datagrams(options), {
                                       {">a=1 <1", "1=1"},
                                       {">a=OK >b=1 <1 <OK", "2=1 1=OKorder"},
                                       {">a=OK <OK <OK", "1=OK 2xOK"},
                                       {">a=1 <2", "1~2@0"},
                                       {">a=1 <+x <1", "++x 1=1"},
                                       {">a ! <x", "!1 +x"},
                                       {">a <x", "+x"},
                                       {">a=1 ! <1", "!1 1=1late"},
                                       {">a=1 >b=2 ~ ^", "?1 ?2"},
                                       {">a=1 <1 >b=2 <1 <2", "1=1 2x1 2=2"},
                                       {">a=OK >b=OK <OK <OK <OK", "1=OK 2=OK 2xOK"},
                                       {">a=1 >b=22 <X2", "2~X2@0"},
                                       {">a=1 >b=22 <333", "+333"},
                                   });
}

TEST_CASE("finds messages by given datagrams with masked parts") {
    SessionOptions options;
    options.expect = Expect::given;
    options.pattern.emplace("[0-9]+");
    check(with_datagrams(options), {
                                       {">a=t1 >b=u1 <u22 <t33", "2=u22 1=t33order"},
                                       {">a=t1 <t2 <t3", "1=t2 2xt3"},
                                       {">a=t1 ! <t2", "!1 1=t2late"},
                                       {">a=t1 <x2", "1~x2@0"},
                                       {">a=t1 <t", "+t"},
                                   });
}

TEST_CASE("any datagram answers the oldest message in flight, or none if none is expected") {
    check(with_datagrams({.expect = Expect::any}), {{">a >b <x", "1=x"}});
    check(with_datagrams({.expect = Expect::none}), {{">a <a", "+a"}});
}

TEST_CASE("forgets datagrams beyond the limits") {
    const struct {
        const char* script;
        const char* log;
        std::size_t late_bytes = 1000;
    } rows[] = {
        {">a <a >b <b <a <b", "1=a 2=b 2xa 2xb"},
        {">a <a >b <b >c <c <a <b <c", "1=a 2=b 3=c +a 2xb 2xc"},
        {">a <a >b <b >c <c >d <d >e <e <c <d <e", "1=a 2=b 3=c 4=d 5=e +c 2xd 2xe"},
        {">a >b ! ! <a <b", "!1 !2 1=alate 2=blate"},
        {">a >b >c ! ! ! <a <b <c", "!1 !2 !3 +a 2=blate 3=clate"},
        {">aa >bb ! ! <aa <bb", "!1 !2 1=aalate 2=bblate", 8},
        {">aa >bb ! ! <aa <bb", "!1 !2 +aa 2=bblate", 7},
        {">aa >bb ! ! <aa >cc ! <bb <cc", "!1 !2 1=aalate !3 2=bblate 3=cclate", 8},
        {">aa >bb >c ! ! ! <aa <bb <c", "!1 !2 !3 +aa 2=bblate 3=clate", 8},
    };
    for (const auto& [script, log, late_bytes] : rows) {
        CAPTURE(script);
        Scene played(with_datagrams(), {.remembered = 2, .late_bytes = late_bytes});
        CHECK(played.perform_all(script) == log);
        CHECK(played.ledger.in_flight_bytes() == 0);
    }
}

TEST_CASE("a datagram that may answer a forgotten message is unsolicited") {
    SessionOptions options;
    options.has_numbers = GENERATE(true, false);
    Scene scene(with_datagrams(options), {.remembered = 2});
    scene.perform_all(">11 >12 >13 ! ! ! >14 >15");
    scene.log.clear();
    CHECK(scene.perform_all("<11 <12 <13 <14") == "+11 2=12late 3=13late 4=14");
    scene.log.clear();
    CHECK(scene.perform_all("<1X <XX <15") ==
          (options.has_numbers ? "+1X 5~XX@0 2x15" : "+1X +XX 5=15"));
    scene.log.clear();
    // The new connection has forgotten no message.
    CHECK(scene.perform_all("~ ^ >16 <1X") == "6~1X@1");
}

// --- Messages in flight.

TEST_CASE("times messages from when they are written") {
    const bool datagrams = GENERATE(false, true);
    const Framing& framing = datagrams ? packets : *find_framing("line");
    const SessionOptions options{.framing = &framing};
    Ledger ledger(options);
    ledger.queue("a");
    ledger.reserve_id();
    ledger.queue("b", start - 1ms);
    const std::size_t size = ledger.flush(start).size();
    ledger.record_written(size / 2, start + 1ms);
    ledger.record_written(size - 1, start + 2ms);
    CHECK(ledger.has_unwritten() == !datagrams);
    ledger.record_written(size, start + 3ms);
    CHECK_FALSE(ledger.has_unwritten());
    CHECK((ledger.oldest_sent_at() == start + 1ms));
    std::string echoes;
    encode(framing, "a", echoes);
    encode(framing, "b", echoes);
    std::string_view rest = echoes;
    auto event = ledger.next(rest, start + 10ms);
    REQUIRE(event);
    CHECK((event->message.planned_at == start));
    CHECK((event->reply.round_trip == 9ms));
    ledger.void_round_trips();
    event = ledger.next(rest, start + 10ms);
    REQUIRE(event);
    CHECK(event->message.id == 3);
    CHECK((event->message.planned_at == start - 1ms));
    CHECK_FALSE(event->reply.round_trip);
}

TEST_CASE("reports messages that were sent and echoed together with one event") {
    const SessionOptions options{.may_coalesce = true};
    Ledger ledger(options);
    const QueuedIds ids = ledger.queue("a\nbc\nd");
    CHECK(ids.first == 1);
    CHECK(ids.count == 3);
    CHECK(ledger.flush(start) == "a\nbc\nd\n");
    ledger.record_written(3, start + 1ms);
    ledger.record_written(7, start + 2ms);
    std::string_view rest = "a\nbc\nd\nd\n";
    const auto first = ledger.next(rest, start + 9ms);
    REQUIRE(first);
    CHECK(first->count == 1);
    const auto others = ledger.next(rest, start + 9ms);
    REQUIRE(others);
    CHECK(others->fate == Fate::echoed);
    CHECK(others->count == 2);
    CHECK(others->message.id == 2);
    CHECK(others->message.payload == "bc\nd");
    CHECK(others->frames == "bc\nd\n");
    CHECK((others->reply.round_trip == 7ms));
    const auto copy = ledger.next(rest, start + 9ms);
    REQUIRE(copy);
    CHECK(copy->fate == Fate::duplicate);
}

TEST_CASE("the next connection sends what was not fully written") {
    const auto [coalesce, written, lost, again] =
        GENERATE(table<bool, std::uint64_t, std::string, std::string>({
            {false, 3, "?1", "bc\nd\n"},
            {true, 3, "?1", "bc\nd\n"},
            {true, 5, "?1 ?2", "d\n"},
            {true, 7, "?1 ?2 ?3", ""},
        }));
    Scene scene({.may_coalesce = coalesce});
    scene.ledger.queue("a\nbc\nd");
    scene.ledger.flush(start);
    scene.ledger.record_written(written, start);
    scene.ledger.lose(true);
    scene.drain();
    CHECK(scene.log == lost);
    scene.ledger.restart();
    CHECK(scene.ledger.has_unwritten() == !again.empty());
    CHECK(scene.ledger.is_flushed() == again.empty());
    CHECK(scene.ledger.flush(start) == again);
    scene.ledger.record_written(again.size(), start);
    scene.log.clear();
    scene.receive(again);
    CHECK(scene.ledger.in_flight() == 0);
    CHECK(scene.log.find('?') == std::string::npos);
}

TEST_CASE("a ledger allocates nothing while messages are sent and answered") {
    const Framing* const framing =
        GENERATE(find_framing("line"), find_framing("crlf"), find_framing("len4"), &packets);
    const SessionOptions options{.framing = framing};
    Ledger ledger(options, {.remembered = 100});
    std::string payload(64, 'x');
    std::string frame;
    encode(*framing, payload, frame);
    std::uint64_t written = 0;
    const auto exchange = [&] {
        ledger.queue(payload);
        written += ledger.flush(start).size();
        ledger.record_written(written, start);
        std::string_view rest = frame;
        return ledger.next(rest, start)->fate == Fate::echoed;
    };
    for (int i = 0; i < 200; ++i) exchange();
    test::allocations.count = 0;
    for (int i = 0; i < 1000; ++i) REQUIRE(exchange());
    CHECK(test::allocations.count == 0);
}

TEST_CASE("drops the frames of datagrams that were answered before an older one") {
    Scene scene(with_datagrams());
    scene.send("lost");
    for (int i = 0; i < 20'000; ++i) {
        scene.log.clear();
        scene.send(std::to_string(i) + std::string(100, 'x'));
        scene.perform("<" + std::to_string(i) + std::string(100, 'x'));
        REQUIRE(scene.log.starts_with(std::to_string(i + 2) + "="));
    }
    scene.log.clear();
    CHECK(scene.perform_all("<lost") == "1=lostorder");
}
