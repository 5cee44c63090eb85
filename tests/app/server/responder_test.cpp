// Responders between the two ends of a connection, without a server around them, and their
// faults.

#include "app/server/responder.hpp"

#include "app/text/units.hpp"
#include "tests/app/server/answering.hpp"
#include "tests/support/escapes.hpp"
#include "tests/support/table.hpp"
#include "tests/support/text.hpp"

using namespace std::chrono_literals;
using namespace yodel;
using test::Answering;

namespace {

// A connection whose responder has these faults, or none.
struct Answered {
    explicit Answered(Faults all, const char* framing = "line",
                      EchoLimits limits = {1000, 1000})
        : faults(std::move(all)), peer([&](ev::Loop& loop, bufio::Stream& stream) {
              return make_responder(loop, faults, *find_framing(framing), limits, 1, stream);
          }) {}

    Faults faults;
    Answering peer;
};

// Plays a script of one connection.
void play(const Faults& faults, const std::string& script, const char* framing = "line",
          EchoLimits limits = {1000, 1000}) {
    Answered answered(faults, framing, limits);
    Answering& peer = answered.peer;
    const auto make_step = [&](const std::string& verb, const std::string& what) {
        std::string text;
        if (verb == "send") peer.send(test::expanded(what));
        if (verb == "shut") peer.close_sending();
        if (verb.starts_with('+')) peer.loop.pass(*parse_duration(verb.substr(1)));
        if (verb == "got") text = test::shown(peer.received());
        if (verb == "end") text = peer.responder().end().text("the client");
        if (verb == "pending") text = peer.responder().has_pending() ? "yes" : "no";
        if (verb == "stream" && peer.stream().end().reason == bufio::Reason::aborted)
            text = "aborted";
        return text;
    };
    test::play_script(script, "send shut got end pending stream", make_step);
}

void play(const char* framing, const std::string& script) {
    play({}, script + "; pending => no", framing, {1 << 20, 4});
}

int differing_bits(const std::string& a, const std::string& b) {
    int count = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        for (unsigned bit = 0; bit < 8; ++bit) count += ((a[i] ^ b[i]) >> bit) & 1;
    return count;
}

std::string plans(const Faults& faults, std::uint64_t connection) {
    FaultDice dice(faults, connection);
    std::string all;
    for (int i = 0; i < 100; ++i) {
        const FaultDice::Plan plan = dice.next();
        all += std::to_string(plan.drop) + std::to_string(plan.dup) +
               std::to_string(plan.corrupt) + std::to_string(plan.place) + " " +
               std::to_string(plan.delay.count()) + ";";
    }
    return all;
}

}  // namespace

TEST_CASE("answers by the rules of each framing, however the bytes are cut") {
    const struct {
        const char* framing;
        std::string sent;
        std::string answered;
    } rows[] = {
        {"raw", "any\nbytes", "any\\x0abytes"},
        {"line", "a line\nand a part", "a line\\x0aand a part"},
        {"len2", std::string("\0\4part\0\0", 8), "\\x00\\x04part\\x00\\x00"},
        {"len4le", std::string("\2\0\0\0ab", 6), "\\x02\\x00\\x00\\x00ab"},
        {"caret", "junk^ab$x^^\xff$$^cde$", "*1bc_\\x00def"},
    };
    for (const auto& row : rows)
        for (const std::size_t step : {1U, 3U, 100U}) {
            std::string script;
            for (std::size_t at = 0; at < row.sent.size(); at += step)
                script += "send " + test::shown(row.sent.substr(at, step)) + "; ";
            play(row.framing, script + "got => " + row.answered + "; end =>");
        }
}

TEST_CASE("answers a message with a length once it is whole, and others as they arrive") {
    play("len2", R"(send \x00\x04par; got =>; send t; got => \x00\x04part)");
    play("line", "send par; got => par");
}

