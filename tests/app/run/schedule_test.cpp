#include "app/run/schedule.hpp"

#include "tests/support/catch.hpp"

#include <cmath>

using namespace std::chrono_literals;
using yodel::Pace;
using yodel::Schedule;
using yodel::Share;

namespace {

const ev::Time begin{100s};
const Pace per_ms = Pace::per_1000_seconds(1'000'000);

// Passes the messages that are due, and returns their planned times.
std::vector<ev::Time> take_all(Schedule& schedule, ev::Time now) {
    std::vector<ev::Time> planned;
    while (const auto due = schedule.due(now)) {
        planned.push_back(*due);
        schedule.pass(now);
    }
    return planned;
}

// Returns the planned times of an hour.
std::vector<ev::Time> times(const Schedule::Options& options) {
    Schedule schedule(options, begin);
    return take_all(schedule, begin + 1h);
}

// Calls `check` with the shares of each run of up to 8 connections.
template <class Check>
void with_all_shares(Check check) {
    for (std::size_t connections = 1; connections <= 8; ++connections)
        for (std::size_t threads = 1; threads <= connections; ++threads) {
            CAPTURE(connections, threads);
            std::vector<Share> shares;
            for (std::size_t thread = 0; thread < threads; ++thread)
                shares.push_back({thread, threads, connections});
            check(shares);
        }
}

}  // namespace

