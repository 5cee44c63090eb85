#include "app/stats/requirement.hpp"

#include "app/text/exit_status.hpp"
#include "app/text/units.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace yodel {

namespace {

// What to compare a figure with, by its kind.
constexpr const char* operands[] = {"a duration with its unit (us, ms, s, m or h), such as 5ms",
                                    "a number, or a percentage such as 0.1%",
                                    "a number per second, such as 10k"};

// Removes leading and trailing blanks.
std::string_view without_blanks(std::string_view text) {
    const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
    const std::size_t last = text.find_last_not_of(' ');
    return text.substr(begin, last == text.npos ? 0 : last - begin + 1);
}

// The unit by which a value is divided for printing, and its name.
struct Scale {
    double unit;
    const char* suffix;
};

Scale scale_of(Figure::Kind kind, double value) {
    if (kind == Figure::Kind::count) return {.unit = 1, .suffix = ""};
    if (kind == Figure::Kind::rate) {
        if (value < 1e3) return {.unit = 1, .suffix = "/s"};
        return value < 1e6 ? Scale{.unit = 1e3, .suffix = "k/s"}
                           : Scale{.unit = 1e6, .suffix = "M/s"};
    }
    if (value >= 1e9) return {.unit = 1e9, .suffix = "s"};
    return value > 0 && value < 1e6 ? Scale{.unit = 1e3, .suffix = "us"}
                                    : Scale{.unit = 1e6, .suffix = "ms"};
}

}  // namespace

std::optional<ev::Duration> statistic(const Histogram& times, std::string_view name) {
    if (name == "min") return times.min();
    if (name == "mean") return times.mean();
    if (name == "max") return times.max();
    if (!name.starts_with('p') || name.find_first_not_of("0123456789.", 1) != name.npos)
        return std::nullopt;
    const std::optional<double> percent = parse_decimal(name.substr(1));
    if (!percent || *percent <= 0 || *percent >= 100) return std::nullopt;
    return times.percentile(*percent);
}

std::optional<double> Figure::value(const Results& results) const {
    const auto number = [](auto value) { return std::optional(static_cast<double>(value)); };
    if (count && count->whole->measured(results)) return number(results.*count->count);
    if (times && (results.*times->times).count() > 0) {
        const auto statistic_name = std::string_view(name).substr(times->prefix.size());
        return number(statistic(results.*times->times, statistic_name)->count());
    }
    if (name == "rate" && results.achieved_count() > 0) return results.rate();
    if (name == "jitter" && results.jitter_count > 0) return number(results.jitter().count());
    return std::nullopt;
}

std::optional<Figure> find_figure(std::string_view name) {
    using Kind = Figure::Kind;
    if (name == "lateness") name = "lateness_p99";
    const std::string own(name);
    if (name == "rate") return Figure{own, Kind::rate, "no reply was right"};
    if (name == "jitter") return Figure{own, Kind::time, "no datagrams were timed"};
    for (const CountRow& row : count_rows)
        if (name == row.name)
            return Figure{own, Kind::count, row.whole->unmeasured, row.whole->of_connections,
                          &row};
    for (const TimesRow& row : times_rows)
        if (name.starts_with(row.prefix) && statistic({}, name.substr(row.prefix.size())))
            return Figure{own, Kind::time, row.unmeasured, row.of_connections, nullptr, &row};
    return std::nullopt;
}

Requirement::Requirement(std::string_view clause) : clause_(without_blanks(clause)) {
    const std::string quoted = in_quotes(clause_);
    const std::size_t begin = std::min(clause_.find_first_of("<>="), clause_.size());
    const std::string name(without_blanks(std::string_view(clause_).substr(0, begin)));
    std::string_view rest = std::string_view(clause_).substr(begin);
    less_ = rest.starts_with('<');
    more_ = rest.starts_with('>');
    if (less_ || more_) rest.remove_prefix(1);
    equal_ = rest.starts_with('=');
    if (equal_) rest.remove_prefix(1);
    if (!less_ && !more_ && !equal_)
        throw UsageError(quoted +
                         " is not a requirement such as p99<5ms, lost<0.1% or rate>10k");
    const std::optional<Figure> figure = find_figure(name);
    if (!figure) {
        std::string names = "min, mean, pN (0 < N < 100), max, rate, jitter";
        for (const CountRow& row : count_rows) names.append(", ").append(row.name);
        throw UsageError(quoted + ": unknown figure " + in_quotes(name) + "; the figures are " +
                         names + "; lateness; and min to max with the prefix lateness_, " +
                         "connect_ or handshake_");
    }
    figure_ = *figure;
    // Blanks may separate a number from its unit.
    const std::string_view value = without_blanks(rest);
    const std::size_t unit = value.find_last_of("0123456789") + 1;
    std::string limit(value.substr(unit));
    std::erase(limit, ' ');
    if (!parse_limit(std::string(value.substr(0, unit)) + limit))
        throw UsageError(quoted + ": " + figure_.name + " needs " +
                         operands[static_cast<std::size_t>(figure_.kind)]);
}

