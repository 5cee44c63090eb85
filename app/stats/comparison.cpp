#include "app/stats/comparison.hpp"

#include "app/text/units.hpp"

#include <algorithm>
#include <cmath>

namespace yodel {

namespace {

using Kind = Figure::Kind;

// Twice the width of a bucket, in percent: a smaller change may be none.
constexpr double min_change = 2;

// Returns the deviation that Student's t distribution exceeds, on either side, in one of a
// thousand cases. Between two rows of the table the row with fewer degrees of freedom applies.
double critical_deviation(std::size_t degrees_of_freedom) {
    static constexpr struct {
        std::size_t degrees;
        double deviation;
    } table[] = {{100, 3.391}, {60, 3.460}, {40, 3.551}, {30, 3.646}, {24, 3.745}, {20, 3.850},
                 {17, 3.965},  {15, 4.073}, {13, 4.221}, {12, 4.318}, {11, 4.437}, {10, 4.587},
                 {9, 4.781},   {8, 5.041},  {7, 5.408},  {6, 5.959},  {5, 6.869},  {4, 8.610}};
    for (const auto& row : table)
        if (degrees_of_freedom >= row.degrees) return row.deviation;
    return HUGE_VAL;
}

std::optional<double> median(const std::vector<double>& sorted) {
    if (sorted.empty()) return std::nullopt;
    return (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]) / 2;
}

// Replaces a time of zero, which has no logarithm, by a very short one.
double scaled(Kind kind, double value) {
    return kind == Kind::count ? value : std::log(std::max(value, 1e-3));
}

const char* verdict_on(const Comparison::Row& row, const std::vector<double>& before) {
    if (before.size() < EarlierRuns::min_count) return "";
    const Kind kind = row.figure->kind;
    const auto count = static_cast<double>(before.size());
    double mean = 0;
    for (const double value : before) mean += scaled(kind, value) / count;
    double variance = 0;
    for (const double value : before)
        variance += std::pow(scaled(kind, value) - mean, 2) / (count - 1);
    const double spread =
        critical_deviation(before.size() - 1) * std::sqrt(variance * (1 + 1 / count));
    const double percent = change(row.before, row.now).value_or(100);
    const bool large = std::abs(percent) > (kind == Kind::count ? 0 : min_change);
    if (large && std::abs(scaled(kind, row.now) - mean) > spread) return "changed";
    const double doubling = kind == Kind::count ? row.before : std::log(2);
    return percent != 0 && spread >= doubling ? "unclear" : "same";
}

// Stays below the longest duration, which a double would round up.
ev::Duration duration(double nanoseconds) {
    return ev::Duration(static_cast<std::int64_t>(std::min(nanoseconds, 9.2e18)));
}

std::string value_text(Kind kind, double value) {
    switch (kind) {
    case Kind::time: return duration_text(duration(value));
    case Kind::rate: return rate_text(value);
    case Kind::count: return significant_text(value, 3) + "%";
    }
    return "";
}

std::string change_text(const Comparison::Row& row) {
    const std::optional<double> percent = change(row.before, row.now);
    if (!percent) return "new";
    return (*percent > 0 ? "+" : "") + significant_text(*percent, 3) + "%";
}

// Aligns the name to the left, and all other columns to the right.
std::string line(std::string name, const std::string& before, const std::string& range,
                 const std::string& now, const std::string& change) {
    name.resize(6, ' ');
    const auto column = [](const std::string& text, std::size_t width) {
        return std::string(text.size() < width ? width - text.size() : 1, ' ') + text;
    };
    return name + column(before, 11) + column(range, 22) + column(now, 11) + column(change, 11);
}

}  // namespace

void EarlierRuns::add(const Results& run) {
    std::vector<Value>& values = values_.emplace_back();
    for (const Figure& figure : figures())
        values.push_back({figure.value(run), figure.part(run)});
}

std::vector<double> EarlierRuns::sorted(const Figure& figure,
                                        std::optional<double> Value::*of) const {
    const auto index = static_cast<std::size_t>(&figure - figures().data());
    std::vector<double> all;
    for (const std::vector<Value>& values : values_)
        if (values[index].*of) all.push_back(*(values[index].*of));
    std::sort(all.begin(), all.end());
    return all;
}

std::vector<double> EarlierRuns::compared(const Figure& figure) const {
    return sorted(figure, figure.kind == Kind::count ? &Value::part : &Value::plain);
}

std::optional<double> EarlierRuns::middle(const Figure& figure) const {
    return median(sorted(figure, &Value::plain));
}

std::optional<double> change(double before, double now) {
    if (before == now) return 0;
    if (before == 0) return std::nullopt;
    return (now - before) / before * 100;
}

Comparison Comparison::of(const EarlierRuns& earlier, const Results& now) {
    Comparison made;
    made.runs_before = earlier.count();
    for (const Figure& figure : figures()) {
        if (!figure.compared) continue;
        const std::vector<double> before = earlier.compared(figure);
        const std::optional<double> value =
            figure.kind == Kind::count ? figure.part(now) : figure.value(now);
        if (before.empty() || !value) continue;
        Row row{.figure = &figure,
                .before = *median(before),
                .min = before.front(),
                .max = before.back(),
                .now = *value};
        row.verdict = verdict_on(row, before);
        made.rows.push_back(row);
    }
    return made;
}

std::vector<std::string> Comparison::table() const {
    std::vector<std::string> lines{line("", "before", "range", "now", "change")};
    for (const Row& row : rows) {
        const Kind kind = row.figure->kind;
        const std::string range =
            value_text(kind, row.min) + " to " + value_text(kind, row.max);
        const std::string verdict(*row.verdict == '\0' ? "" : "  ");
        lines.push_back(line(row.figure->name, value_text(kind, row.before), range,
                             value_text(kind, row.now), change_text(row)) +
                        verdict + row.verdict);
    }
    const std::size_t missing =
        EarlierRuns::min_count - std::min(EarlierRuns::min_count, runs_before);
    if (missing > 0)
        lines.push_back("no verdict without " + std::to_string(EarlierRuns::min_count) +
                        " earlier runs, " + std::to_string(missing) +
                        (missing == 1 ? " is" : " are") + " missing");
    return lines;
}

JsonObject Comparison::json() const {
    JsonObject object;
    for (const Row& row : rows) {
        const double unit = row.figure->kind == Kind::time ? 1000 : 1;
        JsonObject members;
        members.fraction("before", row.before / unit).fraction("least", row.min / unit);
        members.fraction("most", row.max / unit).fraction("now", row.now / unit);
        if (const auto percent = change(row.before, row.now))
            members.fraction("change", *percent);
        if (*row.verdict != '\0') members.text("verdict", row.verdict);
        object.object(row.figure->name, members);
    }
    return object.number("runs", runs_before);
}

}  // namespace yodel
