// Results of imaginary runs, from lists of counts and back.
#pragma once

#include "app/stats/results.hpp"
#include "app/text/units.hpp"
#include "tests/support/catch.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <regex>
#include <string>

namespace test {

// The time at which the messages of counted() were sent.
inline constexpr ev::Time start{std::chrono::hours(1)};

// Counts right replies with this round trip.
inline void add_echo(yodel::Results& results, std::optional<ev::Duration> round_trip,
                     ev::Time at = start, std::size_t count = 1) {
    yodel::Event event{.fate = yodel::Fate::echoed, .at = at, .count = count};
    event.reply.round_trip = round_trip;
    event.reply.is_right = true;
    results.add(event);
}
inline void add_sent(yodel::Results& results, std::size_t count, ev::Time at = start) {
    results.add(yodel::Event{.fate = yodel::Fate::sent, .at = at, .count = count});
}

// Sets a fact of a run, or records times.
inline void set(yodel::RunResults& to, const std::string& name, std::uint64_t number,
                const std::string& value) {
    const auto time = [&] { return yodel::parse_duration(value).value(); };
    const auto decimal = [&] { return yodel::parse_decimal(value).value(); };
    const std::map<std::string, std::function<void()>> actions{
        {"stale", [&] { to.stale = number; }},
        {"recurred", [&] { to.as_recorded = number; }},
        {"unrecorded", [&] { to.unrecorded = number; }},
        {"missing", [&] { to.missing = number; }},
        {"probe", [&] { to.is_probe = true; }},
        {"replay", [&] { to.is_replay = true; }},
        {"datagrams", [&] { to.uses_datagrams = true; }},
        {"planned", [&] { to.planned_rate = decimal(); }},
        {"reached", [&] { to.reached_rate = decimal(); }},
        {"answered", [&] { to.last_answered_at = start + time(); }},
        {"late start", [&] { to.late_start = time(); }},
        {"echo", [&] { add_echo(to, time(), start, number); }},
        {"rtt", [&] { to.round_trips.record(time(), number); }},
        {"lateness", [&] { to.lateness.record(time(), number); }},
        {"connect", [&] { to.connect_times.record(time(), number); }},
        {"handshake", [&] { to.handshake_times.record(time(), number); }},
        {"network", [&] { to.add_tcp({.min_rtt = time(), .mss = 5}); }},
        {"jitter", [&] { to.jitters = {{.mean = decimal(), .transits = 1}}; }},
        {"refused", [&] { to.count_failure("refused", 7, false, number); }}};
    actions.at(name)();
}

// Returns the results of a list such as "5 sent,4 echoed,1 warm-up lost,probe,2 rtt 5ms":
// counts and facts.
inline yodel::RunResults counted(const std::string& list) {
    yodel::RunResults results;
    results.first_sent_at = start;
    for (const std::string& part : yodel::comma_separated(list)) {
        std::smatch words;
        REQUIRE(
            std::regex_match(part, words, std::regex("(?:(\\d+) )?(.*?)(?: ([\\d.]+\\w*))?")));
        const std::uint64_t number = words[1].matched ? std::stoull(words[1]) : 1;
        const std::string name = words[2];
        bool found = false;
        for (const yodel::CountRow& row : yodel::count_rows)
            for (const auto& [to, prefix] :
                 {std::pair(static_cast<yodel::Results*>(&results), ""),
                  {&results.warm_up, "warm-up "}})
                if (name == std::string(prefix) + row.name) {
                    to->*row.count = number;
                    found = true;
                }
        if (!found) set(results, name, number, words[3]);
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

// Returns results with round trips of many lengths. One message in a hundred is lost.
inline yodel::RunResults spread(std::uint64_t seed, std::uint64_t count) {
    yodel::RunResults results = counted("1 attempts,1 opened");
    results.first_sent_at.reset();
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
