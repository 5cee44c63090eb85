#include "app/stats/history.hpp"

#include "tests/support/catch.hpp"

using namespace std::chrono_literals;
using namespace yodel;

TEST_CASE("returns the percentiles of each period that has round trips") {
    PercentileHistory history;
    CHECK(history.percentiles().p50.empty());
    const ev::Time start = ev::Time{} + 1h;
    for (int i = 0; i < 100; ++i) history.record(start, i < 90 ? 1ms : 9ms);
    history.record(start + PercentileHistory::period, 2ms);
    history.record(start + 5 * PercentileHistory::period, 3ms);
    const PercentileHistory::Percentiles seen = history.percentiles();
    REQUIRE(seen.p50.size() == 3);
    CHECK(seen.p50[0] / 1.1 < 1ms);
    CHECK(seen.p95[0] == 9ms);
    CHECK(seen.p50[1] == 2ms);
    CHECK(seen.p95[2] == 3ms);
}

TEST_CASE("keeps only the last periods") {
    PercentileHistory history;
    for (std::size_t i = 0; i <= PercentileHistory::max_periods; ++i)
        history.record(ev::Time{} + 1h + i * PercentileHistory::period,
                       std::chrono::milliseconds(i + 1));
    const PercentileHistory::Percentiles seen = history.percentiles();
    REQUIRE(seen.p50.size() == PercentileHistory::max_periods);
    CHECK(seen.p50.front() == 2ms);
    CHECK(seen.p95.back() == std::chrono::milliseconds(PercentileHistory::max_periods + 1));
}

TEST_CASE("returns the growth over the last second as the recent rate") {
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

TEST_CASE("returns the rate over a long pause after it") {
    const ev::Time start{1h};
    RecentRate rate;
    rate.add(start, 0);
    rate.add(start + 100ms, 10);
    rate.add(start + 10100ms, 1010);
    CHECK(rate.per_second() == Approx(100));
    CHECK(RecentRate().per_second() == 0);
}

TEST_CASE("returns no rate for two counts of one moment") {
    RecentRate rate;
    rate.add(ev::Time{1h}, 0);
    rate.add(ev::Time{1h}, 10);
    CHECK(rate.per_second() == 0);
}
