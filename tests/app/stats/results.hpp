// Results of imaginary runs. Their round trips come from a seeded generator, so that each
// figure is the same in each run of the tests.
#pragma once

#include "app/stats/results.hpp"
#include "tests/support/random.hpp"

#include <chrono>
#include <cmath>
#include <cstdint>

namespace test {

struct Service {
    double median_us = 200;
    double spread = 0.4;  // deviation of the logarithm
    double likeness = 0;  // similarity of consecutive round trips, from 0 to 1
    double tail = 0.01;   // the share of round trips that take ten times as long
    double loss = 0;      // the share of lost messages
    double factor = 1;    // slows down all round trips
};

inline void run(const Service& service, Random& random, std::uint64_t count,
                yodel::Results& to) {
    double state = random.normal();
    const double rest = std::sqrt(1 - service.likeness * service.likeness);
    ev::Time now{};
    for (std::uint64_t i = 0; i < count; ++i) {
        state = service.likeness * state + rest * random.normal();
        const bool slow = random.fraction() < service.tail;
        const double ns = service.median_us * 1e3 * service.factor *
                          std::exp(service.spread * state) * (slow ? 10 : 1);
        const auto time = ev::Duration(static_cast<std::int64_t>(ns));
        to.count_sent(1, now);
        now += time;
        if (random.fraction() < service.loss)
            ++to.lost;
        else
            to.count_answered({.round_trip = time}, now);
    }
    to.attempts = to.opened = 1;
}

inline yodel::Results result_of(const Service& service, std::uint64_t seed,
                                std::uint64_t count = 5000) {
    Random random(seed);
    yodel::Results result;
    run(service, random, count, result);
    return result;
}

// Counts the attempts to connect.
struct Connections {
    std::uint64_t attempts = 0;
    std::uint64_t opened = 0;
    std::uint64_t failed = 0;

    bool operator==(const Connections&) const = default;
};

inline Connections connections_of(const yodel::Results& results) {
    return {results.attempts, results.opened, results.failed};
}

// The time at which the messages of counted() were sent.
inline constexpr ev::Time start{std::chrono::hours(1)};

inline yodel::Results counted(std::uint64_t sent, std::uint64_t echoed, std::uint64_t bad = 0,
                              std::uint64_t lost = 0) {
    yodel::Results results;
    results.count_sent(sent, start);
    results.echoed = echoed;
    results.bad = bad;
    results.lost = lost;
    return results;
}

}  // namespace test
