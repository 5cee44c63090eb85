#include "app/server/faults.hpp"

#include "tests/app/server/answering.hpp"
#include "tests/support/catch.hpp"

#include <string>
#include <vector>

using namespace std::chrono_literals;
using namespace yodel;
using test::Answering;

namespace {

// A connection with faults.
struct Faulty {
    explicit Faulty(Faults of, const char* framing = "line", EchoLimits limits = {1000, 1000})
        : faults(std::move(of)), peer([&](ev::Loop& loop) {
              return make_faulty_responder(loop, faults, *find_framing(framing), limits, 1);
          }) {}

    Faults faults;
    Answering peer;
};

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
    const auto [faults, any] = GENERATE(table<Faults, bool>({
        {Faults{}, false},
        {{.seed = 7}, false},
        {{.delay = 1ms}, true},
        {{.jitter = 1ms}, true},
        {{.drop = 0.1}, true},
        {{.corrupt = 0.1}, true},
        {{.dup = 0.1}, true},
        {{.chunk = 1}, true},
        {{.close_after = 0}, true},
        {{.reset_after = 0}, true},
        {{.half_close = true}, true},
        {{.no_read = true}, true},
        {{.stall_handshake = true}, true},
        {{.banner = "x"}, true},
    }));
    CHECK(faults.any() == any);
}

TEST_CASE("applies each fault to the answers") {
    const auto [faults, answered] = GENERATE(table<Faults, std::string>({
        {{.drop = 1}, ""},
        {{.dup = 1}, "one\none\ntwo\ntwo\n"},
        {{.chunk = 1}, "one\ntwo\n"},
        {{.close_after = 1}, "one\n"},
        {{.stall_handshake = true}, ""},
        {{.no_read = true}, ""},
        {{.banner = "welcome\n"}, "welcome\none\ntwo\n"},
    }));
    Faulty faulty(faults);
    faulty.peer.send("one\ntwo\n");
    CHECK(faulty.peer.received() == answered);
}

TEST_CASE("corrupts one bit within the payload of a reply") {
    const auto [framing, message, payload] =
        GENERATE(table<const char*, std::string, std::size_t>({
            {"line", "a message\n", 0},
            {"len2", std::string("\0\4part", 6), 2},
        }));
    Faulty faulty({.corrupt = 1}, framing);
    faulty.peer.send(message);
    const std::string reply = faulty.peer.received();
    REQUIRE(reply.size() == message.size());
    CHECK(differing_bits(reply, message) == 1);
    CHECK(reply.substr(0, payload) == message.substr(0, payload));
}

TEST_CASE("keeps a delayed reply pending until its time, and the replies in order") {
    Faulty faulty({.delay = 100ms, .jitter = 90ms});
    faulty.peer.send("1\n2\n3\n4\n5\n");
    CHECK(faulty.peer.received().empty());
    CHECK(faulty.peer.responder().has_pending());
    faulty.peer.loop.pass(9ms);
    CHECK(faulty.peer.received().empty());
    faulty.peer.loop.pass(190ms);
    CHECK(faulty.peer.received() == "1\n2\n3\n4\n5\n");
    CHECK_FALSE(faulty.peer.responder().has_pending());
}

TEST_CASE("closes gracefully or resets after the given number of messages") {
    SECTION("in order") {
        Faulty faulty({.close_after = 2});
        faulty.peer.send("1\n2\n3\n");
        CHECK(faulty.peer.received() == "1\n2\n");
        CHECK(faulty.peer.responder().end().reason == bufio::Reason::aborted);
        CHECK(faulty.peer.responder().end().text == "closed after 2 messages");
    }
    SECTION("by a reset") {
        Faulty faulty({.reset_after = 2});
        faulty.peer.send("1\n2\n3\n");
        CHECK(faulty.peer.stream().end().reason == bufio::Reason::aborted);
        CHECK_FALSE(faulty.peer.responder().end());
    }
}

TEST_CASE("ends a last message with the input if it lacks a delimiter, but not a length") {
    Faulty line({.dup = 1});
    line.peer.send("whole\npart");
    CHECK(line.peer.received() == "whole\nwhole\n");
    line.peer.close_sending();
    CHECK(line.peer.received() == "partpart");
    Faulty length({.dup = 1}, "len2");
    length.peer.send(std::string("\0\4par", 5));
    length.peer.close_sending();
    CHECK(length.peer.received().empty());
    CHECK(length.peer.responder().end().reason == bufio::Reason::truncated);
}

TEST_CASE("ends the answers at a message that does not fit, and names the option") {
    const auto [framing, limits, message, text] =
        GENERATE(table<const char*, EchoLimits, std::string, std::string>({
            {"line", {10, 100}, std::string(20, 'x'), "10 (--max-buffer)"},
            {"line", {100, 10}, std::string(20, 'x'), "10 (--max-frame)"},
            {"len2", {100, 10}, std::string("\0\x14", 2), "10 (--max-frame)"},
        }));
    Faulty faulty({.dup = 1}, framing, limits);
    faulty.peer.send(message);
    CHECK(faulty.peer.responder().end().reason == bufio::Reason::limit);
    CHECK(faulty.peer.responder().end().text == "a message exceeds the limit of " + text);
}