TEST_CASE("a pace plans each message to the nanosecond, and does not drift in a year") {
    constexpr std::uint64_t year = 365 * 86400;
    struct Row {
        Pace pace;
        std::uint64_t number;
        ev::Duration offset;
    };
    const Row rows[] = {
        {Pace::per_1000_seconds(20'000'000), 0, 0ns},
        {Pace::per_1000_seconds(20'000'000), 1, 50us},
        {Pace::per_1000_seconds(20'000'000), 19'999, 1s - 50us},
        {Pace::per_1000_seconds(20'000'000), 20'000, 1s},
        {Pace::per_1000_seconds(3'000), 1, 333'333'333ns},
        {Pace::per_1000_seconds(3'000), 2, 666'666'667ns},
        {Pace::per_1000_seconds(3'000), 3 * year, std::chrono::seconds(year)},
        {Pace::per_1000_seconds(3'000), 3 * year + 1,
         std::chrono::seconds(year) + 333'333'333ns},
        {Pace::per_1000_seconds(7'001), 7'001 * (year / 1000), std::chrono::seconds(year)},
        {Pace::per_1000_seconds(2'500), 1, 400ms},
        {Pace::per_1000_seconds(1), 1, 1000s},
        {Pace(200, 250us), 1, 1250ns},
        {Pace(200, 250us), 199, 248'750ns},
        {Pace(200, 250us), 200, 250us},
    };
    for (const Row& row : rows) {
        CAPTURE(row.pace.rate(), row.number);
        CHECK(row.pace.offset(row.number) == row.offset);
    }
}

// At the planned time of message n, the integral of the rate is n.
TEST_CASE("a climbing pace plans each message at the integral of its rate, to the nanosecond") {
    const Pace climb = Pace::per_1000_seconds(1'000'000).climbing_to(20'000, 20s);
    CHECK(climb.climbs());
    CHECK_FALSE(climb.steady().climbs());
    CHECK(climb.rate() == 1000);
    CHECK(climb.rate(10s) == Approx(10'500));
    CHECK(climb.rate(20s) == Approx(20'000));
    struct Row {
        std::uint64_t number;
        ev::Duration offset;
    };
    // 1000 t + 475 t^2
    for (const auto& [number, offset] :
         {Row{0, 0ns}, {1, 999'525ns}, {1475, 1s}, {3900, 2s}, {57'500, 10s}, {210'000, 20s}}) {
        CAPTURE(number);
        CHECK(climb.offset(number) == offset);
        CHECK(climb.offset_at(static_cast<double>(number)) == offset);
    }
    for (std::uint64_t n = 1; n < 210'000; n += 97) {
        const long double t = climb.offset(n).count() / 1e9L;
        REQUIRE(std::abs(1000 * t + 475 * t * t - static_cast<long double>(n)) < 1e-5L);
    }
    const Pace day = Pace::per_1000_seconds(1).climbing_to(10e6, 24h);
    CHECK(day.offset(432'000'000'043) == 24h - 20ns);  // at 10M/s, 0.2 messages take 20 ns
}

TEST_CASE("the shares of a run contain each connection and each message once") {
    with_all_shares([](const std::vector<Share>& shares) {
        std::vector<int> owners(shares[0].connections);
        for (const Share& share : shares) {
            CHECK(share.own_connection_count() > 0);
            for (std::size_t place = 0; place < share.own_connection_count(); ++place)
                ++owners.at(share.number_of(place));
        }
        CHECK(owners == std::vector<int>(owners.size(), 1));
        for (const std::uint64_t count : {0u, 1u, 2u, 5u, 8u, 100u, 1001u}) {
            std::uint64_t sum = 0;
            for (const Share& share : shares) {
                std::uint64_t own = 0;
                for (std::uint64_t n = share.thread; n < count; n = share.message_after(n)) {
                    REQUIRE(n % share.connections % share.threads == share.thread);
                    ++own;
                }
                CHECK(share.own_message_count(count) == own);
                sum += own;
            }
            CHECK(sum == count);
        }
    });
}

TEST_CASE(
    "a message is due at its planned nanosecond, and stays the next one until it is passed") {
    Schedule schedule({.pace = per_ms}, begin);
    for (std::uint64_t number = 0; number < 5'000; ++number) {
        const ev::Time planned = begin + number * 1ms;
        REQUIRE(schedule.next_at() == planned);
        REQUIRE_FALSE(schedule.due(planned - 1ns));
        for (const std::uint64_t late : {0U, 5U}) {
            REQUIRE(schedule.due(planned + late * 1ms) == planned);
            REQUIRE(schedule.overdue(planned + late * 1ms) == 1 + late);
        }
        schedule.pass(planned);
    }
}

TEST_CASE("a schedule ends after its count of messages or its length") {
    struct Row {
        std::uint64_t count;
        std::optional<ev::Duration> length;
        std::uint64_t messages;
    };
    const Row rows[] = {
        {3, {}, 3}, {0, 10ms, 10}, {0, 10ms + 1ns, 11}, {5, 10ms, 5}, {50, 10ms, 10}};
    for (const Row& row : rows) {
        Schedule schedule({.pace = per_ms, .count = row.count, .length = row.length}, begin);
        CHECK_FALSE(schedule.is_over());
        CHECK(take_all(schedule, begin + 1h).size() == row.messages);
        CHECK(schedule.is_over());
    }
}

TEST_CASE("due messages that were not passed are counted") {
    const std::size_t threads = GENERATE(as<std::size_t>{}, 1, 3);
    Schedule::Options options{.pace = per_ms,
                              .seed = GENERATE(std::optional<std::uint64_t>(), 3),
                              .count = GENERATE(as<std::uint64_t>{}, 0, 50),
                              .length = GENERATE(std::optional<ev::Duration>(), 70ms, 1h),
                              .share = {.threads = threads, .connections = 4}};
    for (const ev::Duration elapsed :
         std::initializer_list<ev::Duration>{-1ms, 0ms, 1ms, 8ms, 49ms, 63ms, 64ms, 500ms})
        for (const ev::Duration taken : {-1ms, 5ms, 60ms}) {
            CAPTURE(elapsed.count(), taken.count());
            std::uint64_t overdue = 0;
            std::uint64_t left = 0;
            for (options.share.thread = 0; options.share.thread < threads;
                 ++options.share.thread) {
                Schedule schedule(options, begin);
                take_all(schedule, begin + taken);
                overdue += schedule.overdue(begin + elapsed);
                left += take_all(schedule, begin + elapsed).size();
            }
            CHECK(overdue == left);
        }
}

TEST_CASE("overdue messages with random gaps are not drawn one by one") {
    for (const std::size_t threads : {1U, 4U}) {
        Schedule schedule({.pace = Pace::per_1000_seconds(10'000'000'000),
                           .seed = 1,
                           .share = {.thread = 0, .threads = threads, .connections = 4}},
                          begin);
        const double overdue = static_cast<double>(schedule.overdue(begin + 24h));
        const double all = overdue * static_cast<double>(threads);
        CHECK(std::abs(all / (10e6 * 24 * 3600) - 1) < 0.01);
    }
}

TEST_CASE("schedules that share a pace take turns, and plan the times of one schedule") {
    const bool climbs = GENERATE(false, true);
    const Pace even = Pace::per_1000_seconds(3'700'000);
    Schedule::Options options{.pace = climbs ? even.climbing_to(5'700, 50ms) : even,
                              .seed = GENERATE(std::optional<std::uint64_t>(), 3),
                              .length = 50ms};
    const std::vector<ev::Time> whole = times(options);
    CHECK(whole.size() == Approx(climbs ? 235 : 185).margin(options.seed ? 40 : 0));
    // A climb has 105 of its 235 messages in the first half of the time.
    const auto half = std::count_if(whole.begin(), whole.end(),
                                    [](ev::Time time) { return time < begin + 25ms; });
    CHECK(half == Approx(climbs ? 105 : 93).margin(options.seed ? 30 : 0));
    with_all_shares([&](const std::vector<Share>& shares) {
        std::vector<ev::Time> all(whole.size());
        for (const Share& share : shares) {
            options.share = share;
            Schedule schedule(options, begin);
            std::uint64_t number = share.thread;
            for (const ev::Time planned : take_all(schedule, begin + 1h)) {
                all.at(number) = planned;
                number = share.message_after(number);
            }
        }
        CHECK(all == whole);
    });
}

TEST_CASE("the reached rate is measured until the last message was passed") {
    Schedule schedule({.pace = per_ms}, begin);
    CHECK_FALSE(schedule.reached_share());
    schedule.pass(begin);
    CHECK_FALSE(schedule.reached_share());
    for (int i = 1; i <= 10; ++i) schedule.pass(begin + i * 2ms);
    CHECK(schedule.reached_share() == 0.5);
}

// Checks for a Poisson process. 0.0065 is four standard errors of a share of 0.5.
TEST_CASE("random gaps are exponential and independent, and repeat with their seed") {
    Schedule::Options options{.pace = per_ms, .seed = 1, .count = 100'000};
    const std::vector<ev::Time> planned = times(options);
    REQUIRE(planned.size() == 100'000);
    CHECK(planned.front() == begin);
    CHECK(times(options) == planned);
    options.seed = 2;
    CHECK(times(options) != planned);
    for (const double limit : {0.1, 0.5, 1.0, 2.0, 4.0}) {
        const auto exceeds = [&](std::size_t i) {
            return std::chrono::duration<double, std::milli>(planned[i] - planned[i - 1])
                       .count() > limit;
        };
        int single = 0;
        int pairs = 0;
        for (std::size_t i = 2; i < planned.size(); ++i) {
            single += exceeds(i) ? 1 : 0;
            pairs += exceeds(i) && exceeds(i - 1) ? 1 : 0;
        }
        CHECK(std::abs(single / 99'998.0 - std::exp(-limit)) < 0.0065);
        CHECK(std::abs(pairs / 99'998.0 - std::exp(-2 * limit)) < 0.0065);
    }
}
