#include "app/server/datagram_port.hpp"

#include "tests/support/catch.hpp"

using namespace std::chrono_literals;
using yodel::LoopGuard;
using Decision = LoopGuard::Decision;

namespace {

constexpr ev::Time start{1h};

// Returns the number of answers to `times` duplicates at this interval.
unsigned answered(LoopGuard& guard, std::uint64_t key, unsigned times, ev::Duration apart) {
    unsigned count = 0;
    for (unsigned i = 0; i < times; ++i)
        if (guard.judge(key, start + i * apart) == Decision::answer) ++count;
    return count;
}

}  // namespace

TEST_CASE("answers the same bytes 64 times within a second, and then takes them for a loop") {
    LoopGuard guard;
    for (unsigned i = 0; i < 64; ++i) CHECK(guard.judge(7, start) == Decision::answer);
    CHECK(guard.judge(7, start) == Decision::loop_begins);
    CHECK(guard.judge(7, start + 500ms) == Decision::loop);
    CHECK(guard.judge(8, start + 500ms) == Decision::answer);
}

TEST_CASE("ends a loop once it has stopped for a second") {
    LoopGuard guard;
    CHECK(answered(guard, 7, 1000, 1ms) == 64);
    CHECK(guard.judge(7, start + 1998ms) == Decision::loop);
    CHECK(guard.judge(7, start + 2998ms) == Decision::answer);
}

TEST_CASE("takes less frequent repeats for no loop, however long they go on") {
    LoopGuard guard;
    CHECK(answered(guard, 7, 10'000, 16ms) == 10'000);
}

TEST_CASE("detects a loop among many other senders") {
    LoopGuard guard;
    unsigned answers = 0;
    for (unsigned i = 0; i < 10'000; ++i) {
        const ev::Time now = start + i * 50us;
        for (unsigned other = 0; other < 10; ++other) guard.judge(1000 + 10 * i + other, now);
        if (guard.judge(7, now) == Decision::answer) ++answers;
    }
    CHECK(answers == 64);
}
