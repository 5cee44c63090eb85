#include "app/stats/recent_rate.hpp"

#include "tests/support/catch.hpp"

#include <chrono>

using namespace std::chrono_literals;
using namespace yodel;

TEST_CASE("a recent rate is the growth over the last second") {
    const ev::Time start{1h};
    RecentRate rate;
    CHECK(rate.per_second() == 0);
    rate.add(start, 100);
    CHECK(rate.per_second() == 0);
    rate.add(start + 100ms, 110);
    CHECK(rate.per_second() == Approx(100));
    for (int i = 2; i <= 20; ++i) rate.add(start + i * 100ms, 110);
    CHECK(rate.per_second() == 0);
    rate.add(start + 2100ms, 160);
    CHECK(rate.per_second() == Approx(50));
}

TEST_CASE("a recent rate after a long pause is that over the pause") {
    const ev::Time start{1h};
    RecentRate rate;
    rate.add(start, 0);
    rate.add(start + 100ms, 10);
    rate.add(start + 10100ms, 1010);
    CHECK(rate.per_second() == Approx(100));
    CHECK(RecentRate().per_second() == 0);
}

TEST_CASE("two counts of one moment have no rate") {
    RecentRate rate;
    rate.add(ev::Time{1h}, 0);
    rate.add(ev::Time{1h}, 10);
    CHECK(rate.per_second() == 0);
}
