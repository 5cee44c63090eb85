#include "app/stats/comparison.hpp"

#include "tests/app/stats/results.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <cmath>

using namespace std::chrono_literals;
using namespace yodel;
using test::result_of;
using test::Service;

namespace {

constexpr std::uint64_t rounds = 200;

bool any_changed(const Comparison& comparison) {
    return std::any_of(comparison.rows.begin(), comparison.rows.end(),
                       [](const Comparison::Row& row) { return row.changed; });
}

const Comparison::Row& row_of(const Comparison& comparison, const std::string& name) {
    const auto row =
        std::find_if(comparison.rows.begin(), comparison.rows.end(),
                     [&](const Comparison::Row& each) { return each.name == name; });
    REQUIRE(row != comparison.rows.end());
    return *row;
}

Comparison compared(const RunResult& before, const RunResult& now) {
    EarlierRuns earlier;
    earlier.add(before);
    return Comparison::of(earlier, now);
}

// Returns in how many of `rounds` pairs of runs any row has changed.
std::uint64_t alarms(const Service& before, const Service& now) {
    std::uint64_t count = 0;
    for (std::uint64_t seed = 0; seed < rounds; ++seed) {
        const RunResult first = result_of(before, 2 * seed + 1);
        const RunResult second = result_of(now, 2 * seed + 2);
        if (any_changed(compared(first, second))) ++count;
    }
    return count;
}

RunResult counted(std::uint64_t sent, std::uint64_t lost) {
    RunResult result;
    result.tally.sent = sent;
    result.tally.lost = lost;
    return result;
}

}  // namespace

TEST_CASE("two runs of the same service raise an alarm in at most one of a hundred pairs") {
    const Service service =
        GENERATE(Service{}, Service{.spread = 0.02}, Service{.spread = 1.2, .tail = 0.05},
                 Service{.loss = 0.01}, Service{.likeness = 0.5}, Service{.likeness = 0.9},
                 Service{.spread = 0.05, .likeness = 0.97}, Service{.likeness = 0.99});
    CAPTURE(service.spread, service.likeness, service.loss);
    CHECK(alarms(service, service) <= rounds / 100);
}

TEST_CASE("a service that is a fifth slower is found out in 99 of a hundred pairs") {
    const Service service = GENERATE(Service{}, Service{.spread = 0.02}, Service{.spread = 0.8},
                                     Service{.likeness = 0.5}, Service{.tail = 0.05});
    Service slower = service;
    slower.factor = 1.2;
    CAPTURE(service.spread, service.likeness);
    CHECK(alarms(service, slower) >= rounds * 99 / 100);
}

TEST_CASE("a change is told from noise by the number of messages") {
    Service slower;
    slower.factor = 1.05;
    CHECK_FALSE(
        row_of(compared(result_of({}, 1, 500), result_of(slower, 2, 500)), "p50").changed);
    const Comparison clear = compared(result_of({}, 1, 100'000), result_of(slower, 2, 100'000));
    CHECK(row_of(clear, "p50").changed);
    CHECK(row_of(clear, "rate").changed);
    CHECK_FALSE(row_of(clear, "lost").changed);
}

TEST_CASE("a change within the width of the buckets is none") {
    RunResult before;
    RunResult now;
    for (int i = 0; i < 100'000; ++i) {
        before.tally.answered(true, false, 1000us);
        now.tally.answered(true, false, 1012us);
    }
    before.rate = now.rate = 1000;
    CHECK_FALSE(any_changed(compared(before, now)));
}

TEST_CASE("losses and rates change, too") {
    CHECK(row_of(compared(counted(5000, 0), counted(5000, 30)), "lost").changed);
    CHECK_FALSE(row_of(compared(counted(5000, 0), counted(5000, 10)), "lost").changed);
    RunResult before = result_of({}, 1);
    RunResult now = result_of({}, 2);
    CHECK_FALSE(row_of(compared(before, now), "rate").changed);
    now.rate *= 0.7;
    CHECK(row_of(compared(before, now), "rate").changed);
    CHECK(row_of(compared(before, counted(5000, 5000)), "rate").changed);
}

