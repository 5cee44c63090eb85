#include "app/run/turns.hpp"

#include "tests/support/catch.hpp"

using yodel::Turns;

TEST_CASE("neither of two runs is more than one message ahead") {
    ev::Loop loop;
    int changes = 0;
    Turns turns(loop, [&] { ++changes; });
    CHECK(turns.may_send(0));
    turns.sent(0);
    CHECK_FALSE(turns.may_send(0));
    CHECK(turns.may_send(1));
    turns.sent(1);
    turns.sent(1);
    CHECK_FALSE(turns.may_send(1));
    CHECK(turns.shared() == 1);
    CHECK(changes == 0);
    while (loop.step()) {
    }
    CHECK(changes == 1);
}

TEST_CASE("of two runs with the same planned times, each sends every other message first") {
    ev::Loop loop;
    Turns turns(loop, [] {});
    std::string order;
    for (std::uint64_t message = 0; message < 4; ++message) {
        // Run 0 is always due first, and due again at once if it yields.
        for (const unsigned run : {0U, 1U, 0U}) {
            if (order.size() == 2 * message + 2 || turns.yields(run, message)) continue;
            order += run == 0 ? 'a' : 'b';
            turns.sent(run, message + 1);
        }
    }
    CHECK(order == "abbaabba");
}

TEST_CASE("a run does not wait for a run that never sends") {
    ev::Loop loop;
    Turns turns(loop, [] {});
    CHECK(turns.yields(0, 1));
    CHECK_FALSE(turns.yields(0, 1));
}
