#include "app/run/fairness.hpp"

#include "tests/support/catch.hpp"

#include <optional>

using namespace std::chrono_literals;
using yodel::Fairness;

namespace {

const ev::Time begin{100s};

struct Row {
    const char* name;
    int replies;           // on other connections, while this one waits
    ev::Duration between;  // two replies
    std::uint64_t before;  // messages in flight when the connection began to wait
    std::uint64_t after;   // messages in flight on other connections at the end
    bool idled;            // the others had nothing left to send, and were held
    bool starves;
};

}  // namespace

TEST_CASE("a connection starves if the server goes on serving others only") {
    const Row row = GENERATE(
        Row{"others are served for a second", 1000, 1ms, 2, 1, false, true},
        Row{"others are served ten times each", 40, 25ms, 4, 4, false, true},
        Row{"others are served nine times each", 36, 25ms, 4, 4, false, false},
        Row{"others are served for a short time", 1000, 100us, 2, 1, false, false},
        Row{"the short time was followed by idleness", 1000, 100us, 2, 0, true, true},
        Row{"nobody is served", 0, 0ms, 2, 2, false, false},
        Row{"nobody is served, and the others are idle", 0, 0ms, 2, 0, true, false},
        Row{"a stalled server answers all messages in flight", 9999, 10us, 1000, 0, false,
            false},
        Row{"every reply is late, and many are in flight", 1000, 1ms, 2, 200, false, false},
        Row{"many were in flight at the start", 1000, 1ms, 200, 0, false, false});
    CAPTURE(row.name);
    Fairness fairness;
    const Fairness::Wait wait = fairness.begin_wait(row.before);
    for (int i = 0; i < row.replies; ++i) fairness.replied(begin + i * row.between);
    if (row.idled) fairness.idled();
    const std::optional<std::uint64_t> others = fairness.starved(wait, row.after);
    CHECK(others.has_value() == row.starves);
    if (others) CHECK(*others == static_cast<std::uint64_t>(row.replies));
}

TEST_CASE("the time of a stall starves no connection") {
    Fairness fairness;
    const Fairness::Wait wait = fairness.begin_wait(2);
    for (int i = 0; i < 100; ++i) fairness.replied(begin + i * 1us);
    for (int i = 0; i < 100; ++i) fairness.replied(begin + 6s + i * 1us);
    CHECK_FALSE(fairness.starved(wait, 0));
}
