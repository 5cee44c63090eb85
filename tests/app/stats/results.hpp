// Results of imaginary runs, from lists of counts and back.
#pragma once

#include "app/stats/results.hpp"
#include "app/text/units.hpp"

#include <chrono>
#include <cstdint>
#include <string>

namespace test {

// The time at which the messages of counted() were sent.
inline constexpr ev::Time start{std::chrono::hours(1)};

// Returns results with the counts of a list such as "5 sent,4 echoed,1 warm-up lost".
inline yodel::RunResults counted(const std::string& list) {
    yodel::RunResults results;
    results.first_sent = start;
    for (const std::string& part : yodel::comma_separated(list)) {
        const std::size_t blank = part.find(' ');
        const std::uint64_t number = std::stoull(part);
        const std::string name = part.substr(blank + 1);
        if (name == "stale") results.stale = number;
        for (const yodel::CountRow& row : yodel::count_rows) {
            if (name == row.name) results.*row.count = number;
            if (name == "warm-up " + std::string(row.name)) results.warm_up.*row.count = number;
        }
    }
    return results;
}

// Returns the counts above 0, in the order of their figures: "5 sent, 4 echoed".
inline std::string listed(const yodel::Results& results, const yodel::Results& warm_up = {}) {
    std::vector<std::string> parts;
    const auto add = [&parts](std::uint64_t number, const std::string& name) {
        if (number > 0) parts.push_back(std::to_string(number) + " " + name);
    };
    for (const yodel::CountRow& row : yodel::count_rows) add(results.*row.count, row.name);
    for (const yodel::CountRow& row : yodel::count_rows)
        add(warm_up.*row.count, "warm-up " + std::string(row.name));
    add(results.as_recorded, "recurred");
    add(results.unrecorded, "unrecorded");
    add(results.missing, "missing");
    return yodel::join(parts, ", ");
}

// Counts right replies with this round trip.
inline void add_echo(yodel::Results& results, std::optional<ev::Duration> round_trip,
                     ev::Time at = start, std::size_t count = 1) {
    yodel::Event event{.fate = yodel::Fate::echoed, .at = at, .count = count};
    event.reply.round_trip = round_trip;
    event.reply.right = true;
    results.add(event);
}
inline void add_sent(yodel::Results& results, std::size_t count, ev::Time at = start) {
    results.add(yodel::Event{.fate = yodel::Fate::sent, .at = at, .count = count});
}

// Returns results with round trips of many lengths. One message in a hundred is lost.
inline yodel::RunResults spread(std::uint64_t seed, std::uint64_t count) {
    yodel::RunResults results = counted("1 attempts,1 opened");
    results.first_sent.reset();
    for (std::uint64_t i = 0; i < count; ++i) {
        const auto time = std::chrono::microseconds((i * i * 7 + seed * 11) % 1000 + 1);
        add_sent(results, 1, start + i * time);
        if (i % 100 == 99)
            ++results.lost;
        else
            add_echo(results, time, start + i * time + time);
    }
    return results;
}

}  // namespace test