bool Requirement::parse_limit(std::string_view text) {
    using Kind = Figure::Kind;
    percentage_ = figure_.kind == Kind::count && text.ends_with('%');
    std::optional<double> limit;
    if (figure_.kind == Kind::time) {
        const bool unit = text.find_first_of("smh") != text.npos;
        const auto duration = unit ? parse_duration(text) : std::nullopt;
        if (duration) limit = static_cast<double>(duration->count());
    } else if (percentage_) {
        limit = parse_decimal(text.substr(0, text.size() - 1));
    } else {
        const bool per_second = figure_.kind == Kind::rate && text.ends_with("/s");
        limit = parse_rate(text.substr(0, text.size() - (per_second ? 2 : 0)));
    }
    limit_ = limit.value_or(0);
    return limit && std::isfinite(*limit);
}

// Returns the failure without the requirement: "was 7.2ms", "no reply was timed". The number of
// messages sent is always a measurement; other counts prove nothing if their total is 0.
Requirement::Judged Requirement::measure(const Results& results) const {
    Judged judged{.clause = clause_, .figure = figure_.name, .measured = {}, .failure = {}};
    std::optional<double> value = figure_.value(results);
    const Whole* const whole = figure_.count ? figure_.count->whole : nullptr;
    const std::uint64_t all = whole ? whole->of(results) : 1;
    if (!value) {
        judged.failure = figure_.unmeasured;
    } else if (all == 0 && (percentage_ || figure_.name != "sent")) {
        judged.failure = whole->empty;
    } else {
        if (percentage_) value = *value / static_cast<double>(all) * 100;
        judged.measured = value_text(*value);
        if (!holds(*value)) judged.failure = "was " + judged.measured;
    }
    // Only round trips include the client's lateness.
    const std::optional<Figure> lateness = find_figure("lateness_" + figure_.name);
    const auto late = lateness ? lateness->value(results) : std::nullopt;
    if (!judged.failure.empty() && late && value && *value >= limit_ && *late > *value / 2)
        judged.failure += ", most of it yodel's own lateness (" +
                          duration_text(ev::Duration(std::llrint(*late))) + ")";
    return judged;
}

Requirement::Judged Requirement::judge(const RunResults& results) const {
    const std::vector<Results>& steps = results.steps;
    const bool climbed = !figure_.of_connections &&
                         std::any_of(steps.begin(), steps.end(), [&](const Results& each) {
                             return each.any() && figure_.value(each);
                         });
    Judged judged;
    double held = 0;
    for (std::size_t i = 0; climbed && i < steps.size() && judged.failure.empty(); ++i) {
        if (!steps[i].any()) continue;
        judged = measure(steps[i]);
        if (judged.failure.empty()) held = results.rate_after(i);
    }
    if (climbed)
        judged.held = held;
    else
        judged = measure(results);
    if (judged.failure.empty()) return judged;
    if (held > 0)
        judged.failure = judged.held_text() + ", then " + judged.failure;
    else
        judged.failure = "required " + clause_ + ", " +
                         (judged.measured.empty() ? "but " : "") + judged.failure +
                         (climbed ? " in the first second" : "");
    return judged;
}

// Writes the value with enough digits to show whether the requirement holds. A time has the
// unit of the limit, or a smaller one.
std::string Requirement::value_text(double value) const {
    const bool has_unit = figure_.kind == Figure::Kind::time && limit_ > 0;
    const double least = has_unit ? std::min(value, limit_) : value;
    const Scale scale =
        percentage_ ? Scale{.unit = 1, .suffix = "%"} : scale_of(figure_.kind, least);
    std::string number;
    bool agrees = false;
    for (int digits = 3; digits <= 17 && !agrees; ++digits) {
        number = significant_text(value / scale.unit, digits);
        agrees = holds(std::strtod(number.c_str(), nullptr) * scale.unit) == holds(value);
    }
    return number + scale.suffix;
}

std::vector<Requirement> parse_requirements(std::string_view text) {
    std::vector<Requirement> list;
    for (const std::string& clause : comma_separated(text)) list.emplace_back(clause);
    return list;
}

std::string Requirement::Judged::held_text() const {
    return clause + " held up to " + rate_text(held.value_or(0));
}

Verdict Verdict::on(const RunResults& results, const std::vector<Requirement>& required) {
    Verdict verdict;
    for (const Requirement& each : required)
        verdict.requirements.push_back(each.judge(results));
    return verdict;
}

bool Verdict::tolerates(std::string_view figure) const {
    bool found = false;
    for (const Requirement::Judged& each : requirements) {
        if (each.figure != figure) continue;
        if (!each.failure.empty()) return false;
        found = true;
    }
    return found;
}

std::vector<std::string> Verdict::lines() const {
    std::vector<std::string> all;
    for (const Requirement::Judged& each : requirements)
        if (!each.failure.empty()) all.push_back(each.failure);
    return all;
}

std::vector<std::string> Verdict::held_lines() const {
    std::vector<std::string> all;
    for (const Requirement::Judged& each : requirements)
        if (each.held && each.failure.empty()) all.push_back(each.held_text());
    return all;
}

void Verdict::add_to(JsonObject& end) const {
    JsonArray required;
    JsonObject held;
    bool climbed = false;
    for (const Requirement::Judged& each : requirements) {
        JsonObject object;
        object.text("clause", each.clause);
        if (!each.measured.empty()) object.text("was", each.measured);
        required.object(object.flag("holds", each.failure.empty()));
        climbed = climbed || each.held;
        if (each.held) held.decimal(each.clause, *each.held);
    }
    if (!requirements.empty()) end.array("required", required);
    if (climbed) end.object("held", held);
}

}  // namespace yodel
