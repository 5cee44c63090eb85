#include "app/run/schedule.hpp"

#include "tests/support/catch.hpp"

#include <algorithm>
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

TEST_CASE("after a delay all that is due comes at once, each with its planned time") {
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

TEST_CASE("what is due and was not taken is counted") {
    const std::size_t threads = GENERATE(as<std::size_t>{}, 1, 3);
    Schedule::Options options{.pace = Pace::per_second(1'000'000),
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

TEST_CASE("schedules that share a pace have the planned times of one schedule") {
    Schedule::Options options{.pace = Pace::per_second(3'700'000), .length = 50ms};
    options.share.connections = GENERATE(range(std::size_t{1}, std::size_t{8}));
    const auto planned = [&] {
        std::vector<ev::Time> times;
        Schedule schedule(options, begin);
        while (const auto message = take(schedule, begin + 1h))
            times.push_back(message->planned);
        return times;
    };
    const std::vector<ev::Time> whole = planned();
    CHECK(whole.size() == 185);
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

TEST_CASE("the rate that was reached counts until the last message that was passed") {
    Schedule schedule({.pace = Pace::per_second(1'000'000)}, begin);
    CHECK_FALSE(schedule.reached());
    schedule.pass(begin);
    CHECK_FALSE(schedule.reached());
    for (int i = 1; i <= 10; ++i) schedule.pass(begin + i * 2ms);
    CHECK(schedule.reached() == 500);
}
