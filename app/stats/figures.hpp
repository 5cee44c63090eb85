// Lists the figures of a run in one table. Sums over threads, the end object, --require and the
// names in sentences derive from it. To add a count, add a member to Results and a row to the
// table. To add times, add a histogram and a row in `times_rows`.
#pragma once

#include "app/stats/results.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace yodel {

// Returns the statistic of the times: min, mean, max, or pN, the Nth percentile with 0 < N <
// 100. Returns none if the name is none of these.
std::optional<ev::Duration> statistic(const Histogram& times, std::string_view name);

// A histogram. Each of its statistics is a figure.
struct TimesRow {
    const char* name;
    const char* prefix;  // prefix of the figures' names
    Histogram Results::*times;
    const char* object;   // JSON object with a member for the main statistics
    const char* buckets;  // JSON array with the buckets of the histogram
    bool of_connections;  // both JSON members are in the object `connections`
    const char* unmeasured;
};
inline constexpr TimesRow times_rows[] = {
    {"round trip", "", &Results::round_trips, "rtt_us", "histogram", false,
     "no reply was timed"},
    {"lateness", "lateness_", &Results::lateness, "lateness_us", "lateness_histogram", false,
     "no message had a planned time"},
    {"connect", "connect_", &Results::connect_times, "connect_us", "connect_histogram", true,
     "no connection was opened"},
    {"handshake", "handshake_", &Results::handshake_times, "handshake_us",
     "handshake_histogram", true, "there was no handshake"},
};
// Returns the most important times of a run: round trips or, in a probe, handshakes if there
// are any, otherwise connect times.
const TimesRow& main_times(const Results& results);

struct Figure {
    enum class Kind { time, count, rate };
    // The total that percentages refer to. If it is 0, they prove nothing.
    struct Whole {
        std::uint64_t (*of)(const Results&);
        const char* empty;  // why the total is 0, as a clause
    };

    std::string name;
    Kind kind;
    std::string path;  // in the end object, such as connections.opened; empty: none of its own
    // Value in nanoseconds, as a count, or per second; none if not measured.
    std::function<std::optional<double>(const Results&)> value;
    const char* unmeasured = "";  // why there is no value, as a clause
    // The next three members are set only if the figure is a count.
    std::uint64_t Results::*count = nullptr;
    const Whole* whole = nullptr;
    bool fault = false;  // if above 0, the exit status is 1 unless a requirement decides

    bool of_connections() const { return path.starts_with("connections."); }
    // Returns the value as a percentage of the whole.
    std::optional<double> part(const Results& results) const;
};

// Returns all figures but the statistics of the times.
const std::vector<Figure>& figures();
// Returns the figure with this name, which may be a statistic with a prefix.
std::optional<Figure> find_figure(std::string_view name);
// Returns all names as a list for a sentence.
std::string figure_names();

}  // namespace yodel
