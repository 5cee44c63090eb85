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

bool any(const Comparison& comparison, const std::string& verdict) {
    return std::any_of(comparison.rows.begin(), comparison.rows.end(),
                       [&](const Comparison::Row& row) { return row.verdict == verdict; });
}

const Comparison::Row& row_of(const Comparison& comparison, const std::string& name) {
    const auto row =
        std::find_if(comparison.rows.begin(), comparison.rows.end(),
                     [&](const Comparison::Row& each) { return each.figure->name == name; });
    REQUIRE(row != comparison.rows.end());
    return *row;
}

// Returns a run of 1000 messages with this round trip each.
Results steady_run(ev::Duration round_trip, std::uint64_t lost = 0) {
    Results results;
    results.count_sent(1000, ev::Time{});
    results.count_echoed(1000 - lost, round_trip, ev::Time{1s});
    results.lost = lost;
    return results;
}

Comparison compared(const std::vector<Results>& before, const Results& now) {
    EarlierRuns earlier;
    for (const Results& run : before) earlier.add(run);
    return Comparison::of(earlier, now);
}

// A service whose processes the system places again for each run: the whole run is faster or
// slower, by `placement`.
Results placed_run(double placement, double factor, std::uint64_t seed) {
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
        const Results now = placed_run(placement, factor, 1000 * round);
        if (any(Comparison::of(earlier, now), "changed")) ++count;
    }
    return count;
}

}  // namespace

TEST_CASE("reports no change between runs that differ by themselves") {
    const double placement = GENERATE(0.0, 0.05, 0.3);
    CAPTURE(placement);
    CHECK(alarms(placement, 1, 5) <= rounds / 50);
    CHECK(alarms(placement, 1, 10) <= rounds / 50);
}

TEST_CASE("detects a slower service by several runs that differ little") {
    CHECK(alarms(0.005, 1.3, 5) >= rounds * 99 / 100);
    CHECK(alarms(0.005, 1.2, 10) >= rounds * 99 / 100);
    CHECK(alarms(0.015, 1.2, 20) >= rounds * 99 / 100);
}

TEST_CASE("gives no verdict by fewer than five earlier runs, and prints how many are missing") {
    std::vector<Results> before;
    for (int runs = 1; runs <= 5; ++runs) {
        before.push_back(steady_run(1ms + runs * 1us));
        const Comparison comparison = compared(before, steady_run(100ms, 500));
        CAPTURE(runs);
        CHECK(any(comparison, "") == (runs < 5));
        CHECK(any(comparison, "changed") == (runs == 5));
        const std::string last = comparison.table().back();
        if (runs == 1) CHECK(last == "no verdict without 5 earlier runs, 4 are missing");
        if (runs == 4) CHECK(last == "no verdict without 5 earlier runs, 1 is missing");
        if (runs == 5) CHECK(last.ends_with("  changed"));
    }
}

TEST_CASE("allows a deviation by Student's t distribution") {
    // The logarithms of these are 0, 0.1 ... 0.4 apart from the first: their mean is 0.2, their
    // deviation 0.1581, and one more run may be 8.610 times as far, times the root of 1.2.
    std::vector<Results> before;
    for (int i = 0; i < 5; ++i)
        before.push_back(
            steady_run(std::chrono::microseconds(std::lround(1e6 * std::exp(0.1 * i)))));
    const double factor = std::exp(0.2 + 8.610 * 0.15811 * std::sqrt(1.2));
    const auto verdict_on = [&](double times) {
        const auto now = std::chrono::microseconds(std::lround(1e6 * times));
        return std::string(row_of(compared(before, steady_run(now)), "p50").verdict);
    };
    CHECK(verdict_on(factor * 1.03) == "changed");
    CHECK(verdict_on(factor / 1.03) == "unclear");  // more than twice as long
    CHECK(verdict_on(std::exp(0.4) / factor * 1.03) == "unclear");
    CHECK(verdict_on(std::exp(0.4) / factor / 1.05) == "changed");
}

TEST_CASE("ignores changes within the spread, and always changes below two percent") {
    std::vector<Results> before(5, steady_run(1000us));
    CHECK(row_of(compared(before, steady_run(1012us)), "p50").verdict == std::string("same"));
    CHECK(row_of(compared(before, steady_run(1050us)), "p50").verdict ==
          std::string("changed"));
    before.push_back(steady_run(1040us));
    CHECK(row_of(compared(before, steady_run(1050us)), "p50").verdict == std::string("same"));
}

TEST_CASE("counts each loss if there were none before") {
    const std::vector<Results> before(5, steady_run(1ms));
    CHECK(row_of(compared(before, steady_run(1ms, 1)), "lost").verdict ==
          std::string("changed"));
    CHECK(row_of(compared(before, steady_run(1ms)), "lost").verdict == std::string("same"));
    CHECK(row_of(compared(before, steady_run(1ms, 900)), "rate").verdict ==
          std::string("changed"));
}

TEST_CASE("makes no row for a figure that one side did not measure") {
    CHECK(compared({Results()}, {}).rows.empty());
    Results unanswered;
    unanswered.count_sent(10, ev::Time{});
    CHECK(compared({steady_run(1ms)}, unanswered).rows.size() == 2);
    CHECK(compared({unanswered, steady_run(1ms)}, steady_run(1ms)).rows.size() == 9);
}

TEST_CASE("prints the median and the range of earlier runs, in the table and the object") {
    std::vector<Results> before;
    for (const int time : {210, 190, 200, 195, 205}) before.push_back(steady_run(time * 1us));
    Results now = steady_run(400us);
    now.bad = 40;
    const Comparison comparison = compared(before, now);
    const std::vector<std::string> table = comparison.table();
    REQUIRE(table.size() == 10);
    CHECK(table[0] == "           before                 range        now     change");
    CHECK(table[1] == "p50         0.2ms      0.19ms to 0.21ms      0.4ms      +100%  changed");
    CHECK(table[7] == "rate         1k/s          1k/s to 1k/s       1k/s         0%  same");
    CHECK(table[8] == "bad            0%              0% to 0%         4%        new  changed");
    CHECK(table[9] == "lost           0%              0% to 0%         0%         0%  same");
    CHECK(comparison.json().str().starts_with(
        R"({"p50":{"before":200.000,"least":190.000,"most":210.000,"now":400.000,)"
        R"("change":100.000,"verdict":"changed"},)"));
    CHECK(comparison.json().str().ends_with(
        R"("lost":{"before":0.000,"least":0.000,"most":0.000,"now":0.000,"change":0.000,)"
        R"("verdict":"same"},"runs":5})"));
    CHECK(compared({before.front()}, now).json().str().find("verdict") == std::string::npos);
}

TEST_CASE("takes the median of an even number of runs between the middle two") {
    EarlierRuns runs;
    for (const std::uint64_t lost : {1U, 9U, 2U, 4U}) runs.add(steady_run(1ms, lost));
    CHECK(runs.middle(*find_figure("lost")) == 3.0);
    REQUIRE(runs.compared(*find_figure("lost")).size() == 4);  // in percent
    CHECK(runs.compared(*find_figure("lost")).back() == Approx(0.9));
    CHECK_FALSE(runs.middle(*find_figure("jitter")));
}

TEST_CASE("compares the longest durations") {
    CHECK(compared({result_of({}, 1, 100)}, steady_run(ev::Duration::max())).rows.size() == 9);
}
