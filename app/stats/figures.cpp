#include "app/stats/figures.hpp"

#include "app/text/units.hpp"

namespace yodel {

namespace {

using Kind = Figure::Kind;
using Value = std::optional<double>;

constexpr Figure::Whole sent_messages{[](const Results& results) { return results.sent; },
                                      "nothing was sent"};
constexpr Figure::Whole due_messages{
    [](const Results& results) { return results.sent + results.unsent; }, "no message was due"};
constexpr Figure::Whole attempts{[](const Results& results) { return results.attempts; },
                                 "no connection was attempted"};
constexpr Figure::Whole handshakes{
    [](const Results& results) { return results.handshakes_full + results.handshakes_resumed; },
    "there was no TLS handshake"};

// A count that is a figure.
struct CountRow {
    const char* name;
    std::uint64_t Results::*count;
    const Figure::Whole* whole = &sent_messages;
    bool fault = false;
    bool (*measured)(const Results&) = [](const Results&) { return true; };
    const char* unmeasured = "";
};

bool any_handshake(const Results& results) { return handshakes.of(results) > 0; }

constexpr CountRow count_rows[] = {
    {"sent", &Results::sent},
    {"echoed", &Results::echoed},
    {"bad", &Results::bad, &sent_messages, true},
    {"lost", &Results::lost, &sent_messages, true},
    {"late", &Results::late},
    {"unsent", &Results::unsent, &due_messages, true},
    {"unsolicited", &Results::unsolicited, &sent_messages, true},
    {"duplicates", &Results::duplicates, &sent_messages, true},
    {"reordered", &Results::reordered, &sent_messages, false,
     [](const Results& results) { return results.over_datagrams; },
     "messages were not datagrams"},
    {"attempts", &Results::attempts, &attempts},
    {"opened", &Results::opened, &attempts},
    {"failed", &Results::failed, &attempts},
    {"handshakes_full", &Results::handshakes_full, &handshakes, false, any_handshake,
     handshakes.empty},
    {"handshakes_resumed", &Results::handshakes_resumed, &handshakes, false, any_handshake,
     handshakes.empty},
};

Figure count_figure(const CountRow& row) {
    const bool of_connections = row.whole == &attempts || row.whole == &handshakes;
    return {.name = row.name,
            .kind = Kind::count,
            .path = (of_connections ? "connections." : "") + std::string(row.name),
            .value = [&row](const Results& results) -> Value {
                if (!row.measured(results)) return std::nullopt;
                return static_cast<double>(results.*row.count);
            },
            .unmeasured = row.unmeasured,
            .count = row.count,
            .whole = row.whole,
            .fault = row.fault};
}

Figure time_figure(const TimesRow& row, const std::string& name) {
    return {.name = row.prefix + name,
            .kind = Kind::time,
            .path = {},
            .value = [&row, name](const Results& results) -> Value {
                const Histogram& times = results.*row.times;
                if (times.count() == 0) return std::nullopt;
                return static_cast<double>(statistic(times, name)->count());
            },
            .unmeasured = row.unmeasured};
}

std::vector<Figure> all_figures() {
    std::vector<Figure> all;
    all.push_back({.name = "rate",
                   .kind = Kind::rate,
                   .path = "rate",
                   .value = [](const Results& results) -> Value {
                       return results.achieved_count() > 0 ? Value(results.rate())
                                                           : std::nullopt;
                   },
                   .unmeasured = "no reply was right"});
    all.push_back({.name = "jitter",
                   .kind = Kind::time,
                   .path = "jitter_us",
                   .value = [](const Results& results) -> Value {
                       if (results.jitter_count == 0) return std::nullopt;
                       return static_cast<double>(results.jitter().count());
                   },
                   .unmeasured = "no datagrams were timed"});
    for (const CountRow& row : count_rows) all.push_back(count_figure(row));
    return all;
}

}  // namespace

std::optional<ev::Duration> statistic(const Histogram& times, std::string_view name) {
    if (name == "min") return times.min();
    if (name == "mean") return times.mean();
    if (name == "max") return times.max();
    if (!name.starts_with('p') || name.find_first_not_of("0123456789.", 1) != name.npos)
        return std::nullopt;
    const Value percent = parse_decimal(name.substr(1));
    if (!percent || *percent <= 0 || *percent >= 100) return std::nullopt;
    return times.percentile(*percent);
}

Value Figure::part(const Results& results) const {
    const Value number = value(results);
    const std::uint64_t all = whole ? whole->of(results) : 0;
    if (!number || all == 0) return std::nullopt;
    return *number / static_cast<double>(all) * 100;
}

const std::vector<Figure>& figures() {
    static const std::vector<Figure> all = all_figures();
    return all;
}

const TimesRow& main_times(const Results& results) {
    if (!results.probe) return times_rows[0];
    return times_rows[results.handshake_times.count() > 0 ? 3 : 2];
}

std::optional<Figure> find_figure(std::string_view name) {
    if (name == "lateness") name = "lateness_p99";
    for (const Figure& figure : figures())
        if (figure.name == name) return figure;
    for (const TimesRow& row : times_rows) {
        if (!name.starts_with(row.prefix)) continue;
        const std::string rest(name.substr(std::string_view(row.prefix).size()));
        if (statistic({}, rest)) return time_figure(row, rest);
    }
    return std::nullopt;
}

std::string figure_names() {
    std::string names = "min, mean, pN (0 < N < 100), max";
    for (const Figure& figure : figures()) names += ", " + figure.name;
    return names +
           "; lateness; and min to max with the prefix lateness_, connect_ or handshake_";
}

}  // namespace yodel
