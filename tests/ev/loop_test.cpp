#include "ev/loop.hpp"
#include "tests/support/catch.hpp"

using namespace std::chrono_literals;

TEST_CASE("a timer fires once") {
    ev::Loop loop;
    int fired = 0;
    ev::Timer timer(loop, [&] { ++fired; });
    timer.start(1ms);
    loop.run();
    CHECK(fired == 1);
}
