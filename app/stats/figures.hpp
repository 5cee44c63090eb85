// Lists the members of Results in one table. Sums over threads, the end object, --require and
// the names in sentences derive from it. To add a count, add a member to Results and a row. To
// add times, add a histogram and a row.
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

// The total that percentages of a count refer to. If it is 0, they prove nothing.
struct Whole {
    std::uint64_t (*of)(const Results&);
    const char* empty;  // why the total is 0, as a clause
    bool of_connections = false;
    // A count that is not measured is not in JSON, and has no value.
    bool (*measured)(const Results&) = [](const Results&) { return true; };
    const char* unmeasured = "";
};
namespace whole {
constexpr std::uint64_t sent(const Results& results) { return results.sent; }
constexpr std::uint64_t handshakes_of(const Results& results) {
    return results.handshakes_full + results.handshakes_resumed;
}
inline constexpr Whole messages{sent, "nothing was sent"};
inline constexpr Whole datagrams{sent, "nothing was sent", false,
                                 [](const Results& results) { return results.over_datagrams; },
                                 "messages were not datagrams"};
inline constexpr Whole due{[](const Results& results) { return results.sent + results.unsent; },
                           "no message was due"};
inline constexpr Whole attempts{[](const Results& results) { return results.attempts; },
                                "no connection was attempted", true};
inline constexpr Whole handshakes{
    handshakes_of, "there was no TLS handshake", true,
    [](const Results& results) { return handshakes_of(results) > 0; },
    "there was no TLS handshake"};
}  // namespace whole

// A count that is a figure.
struct CountRow {
    const char* name;  // also in JSON
    std::uint64_t Results::*count;
    const Whole* whole;
    bool fault = false;  // if above 0, the exit status is 1 unless a requirement decides
};
inline constexpr CountRow count_rows[] = {
    {"sent", &Results::sent, &whole::messages},
    {"echoed", &Results::echoed, &whole::messages},
    {"bad", &Results::bad, &whole::messages, true},
    {"lost", &Results::lost, &whole::messages, true},
    {"late", &Results::late, &whole::messages},
    {"unsent", &Results::unsent, &whole::due, true},
    {"unsolicited", &Results::unsolicited, &whole::messages, true},
    {"duplicates", &Results::duplicates, &whole::messages, true},
    {"reordered", &Results::reordered, &whole::datagrams},
    {"attempts", &Results::attempts, &whole::attempts},
    {"opened", &Results::opened, &whole::attempts},
    {"failed", &Results::failed, &whole::attempts},
    {"handshakes_full", &Results::handshakes_full, &whole::handshakes},
    {"handshakes_resumed", &Results::handshakes_resumed, &whole::handshakes},
};

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

template <class Visitor>
void Results::fields(const Visitor& visit) {
    for (const CountRow& row : count_rows) visit(row.name, row.count, row);
    for (const TimesRow& row : times_rows) visit(row.object, row.times, row);
    visit("probe", &Results::probe);
    visit("late_start_us", &Results::late_start);
    visit("tcp", &Results::tcp);
    visit("replay", &Results::replay);
    visit("", &Results::stale);
    visit("", &Results::over_datagrams);
    visit("", &Results::jitter_sum);
    visit("", &Results::jitter_count);
    visit("", &Results::planned_rate);
    visit("", &Results::first_sent);
    visit("", &Results::last_answered);
    visit("", &Results::reply_problem_sentence);
    visit("", &Results::lost_sentence);
    visit("", &Results::unsent_sentence);
    visit("", &Results::unverified_remark);
    visit("", &Results::ended_status);
    visit("", &Results::failed_status);
}
// Returns the most important times of a run: round trips or, in a probe, handshakes if there
// are any, otherwise connect times.
const TimesRow& main_times(const Results& results);

struct Figure {
    enum class Kind { time, count, rate };
    std::string name;
    Kind kind;
    // Value in nanoseconds, as a count, or per second; none if not measured.
    std::function<std::optional<double>(const Results&)> value;
    const char* unmeasured = "";      // why there is no value, as a clause
    const CountRow* count = nullptr;  // null unless the figure is a count
    bool of_connections = false;      // it can be measured only for the whole run
};

// Returns all figures but the statistics of the times.
const std::vector<Figure>& figures();
// Returns the figure with this name, which may be a statistic with a prefix.
std::optional<Figure> find_figure(std::string_view name);
// Returns all names as a list for a sentence.
std::string figure_names();

}  // namespace yodel