TEST_CASE("ends the answers at a message over the limit, after the earlier answers") {
    play("len2", R"(send \x00\x04four\x00\x05fiver; got => \x00\x04four;
end => a message of 5 bytes exceeds the limit of 4 (--max-frame))");
}

TEST_CASE("reports an end inside a message with a length, and names the missing part") {
    for (const auto& [fragment, where] :
         {std::pair{R"(\x00)", "after 1 byte of its length prefix"},
          {R"(\x00\x04)", "after 0 of 4 bytes"},
          {R"(\x00\x04p)", "after 1 of 4 bytes"},
          {R"(\x00\x04par)", "after 3 of 4 bytes"}})
        play("len2",
             std::string("send ") + fragment +
                 "; end =>; shut; end => the client closed the connection inside a message, " +
                 where + "; got =>");
}

TEST_CASE("stops answering at the limit if the peer reads nothing") {
    const std::size_t limit = 10'000;
    for (const std::string framing : {"raw", "len4", "caret"}) {
        Answered answered({}, framing.c_str(), {limit, 100'000});
        Answering& peer = answered.peer;
        peer.fill_output(6'000);
        const std::string head = framing == "len4" ? std::string("\0\0\x9c\x40", 4) : "^";
        peer.send(head + std::string(40'000, 'x'));  // 0x9c40 bytes
        CHECK(peer.stream().pending() > 6'000);
        CHECK(peer.stream().pending() <= limit);
        CHECK_FALSE(peer.stream().received().empty());
        const char answer = framing == "caret" ? 'y' : 'x';
        CHECK(test::contains(peer.received_in_all(), std::string(9'000, answer)));
    }
}

TEST_CASE("chooses the faults of a message by seed, connection and number alone") {
    Faults faults{.delay = 100ms, .jitter = 20ms, .drop = 0.5, .corrupt = 0.5, .dup = 0.5};
    const std::string first = plans(faults, 1);
    CHECK(plans(faults, 1) == first);
    CHECK(plans(faults, 2) != first);
    faults.seed = 2;
    CHECK(plans(faults, 1) != first);
}

TEST_CASE("keeps the outcomes of other faults when the chance of one changes") {
    const Faults often{.drop = 0.9, .corrupt = 0.5, .dup = 0.5};
    const Faults never{.drop = 0, .corrupt = 0.5, .dup = 0.5};
    FaultDice with(often, 1);
    FaultDice without(never, 1);
    for (int i = 0; i < 100; ++i) {
        const FaultDice::Plan a = with.next();
        const FaultDice::Plan b = without.next();
        CHECK(a.dup == b.dup);
        CHECK(a.corrupt == b.corrupt);
        CHECK(a.place == b.place);
    }
}

TEST_CASE("keeps a delay within the jitter, and uses both halves of it") {
    const Faults faults{.delay = 100ms, .jitter = 20ms};
    FaultDice dice(faults, 1);
    ev::Duration shortest = 1h;
    ev::Duration longest{};
    for (int i = 0; i < 1000; ++i) {
        const ev::Duration delay = dice.next().delay;
        shortest = std::min(shortest, delay);
        longest = std::max(longest, delay);
    }
    CHECK(shortest >= 80ms);
    CHECK(shortest < 85ms);
    CHECK(longest > 115ms);
    CHECK(longest <= 120ms);
}

TEST_CASE("meets a chance at its rate") {
    const Faults faults{.drop = 0.25};
    FaultDice dice(faults, 1);
    int dropped = 0;
    for (int i = 0; i < 10'000; ++i) dropped += dice.next().drop;
    CHECK(dropped > 2'300);
    CHECK(dropped < 2'700);
}

TEST_CASE("corrupts one bit, and never creates a byte that ends a message") {
    const std::string before = "\x0b\x1a\x0e\x02";  // each differs in one bit from a newline
    for (std::uint64_t place = 0; place < 64; ++place) {
        std::string payload = before;
        corrupt(payload.data(), payload.size(), place << 32 | place, "\n");
        CHECK(differing_bits(payload, before) == 1);
        CHECK(payload.find('\n') == payload.npos);
    }
    corrupt(nullptr, 0, 1, "");
}

TEST_CASE("counts every option but the seed as a fault") {
    CHECK_FALSE(Faults{}.any());
    CHECK_FALSE(Faults{.seed = 7}.any());
    for (const Faults& faults : std::initializer_list<Faults>{{.delay = 1ms},
                                                              {.jitter = 1ms},
                                                              {.drop = 0.1},
                                                              {.corrupt = 0.1},
                                                              {.dup = 0.1},
                                                              {.chunk = 1},
                                                              {.close_after = 0},
                                                              {.reset_after = 0},
                                                              {.half_close = true},
                                                              {.no_read = true},
                                                              {.stall_handshake = true},
                                                              {.banner = "x"}})
        CHECK(faults.any());
}

TEST_CASE("applies each fault to the answers") {
    const std::string two = R"(send one\x0atwo\x0a; got => )";
    play({.drop = 1}, two);
    play({.dup = 1}, two + R"(one\x0aone\x0atwo\x0atwo\x0a)");
    play({.chunk = 1}, two + R"(one\x0atwo\x0a)");
    play({.stall_handshake = true}, two);
    play({.no_read = true}, two);
    play({.banner = "welcome\n"}, two + R"(welcome\x0aone\x0atwo\x0a; end =>)");
    play({.close_after = 1}, two + R"(one\x0a; end => closed after 1 message)");
    play({.close_after = 2}, R"(send 1\x0a; end =>; send 2\x0a3\x0a; got => 1\x0a2\x0a;
end => closed after 2 messages)");
    play({.reset_after = 2}, R"(send 1\x0a2\x0a3\x0a; end =>; stream => aborted)");
    Answered chunked({.chunk = 1});
    chunked.peer.send("several chunks\n");
    const std::uint64_t written = chunked.peer.stream().bytes_written();
    chunked.peer.loop.step(0s);
    CHECK(chunked.peer.stream().bytes_written() == written + 1);
}

TEST_CASE("corrupts one bit within the payload of a reply") {
    for (const auto& [framing, message, payload] :
         {std::tuple<const char*, std::string, std::size_t>{"line", "a message\n", 0},
          {"len2", std::string("\0\4part", 6), 2}}) {
        Answered faulty({.corrupt = 1}, framing);
        faulty.peer.send(message);
        const std::string reply = faulty.peer.received();
        REQUIRE(reply.size() == message.size());
        CHECK(differing_bits(reply, message) == 1);
        CHECK(reply.substr(0, payload) == message.substr(0, payload));
    }
}

TEST_CASE("keeps a delayed reply pending until its time, and the replies in order") {
    play({.delay = 100ms}, R"(send 1\x0a2\x0a; got =>; +99ms; pending => yes; got =>; +1ms;
got => 1\x0a2\x0a; pending => no)");
    play({.delay = 100ms, .jitter = 90ms}, R"(send 1\x0a2\x0a3\x0a4\x0a5\x0a; +9ms; got =>;
+190ms; got => 1\x0a2\x0a3\x0a4\x0a5\x0a; pending => no)");
}

TEST_CASE("ends a last message with the input if it lacks a delimiter, but not a length") {
    play({.dup = 1}, R"(send whole\x0apart; got => whole\x0awhole\x0a; shut; got => partpart)");
    play({.dup = 1}, R"(send \x00\x04par; shut; got =>;
end => the client closed the connection inside a message, after 3 of 4 bytes)",
         "len2");
}

TEST_CASE("ends the answers at a message that does not fit") {
    const std::string exceeds = "; end => a message exceeds the limit of 10";
    play({.dup = 1}, "send *11" + exceeds, "line", {10, 100});
    play({.dup = 1}, R"(send \x00\x0b)" + exceeds + " (--max-frame)", "len2", {100, 10});
    play({.dup = 1}, R"(send *10; end =>; send \x0a; got => *10\x0a*10\x0a)", "line",
         {10, 100});
}
