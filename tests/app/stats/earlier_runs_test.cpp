#include "app/stats/earlier_runs.hpp"

#include "tests/support/catch.hpp"

using namespace std::chrono_literals;
using namespace yodel;

namespace {

RunResult run_of(ev::Duration round_trip, double rate, std::uint64_t lost) {
    RunResult result;
    result.tally.sent = 10;
    result.tally.lost = lost;
    for (std::uint64_t i = lost; i < 10; ++i) result.tally.answered(true, false, round_trip);
    result.set_elapsed(1s);
    result.rate = rate;
    return result;
}

}  // namespace

TEST_CASE("earlier runs are added up, and their rate is the mean") {
    EarlierRuns runs;
    runs.add(run_of(100us, 50, 1));
    runs.add(run_of(300us, 70, 3));
    CHECK(runs.count() == 2);
    CHECK(runs.joint().tally.sent == 20);
    CHECK(runs.joint().tally.lost == 4);
    CHECK(runs.joint().tally.round_trips.count() == 16);
    CHECK(runs.joint().rate == 60);
    CHECK(runs.joint().elapsed == 2s);
}

TEST_CASE("a figure is usual by the spread of five runs or more") {
    EarlierRuns runs;
    for (const double rate : {98.0, 99.0, 101.0, 102.0}) runs.add(run_of(1ms, rate, 0));
    CHECK_FALSE(runs.usual(rate_figure, 100));
    runs.add(run_of(1ms, 100, 0));
    // The deviation is the root of 2.5, that of one more run 1.2 times its square; the critical
    // value of four degrees of freedom is 15.134.
    CHECK(runs.usual(rate_figure, 100 + 26.2));
    CHECK(runs.usual(rate_figure, 100 - 26.2));
    CHECK_FALSE(runs.usual(rate_figure, 100 + 26.3));
    CHECK_FALSE(runs.usual(rate_figure, 100 - 26.3));
}

TEST_CASE(
    "nothing is usual by runs that are all the same, which their own noise has to judge") {
    EarlierRuns runs;
    for (int i = 0; i < 7; ++i) runs.add(run_of(1ms, 100, 0));
    CHECK_FALSE(runs.usual(rate_figure, 100));
    CHECK_FALSE(runs.usual(lost_figure, 0));
}

TEST_CASE("a run without a figure does not count for it") {
    EarlierRuns runs;
    for (int i = 0; i < 4; ++i) runs.add(run_of(ev::Duration(1'000'000 + i), 100 + i, 0));
    runs.add(RunResult());
    CHECK(runs.count() == 5);
    CHECK_FALSE(runs.usual(0, 1e6));
    CHECK(compared_figures(RunResult())[0] == std::nullopt);
    CHECK(compared_figures(RunResult())[lost_figure] == std::nullopt);
    CHECK(compared_figures(run_of(1ms, 5, 2))[lost_figure] == 20.0);
}
