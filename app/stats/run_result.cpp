#include "app/stats/run_result.hpp"

#include <algorithm>
#include <chrono>

namespace yodel {

namespace {

// Effective numbers of round trips add up; the factor is the number divided by the effective
// one.
double joint_factor(double a, std::uint64_t a_count, double b, std::uint64_t b_count) {
    if (a_count + b_count == 0) return 1;
    const double effective =
        static_cast<double>(a_count) / a + static_cast<double>(b_count) / b;
    return static_cast<double>(a_count + b_count) / effective;
}

// The status of a failure that curl has a number for is more telling than 1.
int graver(int a, int b) { return a == 0 || (a == 1 && b > 1) ? b : a; }

}  // namespace

void RunResult::count_opened(ev::Duration connect_time,
                             std::optional<ev::Duration> handshake_time) {
    ++connections.opened;
    connect_times.record(connect_time);
    if (handshake_time) handshake_times.record(*handshake_time);
}

void RunResult::add_tcp(const TcpTotals& facts) {
    if (tcp) {
        tcp->add(facts);
    } else {
        tcp = facts;
    }
}

void RunResult::add_planned_rate(const PlannedRate& more) {
    if (!planned_rate) planned_rate.emplace();
    planned_rate->add(more);
}

void RunResult::count_failure(std::string_view text, int failure_status, std::uint64_t times) {
    const auto same = std::find_if(failures.begin(), failures.end(), [&](const Failure& one) {
        return one.text == text && one.status == failure_status;
    });
    if (same != failures.end()) {
        same->count += times;
    } else if (failures.size() < most_failures) {
        failures.push_back({std::string(text), failure_status, times});
    } else {
        failures.back().text = "other failures";
        failures.back().count += times;
    }
}

void RunResult::set_elapsed(ev::Duration time) {
    elapsed = time;
    const double seconds = std::chrono::duration<double>(time).count();
    rate = seconds > 0 ? static_cast<double>(tally.echoed) / seconds : 0;
    for (std::size_t i = 0; i < percentiles.size(); ++i)
        variance_factors[i] = tally.batches.variance_factor(percentiles[i].percent);
    variance_factor_of_mean = tally.batches.variance_factor_of_mean();
}

void RunResult::add(const RunResult& other) {
    add_variance_factors(other);
    tally.add(other.tally);
    lateness.add(other.lateness);
    connections.asked += other.connections.asked;
    connections.opened += other.connections.opened;
    connections.failed += other.connections.failed;
    connect_times.add(other.connect_times);
    handshake_times.add(other.handshake_times);
    if (other.tcp) add_tcp(*other.tcp);
    if (other.planned_rate) add_planned_rate(*other.planned_rate);
    for (const Failure& failure : other.failures)
        count_failure(failure.text, failure.status, failure.count);
    elapsed = std::max(elapsed, other.elapsed);
    rate += other.rate;
    status = graver(status, other.status);
}

// Before the round trips are added up, whose numbers are the weights.
void RunResult::add_variance_factors(const RunResult& other) {
    const std::uint64_t count = tally.round_trips.count();
    const std::uint64_t other_count = other.tally.round_trips.count();
    for (std::size_t i = 0; i < percentiles.size(); ++i)
        variance_factors[i] =
            joint_factor(variance_factors[i], count, other.variance_factors[i], other_count);
    variance_factor_of_mean = joint_factor(variance_factor_of_mean, count,
                                           other.variance_factor_of_mean, other_count);
}

}  // namespace yodel
