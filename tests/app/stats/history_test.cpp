#include "app/stats/history.hpp"

#include "tests/support/catch.hpp"

using namespace std::chrono_literals;
using namespace yodel;

TEST_CASE("returns the percentiles of each period that has round trips") {
    PercentileHistory history;
    CHECK(history.percentiles().p50.empty());
    const ev::Time start = ev::Time{} + 1h;
    for (int i = 0; i < 100; ++i) history.record(start + i * 99ms, i < 90 ? 1ms : 9ms);
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
    const auto milliseconds = [](std::size_t count) {
        return std::chrono::milliseconds(count);
    };
    for (std::size_t i = 0; i <= PercentileHistory::max_periods; ++i)
        history.record(ev::Time{} + 1h + i * PercentileHistory::period, milliseconds(i + 1));
    const PercentileHistory::Percentiles seen = history.percentiles();
    REQUIRE(seen.p50.size() == PercentileHistory::max_periods);
    CHECK(seen.p50.front() == 2ms);
    CHECK(seen.p95.front() == 2ms);
    CHECK(seen.p95.back() == milliseconds(PercentileHistory::max_periods + 1));
}

TEST_CASE(
    "returns the growth over the last second, or since the count before it, as the rate") {
    struct Row {
        ev::Duration time;
        std::uint64_t count;
        double rate;
    };
    const Row rows[] = {{0ms, 100, 0},          {0ms, 110, 0},       {100ms, 110, 100},
                        {600ms, 140, 40 / 0.6}, {1000ms, 150, 40},   {1100ms, 170, 60},
                        {1600ms, 190, 50},      {11600ms, 1190, 100}};
    RecentRate rate;
    CHECK(rate.per_second() == 0);
    for (const auto& [time, count, per_second] : rows) {
        rate.add(ev::Time{1h} + time, count);
        CHECK(rate.per_second() == Approx(per_second));
    }
}
