#include "app/stats/figures.hpp"

#include "app/text/units.hpp"

namespace yodel {

namespace {

using Kind = Figure::Kind;
using Value = std::optional<double>;

Figure time_figure(const TimesRow& row, const std::string& name) {
    return {.name = row.prefix + name,
            .kind = Kind::time,
            .value = [&row, name](const Results& results) -> Value {
                const Histogram& times = results.*row.times;
                if (times.count() == 0) return std::nullopt;
                return static_cast<double>(statistic(times, name)->count());
            },
            .unmeasured = row.unmeasured,
            .of_connections = row.of_connections};
}

std::vector<Figure> all_figures() {
    std::vector<Figure> all;
    all.push_back({.name = "rate",
                   .kind = Kind::rate,
                   .value = [](const Results& results) -> Value {
                       return results.achieved_count() > 0 ? Value(results.rate())
                                                           : std::nullopt;
                   },
                   .unmeasured = "no reply was right"});
    all.push_back({.name = "jitter",
                   .kind = Kind::time,
                   .value = [](const Results& results) -> Value {
                       if (results.jitter_count == 0) return std::nullopt;
                       return static_cast<double>(results.jitter().count());
                   },
                   .unmeasured = "no datagrams were timed"});
    for (const CountRow& row : count_rows)
        all.push_back({.name = row.name,
                       .kind = Kind::count,
                       .value = [&row](const Results& results) -> Value {
                           if (!row.whole->measured(results)) return std::nullopt;
                           return static_cast<double>(results.*row.count);
                       },
                       .unmeasured = row.whole->unmeasured,
                       .count = &row,
                       .of_connections = row.whole->of_connections});
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
