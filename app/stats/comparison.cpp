#include "app/stats/comparison.hpp"

#include "app/text/units.hpp"

#include <algorithm>

namespace yodel {

namespace {

using Kind = Comparison::Row::Kind;

// The square of the standard normal deviation that is exceeded, on either side, with the
// probability `false_alarm`.
constexpr double critical_square = 3.865 * 3.865;

// In percent; see the header.
constexpr double least_change = 2;

double square(double value) { return value * value; }

// A part of a number of cases, some of which only repeat others.
struct Part {
    double cases;
    double count;
    double factor;  // cases that are worth one independent case
};

bool differ(const Part& a, const Part& b) {
    const double part = (a.count + b.count) / (a.cases + b.cases);
    const double variance = part * (1 - part) * (a.factor / a.cases + b.factor / b.cases);
    return square(a.count / a.cases - b.count / b.cases) > critical_square * variance;
}

// Returns the upper end of the bucket above which the part of round trips is nearest to that
// which the percentile leaves.
ev::Duration nearest_boundary(const Histogram& times, double percent) {
    const double wanted = percent / 100 * static_cast<double>(times.count());
    double seen = 0;
    ev::Duration previous{};
    for (const Histogram::Bucket& bucket : times.buckets()) {
        const double before = seen;
        seen += static_cast<double>(bucket.count);
        if (seen >= wanted)
            return before > 0 && wanted - before < seen - wanted ? previous : bucket.upper_end;
        previous = bucket.upper_end;
    }
    return previous;
}

Part part_above(const Histogram& times, ev::Duration boundary, double factor) {
    std::uint64_t above = 0;
    for (const Histogram::Bucket& bucket : times.buckets())
        if (bucket.upper_end > boundary) above += bucket.count;
    return {.cases = static_cast<double>(times.count()),
            .count = static_cast<double>(above),
            .factor = factor};
}

// Whether the change is worth a word if it is no noise. What was not there before has changed
// by more than any part of it. Losses are whole messages, of which each counts.
bool large(const Comparison::Row& row) {
    if (row.kind == Kind::percentage) return true;
    const double change = row.change().value_or(100);
    return change > least_change || change < -least_change;
}

bool percentile_differs(const RunResult& before, const RunResult& now, std::size_t index) {
    Histogram both = before.tally.round_trips;
    both.add(now.tally.round_trips);
    const ev::Duration boundary = nearest_boundary(both, percentiles[index].percent);
    return differ(
        part_above(before.tally.round_trips, boundary, before.variance_factors[index]),
        part_above(now.tally.round_trips, boundary, now.variance_factors[index]));
}

// Returns the square of the ratio of the standard deviation of the round trips to their mean.
double relative_variance(const Histogram& times) {
    const auto mean = static_cast<double>(times.mean().count());
    if (mean <= 0) return 0;
    double squares = 0;
    for (const Histogram::Bucket& bucket : times.buckets()) {
        const double off = static_cast<double>(bucket.upper_end.count()) / mean - 1;
        squares += static_cast<double>(bucket.count) * off * off;
    }
    return squares / static_cast<double>(times.count());
}

// The square of the noise of a rate. The replies themselves are counted as if they came at
// random, which is more noise than any schedule has.
double rate_variance(const RunResult& result) {
    if (result.tally.echoed == 0) return 0;
    const double times =
        relative_variance(result.tally.round_trips) * result.variance_factor_of_mean;
    return square(result.rate) * (1 + times) / static_cast<double>(result.tally.echoed);
}

// Losses come in spells at least as round trips do.
Part part_of_sent(const RunResult& result, std::uint64_t count) {
    const auto& factors = result.variance_factors;
    return {.cases = static_cast<double>(result.tally.sent),
            .count = static_cast<double>(count),
            .factor = *std::max_element(factors.begin(), factors.end())};
}

bool rate_differs(const RunResult& before, const RunResult& now) {
    const double noise = rate_variance(before) + rate_variance(now);
    return square(now.rate - before.rate) > critical_square * noise;
}

// Tells the runs apart by the noise within each of them.
bool exceeds_noise(const RunResult& before, const RunResult& now, std::size_t figure) {
    const auto parts_differ = [&](std::uint64_t Tally::*count) {
        return differ(part_of_sent(before, before.tally.*count),
                      part_of_sent(now, now.tally.*count));
    };
    if (figure == rate_figure) return rate_differs(before, now);
    if (figure == lost_figure) return parts_differ(&Tally::lost);
    if (figure == bad_figure) return parts_differ(&Tally::bad);
    return percentile_differs(before, now, figure);
}

std::string figure_name(std::size_t figure) {
    static constexpr const char* others[] = {"rate", "lost", "bad"};
    return figure < rate_figure ? percentiles[figure].name : others[figure - rate_figure];
}

Kind figure_kind(std::size_t figure) {
    if (figure < rate_figure) return Kind::time;
    return figure == rate_figure ? Kind::rate : Kind::percentage;
}

// The longest duration, rounded to a double, would be too long.
ev::Duration duration(double nanoseconds) {
    return ev::Duration(static_cast<std::int64_t>(std::min(nanoseconds, 9.2e18)));
}

std::string value_text(Kind kind, double value) {
    switch (kind) {
    case Kind::time: return duration_text(duration(value));
    case Kind::rate: return rate_text(value);
    case Kind::percentage: return significant_text(value, 3) + "%";
    }
    return "";
}

std::string change_text(const Comparison::Row& row) {
    const std::optional<double> change = row.change();
    if (!change) return "new";
    return (*change > 0 ? "+" : "") + significant_text(*change, 3) + "%";
}

// The name is at the left of its column, all else at the right.
std::string line(std::string name, const std::string& before, const std::string& now,
                 const std::string& change) {
    name.resize(6, ' ');
    const auto column = [](const std::string& text) {
        constexpr std::size_t width = 11;
        return std::string(text.size() < width ? width - text.size() : 1, ' ') + text;
    };
    return name + column(before) + column(now) + column(change);
}

const char* verdict(const Comparison::Row& row) { return row.changed ? "changed" : "same"; }

}  // namespace

std::optional<double> Comparison::Row::change() const {
    if (before == now) return 0;
    if (before == 0) return std::nullopt;
    return (now - before) / before * 100;
}

Comparison Comparison::of(const EarlierRuns& earlier, const RunResult& now) {
    const RunResult& before = earlier.joint();
    Comparison made;
    made.runs_before = earlier.count();
    const ComparedFigures figures_before = compared_figures(before);
    const ComparedFigures figures_now = compared_figures(now);
    for (std::size_t i = 0; i < figures_now.size(); ++i) {
        if (!figures_before[i] || !figures_now[i]) continue;
        Row row{.name = figure_name(i),
                .kind = figure_kind(i),
                .before = *figures_before[i],
                .now = *figures_now[i],
                .changed = false};
        row.changed = large(row) && !earlier.usual(i, row.now) && exceeds_noise(before, now, i);
        made.rows.push_back(std::move(row));
    }
    return made;
}

std::vector<std::string> Comparison::table() const {
    std::vector<std::string> lines{line("", "before", "now", "change")};
    for (const Row& row : rows)
        lines.push_back(line(row.name, value_text(row.kind, row.before),
                             value_text(row.kind, row.now), change_text(row)) +
                        "  " + verdict(row));
    const bool changed =
        std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.changed; });
    if (changed && runs_before < EarlierRuns::fewest)
        lines.push_back(
            "how much runs differ by themselves is not known: compare with 10 runs, "
            "or at least " +
            std::to_string(EarlierRuns::fewest));
    return lines;
}

JsonObject Comparison::json() const {
    JsonObject object;
    for (const Row& row : rows) {
        const double unit = row.kind == Row::Kind::time ? 1000 : 1;
        JsonObject members;
        members.fraction("before", row.before / unit).fraction("now", row.now / unit);
        if (const auto change = row.change()) members.fraction("change", *change);
        object.object(row.name, members.text("verdict", verdict(row)));
    }
    return object.number("runs", runs_before);
}

}  // namespace yodel
