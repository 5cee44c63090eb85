#include "app/run/schedule.hpp"

#include "tests/support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

using namespace std::chrono_literals;
using yodel::Pace;
using yodel::Schedule;

namespace {

const ev::Time begin{100s};

// Returns the next message if it is due, and passes it.
std::optional<Schedule::Message> take(Schedule& schedule, ev::Time now) {
    const auto message = schedule.due(now);
    if (message) schedule.pass(now);
    return message;
}

std::vector<std::uint64_t> due(Schedule& schedule, ev::Time now) {
    std::vector<std::uint64_t> numbers;
    while (const auto message = take(schedule, now)) numbers.push_back(message->number);
    return numbers;
}

}  // namespace

TEST_CASE("a message is due at its planned nanosecond and not before") {
    Schedule schedule({.pace = Pace::per_second(1'000'000)}, begin);
    CHECK_FALSE(take(schedule, begin - 1ns));
    for (std::uint64_t number = 0; number < 5'000; ++number) {
        const ev::Time planned = begin + number * 1ms;
        REQUIRE(schedule.next_time() == planned);
        REQUIRE_FALSE(take(schedule, planned - 1ns));
        const auto message = take(schedule, planned);
        REQUIRE(message);
        REQUIRE(message->number == number);
        REQUIRE(message->planned == planned);
    }
}

TEST_CASE("after a delay all due messages come at once, each with its planned time") {
    Schedule schedule({.pace = Pace::per_second(1'000'000)}, begin);
    for (std::uint64_t number = 0; number <= 1'400; ++number) {
        const auto message = take(schedule, begin + 1400ms);
        REQUIRE(message);
        REQUIRE(message->planned == begin + number * 1ms);
    }
    CHECK_FALSE(take(schedule, begin + 1400ms));
    CHECK(schedule.next_time() == begin + 1401ms);
}

TEST_CASE("a schedule ends after its count of messages or its length") {
    struct Row {
        std::uint64_t count;
        std::optional<ev::Duration> length;
        std::uint64_t messages;
    };
    const Row row = GENERATE(Row{3, {}, 3}, Row{0, 10ms, 10}, Row{0, 10ms + 1ns, 11},
                             Row{5, 10ms, 5}, Row{50, 10ms, 10});
    Schedule schedule(
        {.pace = Pace::per_second(1'000'000), .count = row.count, .length = row.length}, begin);
    CHECK_FALSE(schedule.over());
    CHECK(due(schedule, begin + 1h).size() == row.messages);
    CHECK(schedule.over());
}

TEST_CASE("due messages that were not passed are counted") {
    const std::size_t threads = GENERATE(as<std::size_t>{}, 1, 3);
    Schedule::Options options{.pace = Pace::per_second(1'000'000),
                              .seed = GENERATE(std::optional<std::uint64_t>(), 3),
                              .count = GENERATE(as<std::uint64_t>{}, 0, 50),
                              .length = GENERATE(std::optional<ev::Duration>(), 70ms, 1h),
                              .share = {.threads = threads, .connections = 4}};
    const ev::Duration elapsed = GENERATE(-1ms, 0ms, 1ms, 8ms, 49ms, 63ms, 64ms, 500ms);
    const ev::Duration taken = GENERATE(-1ms, 5ms, 60ms);
    std::uint64_t overdue = 0;
    std::uint64_t left = 0;
    for (; options.share.thread < threads; ++options.share.thread) {
        Schedule schedule(options, begin);
        due(schedule, begin + taken);
        overdue += schedule.overdue(begin + elapsed);
        left += due(schedule, begin + elapsed).size();
    }
    CHECK(overdue == left);
}

TEST_CASE("schedules that share a pace take turns") {
    Schedule::Options options{.pace = Pace::per_second(1'000'000),
                              .count = 8,
                              .share = {.threads = 3, .connections = 3}};
    std::vector<std::vector<std::uint64_t>> shares;
    for (options.share.thread = 0; options.share.thread < 3; ++options.share.thread) {
        Schedule schedule(options, begin);
        CHECK(schedule.next_time() == begin + options.share.thread * 1ms);
        shares.push_back(due(schedule, begin + 1h));
    }
    CHECK(shares == std::vector<std::vector<std::uint64_t>>{{0, 3, 6}, {1, 4, 7}, {2, 5}});
}

TEST_CASE("schedules that share a pace plan the times of one schedule") {
    Schedule::Options options{.pace = Pace::per_second(3'700'000),
                              .seed = GENERATE(std::optional<std::uint64_t>(), 3),
                              .length = 50ms};
    options.share.connections = GENERATE(range(std::size_t{1}, std::size_t{8}));
    const auto planned = [&] {
        std::vector<ev::Time> times;
        Schedule schedule(options, begin);
        while (const auto message = take(schedule, begin + 1h))
            times.push_back(message->planned);
        return times;
    };
    const std::vector<ev::Time> whole = planned();
    CHECK((options.seed || whole.size() == 185));
    std::vector<ev::Time> all;
    options.share.threads = GENERATE_COPY(range(std::size_t{1}, options.share.connections + 1));
    for (; options.share.thread < options.share.threads; ++options.share.thread) {
        const std::vector<ev::Time> part = planned();
        all.insert(all.end(), part.begin(), part.end());
    }
    std::sort(all.begin(), all.end());
    CHECK(all == whole);
}