namespace {

// A service whose processes the system places anew for each run: the whole run is faster or
// slower by as much as `placement` says.
RunResult placed_run(double placement, double factor, std::uint64_t seed) {
    test::Random random(seed);
    Service service;
    service.factor = factor * std::exp(placement * random.normal());
    return result_of(service, random.next(), 1000);
}

// Returns in how many of `rounds` comparisons with `runs` earlier runs any row has changed.
std::uint64_t alarms(double placement, double factor, std::uint64_t runs) {
    std::uint64_t count = 0;
    for (std::uint64_t round = 0; round < rounds; ++round) {
        EarlierRuns earlier;
        for (std::uint64_t run = 1; run <= runs; ++run)
            earlier.add(placed_run(placement, 1, 1000 * round + run));
        const RunResult now = placed_run(placement, factor, 1000 * round);
        if (any_changed(Comparison::of(earlier, now))) ++count;
    }
    return count;
}

}  // namespace

TEST_CASE("runs that differ by themselves are no change to those who know several of them") {
    const double placement = GENERATE(0.05, 0.3);
    CAPTURE(placement);
    CHECK(alarms(placement, 1, 1) > rounds / 5);
    CHECK(alarms(placement, 1, 5) <= rounds / 100);
    CHECK(alarms(placement, 1, 10) <= rounds / 100);
}

TEST_CASE("a slower service is found out by several runs that differ little") {
    CHECK(alarms(0.005, 1.2, 10) >= rounds * 99 / 100);
    CHECK(alarms(0.015, 1.2, 20) >= rounds * 99 / 100);
}

TEST_CASE("the remark on unknown noise is for those who see a change and know few runs") {
    EarlierRuns earlier;
    for (std::uint64_t run = 1; run <= EarlierRuns::fewest; ++run)
        earlier.add(result_of({}, run));
    CHECK(Comparison::of(earlier, counted(5000, 4000)).table().back().ends_with("  same"));
    CHECK(compared(result_of({}, 1), result_of({}, 2)).table().back().ends_with("  same"));
}

TEST_CASE("what one of two runs did not measure has no row") {
    const Comparison empty = compared({}, {});
    REQUIRE(empty.rows.size() == 1);
    CHECK(empty.rows[0].name == "rate");
    CHECK_FALSE(empty.rows[0].changed);
    CHECK(compared(result_of({}, 1, 10), counted(10, 10)).rows.size() == 3);
}

TEST_CASE("the table has columns, and the object the same figures") {
    RunResult before;
    RunResult now;
    for (int i = 0; i < 1000; ++i) {
        before.tally.answered(true, false, 200us);
        now.tally.answered(true, false, 250us);
    }
    before.tally.sent = now.tally.sent = 1000;
    now.tally.bad = 40;
    before.rate = 5000;
    now.rate = 4000;
    const Comparison comparison = compared(before, now);
    const std::vector<std::string> table = comparison.table();
    REQUIRE(table.size() == 11);
    CHECK(table[0] == "           before        now     change");
    CHECK(table[1] == "p50         0.2ms     0.25ms       +25%  changed");
    CHECK(table[7] == "rate         5k/s       4k/s       -20%  changed");
    CHECK(table[8] == "lost           0%         0%         0%  same");
    CHECK(table[9] == "bad            0%         4%        new  changed");
    CHECK(
        table[10] ==
        "how much runs differ by themselves is not known: compare with 10 runs, or at least 5");
    CHECK(comparison.json().str().ends_with(
        R"("bad":{"before":0.000,"now":4.000,"verdict":"changed"},"runs":1})"));
    CHECK(comparison.json().str().starts_with(
        R"({"p50":{"before":200.000,"now":250.000,"change":25.000,"verdict":"changed"},)"));
}

TEST_CASE("the longest durations are compared") {
    RunResult result;
    for (int i = 0; i < 100; ++i) result.tally.answered(true, false, ev::Duration::max());
    CHECK(compared(result_of({}, 1, 100), result).rows.size() == 7);
}
