#include "app/stats/run_result.hpp"

#include "tests/support/catch.hpp"

using namespace std::chrono_literals;
using namespace yodel;

namespace {

RunResult some_result(int count, ev::Duration round_trip) {
    RunResult result;
    for (int i = 0; i < count; ++i) {
        ++result.tally.sent;
        result.tally.answered(true, false, round_trip);
        result.lateness.record(1us);
    }
    result.connections = {.asked = 3, .opened = 0, .failed = 1};
    result.count_opened(round_trip, std::nullopt);
    result.count_opened(round_trip, 2 * round_trip);
    result.add_tcp({.min_rtt = round_trip / 2, .retransmits = 3, .mss = 1448, .cwnd = 10});
    result.count_failure("connection refused", 7);
    return result;
}

}  // namespace

TEST_CASE("results are added up exactly") {
    RunResult sum = some_result(10, 1ms);
    sum.set_elapsed(2s);
    RunResult other = some_result(30, 5ms);
    other.count_failure("timed out", 28, 2);
    other.tally.late = 1;
    other.set_elapsed(3s);
    sum.add(other);
    CHECK(sum.tally.sent == 40);
    CHECK(sum.tally.echoed == 40);
    CHECK(sum.tally.late == 1);
    CHECK(sum.tally.round_trips.count() == 40);
    CHECK(sum.tally.round_trips.max() == 5ms);
    CHECK(sum.lateness.count() == 40);
    CHECK(sum.connections == RunResult::Connections{6, 4, 2});
    CHECK(sum.failures ==
          std::vector<RunResult::Failure>{{"connection refused", 7, 2}, {"timed out", 28, 2}});
    CHECK(sum.connect_times.count() == 4);
    CHECK(sum.connect_times.max() == 5ms);
    CHECK(sum.handshake_times.count() == 2);
    CHECK(sum.handshake_times.max() == 10ms);
    CHECK(sum.tcp == TcpTotals{500us, 6, 1448, 10});
    CHECK(sum.elapsed == 3s);
    CHECK(sum.rate == 15);
}

TEST_CASE("the rate is that of right replies, and 0 where no time passed") {
    RunResult result = some_result(10, 1ms);
    CHECK(result.rate == 0);
    result.set_elapsed(0s);
    CHECK(result.rate == 0);
    result.set_elapsed(500ms);
    CHECK(result.rate == 20);
}

TEST_CASE("the status of a sum is that of the first failure, or else 1") {
    const auto [a, b, sum] = GENERATE(table<int, int, int>(
        {{0, 0, 0}, {0, 1, 1}, {1, 0, 1}, {1, 7, 7}, {7, 1, 7}, {7, 28, 7}, {0, 28, 28}}));
    RunResult result;
    result.status = a;
    RunResult other;
    other.status = b;
    result.add(other);
    CHECK(result.status == sum);
}

TEST_CASE("sentences of failures are bounded in number, and none is lost") {
    RunResult result;
    for (std::size_t i = 0; i < 10 * RunResult::most_failures; ++i)
        result.count_failure("failure " + std::to_string(i), 7);
    CHECK(result.failures.size() == RunResult::most_failures);
    CHECK(result.failures.front().text == "failure 0");
    CHECK(result.failures.back().text == "other failures");
    std::uint64_t count = 0;
    for (const RunResult::Failure& failure : result.failures) count += failure.count;
    CHECK(count == 10 * RunResult::most_failures);
}

TEST_CASE("the variance factors of results without batches join by effective numbers") {
    RunResult a = some_result(100, 1ms);
    a.variance_factors.fill(4);
    RunResult b = some_result(100, 1ms);
    a.add(b);
    CHECK(a.variance_factors[0] == 1.6);  // 200 / (100 / 4 + 100)
    CHECK(a.variance_factor_of_mean == 1);
}
