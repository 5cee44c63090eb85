#include "app/stats/figures.hpp"

#include <algorithm>

namespace yodel {

namespace {

using Kind = Figure::Kind;
using Value = std::optional<double>;

constexpr Figure::Whole sent_messages{[](const Results& results) { return results.sent; },
                                      "nothing was sent"};
constexpr Figure::Whole due_messages{
    [](const Results& results) { return results.sent + results.unsent; }, "no message was due"};
constexpr Figure::Whole tries{[](const Results& results) { return results.asked; },
                              "no connection was attempted"};
constexpr Figure::Whole handshakes{
    [](const Results& results) { return results.handshakes_full + results.handshakes_resumed; },
    "there was no TLS handshake"};

Figure count_row(const char* name, const char* help, std::uint64_t Results::*count,
                 const Figure::Whole& whole = sent_messages) {
    const bool of_connections = &whole == &tries || &whole == &handshakes;
    return {.name = name,
            .kind = Kind::count,
            .path = (of_connections ? "connections." : "") + std::string(name),
            .help = help,
            .value = [count](const Results& results) -> Value {
                return static_cast<double>(results.*count);
            },
            .count = count,
            .whole = &whole};
}

Figure fault_row(Figure row, bool compared) {
    row.fault = true;
    row.compared = compared;
    return row;
}

// Makes a figure that is measured only under a condition.
Figure row_if(bool (*measured)(const Results&), const char* unmeasured, Figure row) {
    row.unmeasured = unmeasured;
    row.value = [measured, value = row.value](const Results& results) {
        return measured(results) ? value(results) : std::nullopt;
    };
    return row;
}

Figure handshakes_row(const char* name, const char* help, std::uint64_t Results::*count) {
    return row_if([](const Results& results) { return handshakes.of(results) > 0; },
                  handshakes.empty, count_row(name, help, count, handshakes));
}

Figure time_row(const TimesRow& row, const Statistic& statistic) {
    const std::string name(statistic.name);
    return {.name = row.prefix + name,
            .kind = Kind::time,
            .path =
                std::string(row.of_connections ? "connections." : "") + row.object + "." + name,
            .help = row.what + (": " + name),
            .value = [&row, &statistic](const Results& results) -> Value {
                const Histogram& times = results.*row.times;
                if (times.count() == 0) return std::nullopt;
                return static_cast<double>(statistic.of(times).count());
            },
            .unmeasured = row.unmeasured,
            .compared = *row.prefix == '\0' && name.starts_with("p")};
}

std::vector<Figure> all_figures() {
    std::vector<Figure> all;
    for (const TimesRow& row : times_rows)
        for (const Statistic& statistic : statistics) all.push_back(time_row(row, statistic));
    all.push_back({.name = "rate",
                   .kind = Kind::rate,
                   .path = "rate",
                   .help = "Right replies a second",
                   .value = [](const Results& results) -> Value {
                       return results.achieved() > 0 ? Value(results.rate()) : std::nullopt;
                   },
                   .unmeasured = "no reply was right",
                   .compared = true});
    all.push_back({.name = "jitter",
                   .kind = Kind::time,
                   .path = "jitter_us",
                   .help = "Jitter of datagrams (RFC 3550)",
                   .value = [](const Results& results) -> Value {
                       if (results.jitter_count == 0) return std::nullopt;
                       return static_cast<double>(results.jitter().count());
                   },
                   .unmeasured = "no datagrams were timed"});
    all.push_back({.name = "late_start",
                   .kind = Kind::time,
                   .path = "late_start_us",
                   .help = "Delay of the first message after --start-at",
                   .value = [](const Results& results) -> Value {
                       if (!results.late_start) return std::nullopt;
                       return static_cast<double>(results.late_start->count());
                   },
                   .unmeasured = "no message was sent after --start-at"});
    all.push_back({.name = "overlap",
                   .kind = Kind::count,
                   .path = "overlap",
                   .help = "Time that all runs share, as a part of the whole time",
                   .value = [](const Results& results) { return results.overlap; },
                   .unmeasured = "this is no sum of runs that contain their times"});
    all.push_back(count_row("sent", "Sent messages", &Results::sent));
    all.push_back(
        count_row("echoed", "Messages answered by the right reply", &Results::echoed));
    all.push_back(
        fault_row(count_row("bad", "Messages answered by a wrong reply", &Results::bad), true));
    all.push_back(
        fault_row(count_row("lost", "Messages without a reply in time", &Results::lost), true));
    all.push_back(count_row("late", "Messages whose reply came late", &Results::late));
    all.push_back(fault_row(count_row("unsent", "Messages that were due and not sent",
                                      &Results::unsent, due_messages),
                            false));
    all.push_back(count_row("unsolicited", "Messages from the server that answer nothing",
                            &Results::unsolicited));
    all.push_back(fault_row(
        count_row("twice", "Further copies of replies", &Results::duplicates), false));
    all.push_back(row_if(
        [](const Results& results) { return results.datagrams; }, "messages were not datagrams",
        count_row("out_of_order", "Replies that came after replies to later messages",
                  &Results::out_of_order)));
    all.push_back(count_row("asked", "Attempts to connect", &Results::asked, tries));
    all.push_back(count_row("opened", "Opened connections", &Results::opened, tries));
    all.push_back(
        count_row("failed", "Connections that never opened", &Results::failed, tries));
    all.push_back(
        handshakes_row("handshakes_full", "Full TLS handshakes", &Results::handshakes_full));
    all.push_back(handshakes_row("handshakes_resumed", "Resumed TLS handshakes",
                                 &Results::handshakes_resumed));
    return all;
}

}  // namespace

Value Figure::part(const Results& results) const {
    const Value number = value(results);
    if (number && !whole) return *number * 100;
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

const Figure* find_figure(std::string_view name) {
    if (name == "lateness") name = "lateness_p99";
    for (const Figure& figure : figures())
        if (figure.name == name) return &figure;
    return nullptr;
}

std::string figure_names() {
    std::string names;
    for (const Figure& figure : figures()) {
        const bool derived =
            std::any_of(std::begin(times_rows), std::end(times_rows), [&](const TimesRow& row) {
                return *row.prefix != '\0' && figure.name.starts_with(row.prefix);
            });
        if (!derived) names += (names.empty() ? "" : ", ") + figure.name;
    }
    return names +
           "; lateness; and min to max with the prefix lateness_, connect_ or handshake_";
}

}  // namespace yodel