TEST_CASE("a message stays the next one until it is passed") {
    Schedule schedule({.pace = Pace::per_second(1'000'000)}, begin);
    for (int i = 0; i < 3; ++i) {
        const auto message = schedule.due(begin + 5ms);
        REQUIRE(message);
        CHECK(message->number == 0);
        CHECK(schedule.overdue(begin + 5ms) == 6);
    }
    schedule.pass(begin + 5ms);
    CHECK(schedule.due(begin + 5ms)->number == 1);
    CHECK(schedule.overdue(begin + 5ms) == 5);
}

TEST_CASE("the kept rate is measured until the last message was passed") {
    Schedule schedule({.pace = Pace::per_second(1'000'000)}, begin);
    CHECK_FALSE(schedule.kept_fraction());
    schedule.pass(begin);
    CHECK_FALSE(schedule.kept_fraction());
    for (int i = 1; i <= 10; ++i) schedule.pass(begin + i * 2ms);
    CHECK(schedule.kept_fraction() == 0.5);
}

TEST_CASE("overdue messages with random gaps are not drawn one by one") {
    const std::size_t threads = GENERATE(1U, 4U);
    Schedule schedule({.pace = Pace::per_second(10'000'000'000),
                       .seed = 1,
                       .share = {.thread = 0, .threads = threads, .connections = 4}},
                      begin);
    const double overdue = static_cast<double>(schedule.overdue(begin + 24h));
    const double all = overdue * static_cast<double>(threads);
    CHECK(std::abs(all / (10e6 * 24 * 3600) - 1) < 0.01);
}

TEST_CASE("random gaps are distributed exponentially and repeat with their seed") {
    const auto planned = [](std::uint64_t seed) {
        std::vector<ev::Time> times;
        Schedule schedule({.pace = Pace::per_second(1'000'000), .seed = seed, .count = 100'000},
                          begin);
        while (const auto message = take(schedule, begin + 1h))
            times.push_back(message->planned);
        return times;
    };
    const std::vector<ev::Time> times = planned(1);
    REQUIRE(times.size() == 100'000);
    CHECK(times.front() == begin);
    CHECK(planned(1) == times);
    CHECK(planned(2) != times);
    // Part of the gaps that exceed each time; 0.0065 is four standard errors at 0.5.
    for (const double gap : {0.1, 0.5, 1.0, 2.0, 4.0}) {
        const auto exceeding = [&](std::size_t i) {
            return std::chrono::duration<double, std::milli>(times[i] - times[i - 1]).count() >
                   gap;
        };
        std::size_t count = 0;
        for (std::size_t i = 1; i < times.size(); ++i) count += exceeding(i);
        CHECK(std::abs(static_cast<double>(count) / 99'999 - std::exp(-gap)) < 0.0065);
    }
}

// With exponential service times of mean 1 and the load r, the time in the system is
// exponential. Its rate is 1 - r if messages arrive at random times (M/M/1), and 1 - s with
// s = exp(-(1 - s) / r) if they arrive at even ones (D/M/1). The waits of neighbours are
// correlated: over 40 seeds the percentiles deviated by at most 1.2, 3.2 and 7.8 % at the
// three loads.
TEST_CASE("messages wait for a single server as queueing theory predicts") {
    const auto [load, tolerance] =
        GENERATE(table<double, double>({{0.3, 0.02}, {0.6, 0.04}, {0.8, 0.09}}));
    const bool random_arrivals = GENERATE(true, false);
    double rate = 1 - load;
    double s = 0.5;
    for (int i = 0; i < 1000; ++i) s = std::exp(-(1 - s) / load);
    if (!random_arrivals) rate = 1 - s;

    Schedule schedule({.pace = Pace::per_second(static_cast<std::uint64_t>(load * 10'000'000)),
                       .seed = random_arrivals ? std::optional<std::uint64_t>(1) : std::nullopt,
                       .count = 400'000},
                      begin);
    constexpr double mean_service = 100'000;  // nanoseconds
    yodel::Random random(1001);
    std::vector<double> times;
    ev::Time free = begin;
    while (const auto message = take(schedule, begin + 24h)) {
        const ev::Duration service(std::llround(random.exponential() * mean_service));
        free = std::max(free, message->planned) + service;
        times.push_back(static_cast<double>((free - message->planned).count()) / mean_service);
    }
    for (const double part : {0.5, 0.9, 0.99}) {
        const double expected = -std::log(1 - part) / rate;
        const auto place =
            times.begin() + std::lround(part * static_cast<double>(times.size()));
        std::nth_element(times.begin(), place, times.end());
        const double found = *place;
        CAPTURE(load, random_arrivals, part, expected, found);
        CHECK(std::abs(found / expected - 1) < tolerance);
    }
}
