#include "app/stats/figures.hpp"

namespace yodel {

namespace {

using Kind = Figure::Kind;
using Value = std::optional<double>;

constexpr Figure::Whole sent_messages{[](const Results& results) { return results.sent; },
                                      "nothing was sent"};
constexpr Figure::Whole planned_messages{
    [](const Results& results) { return results.sent + results.unsent; },
    "nothing was to be sent"};
constexpr Figure::Whole tries{[](const Results& results) { return results.asked; },
                              "no connection was asked for"};

Value counted(const Figure& figure, const Results& results) {
    return static_cast<double>(results.*figure.count);
}

Value counted_datagrams(const Figure& figure, const Results& results) {
    return results.datagrams ? counted(figure, results) : std::nullopt;
}

Value timed(const Figure& figure, const Results& results) {
    const Histogram& times = results.*figure.times->times;
    if (times.count() == 0) return std::nullopt;
    return static_cast<double>(figure.statistic->of(times).count());
}

Value jitter(const Figure&, const Results& results) {
    if (results.jitter_count == 0) return std::nullopt;
    return static_cast<double>(results.jitter().count());
}

Value rate(const Figure&, const Results& results) {
    return results.echoed > 0 ? Value(results.rate()) : std::nullopt;
}

Figure count_row(const char* name, std::uint64_t Results::*count) {
    return {.name = name,
            .kind = Kind::count,
            .path = name,
            .measure = counted,
            .count = count,
            .whole = &sent_messages};
}

Figure fault_row(const char* name, std::uint64_t Results::*count) {
    Figure row = count_row(name, count);
    row.fault = true;
    return row;
}

Figure compared_row(Figure row) {
    row.compared = true;
    return row;
}

Figure times_figure(const std::string& name, const TimesRow& times,
                    const Statistic& statistic) {
    const std::string parent = times.of_connections ? "connections." : "";
    return {.name = name,
            .kind = Kind::time,
            .path = parent + times.object + "." + statistic.name,
            .measure = timed,
            .unmeasured = times.unmeasured,
            .compared = statistic.compared && *times.prefix == '\0',
            .times = &times,
            .statistic = &statistic};
}

std::vector<Figure> all_figures() {
    std::vector<Figure> all;
    for (const TimesRow& times : times_rows) {
        for (const Statistic& statistic : statistics)
            all.push_back(
                times_figure(std::string(times.prefix) + statistic.name, times, statistic));
    }
    all.push_back({.name = "rate",
                   .kind = Kind::rate,
                   .path = "rate",
                   .measure = rate,
                   .unmeasured = "no reply was right",
                   .compared = true});
    all.push_back(count_row("sent", &Results::sent));
    all.push_back(count_row("echoed", &Results::echoed));
    all.push_back(compared_row(fault_row("bad", &Results::bad)));
    all.push_back(compared_row(fault_row("lost", &Results::lost)));
    all.push_back(count_row("late", &Results::late));
    all.push_back(fault_row("unsent", &Results::unsent));
    all.back().whole = &planned_messages;
    all.push_back(count_row("unsolicited", &Results::unsolicited));
    all.push_back(fault_row("twice", &Results::twice));
    all.push_back(count_row("out_of_order", &Results::out_of_order));
    all.back().measure = counted_datagrams;
    all.back().unmeasured = "messages were no datagrams";
    all.push_back({.name = "jitter",
                   .kind = Kind::time,
                   .path = "jitter_us",
                   .measure = jitter,
                   .unmeasured = "no datagrams were timed"});
    all.push_back(count_row("failed", &Results::failed));
    all.back().path = "connections.failed";
    all.back().whole = &tries;
    return all;
}

}  // namespace

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

const Figure* find_figure(std::string_view name) {
    if (name == "lateness") name = "lateness_p99";
    for (const Figure& figure : figures())
        if (figure.name == name) return &figure;
    return nullptr;
}

std::string figure_names() {
    std::string names;
    for (const Figure& figure : figures()) {
        if (figure.times && *figure.times->prefix != '\0') continue;
        names += (names.empty() ? "" : ", ") + figure.name;
    }
    return names + "; lateness, and min to max also as lateness_, connect_ and handshake_min";
}

}  // namespace yodel
