#include "app/stats/requirement.hpp"

#include "app/text/exit_status.hpp"
#include "app/text/units.hpp"

#include <algorithm>
#include <cmath>

namespace yodel {

namespace {

// What a user may compare a figure with, indexed by Figure::Kind.
constexpr const char* operands[] = {"a duration with its unit (us, ms, s, m or h), such as 5ms",
                                    "a number, or a percentage such as 0.1%",
                                    "a number per second, such as 10k"};

// Removes leading and trailing blanks.
std::string_view trimmed(std::string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    return text.substr(0, text.find_last_not_of(' ') + 1);
}

}  // namespace

Requirement::Requirement(std::string_view clause) : clause_(trimmed(clause)) {
    const std::string quoted = in_quotes(clause_);
    const std::string_view text = clause_;
    const std::size_t begin = text.find_first_of("<>=");
    if (begin == text.npos)
        throw UsageError(quoted +
                         " is not a requirement such as p99<5ms, lost<0.1% or rate>10k");
    const std::string_view name = trimmed(text.substr(0, begin));
    std::string_view value = text.substr(begin);
    relations_ = value.substr(0, value.starts_with("<=") || value.starts_with(">=") ? 2 : 1);
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
    value = trimmed(value.substr(relations_.size()));
    const std::size_t unit_begin = value.find_last_of("0123456789") + 1;
    unit_ = value.substr(unit_begin);
    std::erase(unit_, ' ');
    const auto limit = parse_value(std::string(value.substr(0, unit_begin)) + unit_);
    if (!limit)
        throw UsageError(quoted + ": " + figure_.name + " needs " +
                         operands[static_cast<std::size_t>(figure_.kind)]);
    limit_ = *limit;
}

std::optional<double> Requirement::parse_value(std::string_view text) const {
    if (figure_.kind == Figure::Kind::time) {
        const bool has_unit = text.find_first_of("smh") != text.npos;
        const auto duration = has_unit ? parse_duration(text) : std::nullopt;
        if (!duration) return std::nullopt;
        return static_cast<double>(duration->count());
    }
    if (is_percentage()) return parse_decimal(text.substr(0, text.size() - 1));
    if (figure_.kind == Figure::Kind::rate && text.ends_with("/s")) text.remove_suffix(2);
    return parse_rate(text);
}

// A failure does not name the requirement, for example "was 7.2ms" or "no reply was timed". The
// count `sent` is always measured. A percentage or another count proves nothing if its total
// is 0.
Requirement::Verdict Requirement::check(const Results& results) const {
    Verdict judged{.clause = clause_, .figure = figure_.name, .measured = {}, .failure = {}};
    std::optional<double> value = figure_.value(results);
    const Whole* const whole = figure_.count ? figure_.count->whole : nullptr;
    const std::uint64_t all = whole ? whole->total_of(results).value_or(0) : 1;
    if (!value) {
        judged.failure = figure_.unmeasured_reason;
    } else if (all == 0 && (is_percentage() || figure_.name != "sent")) {
        judged.failure = whole->empty_reason;
    } else {
        if (is_percentage()) value = *value / static_cast<double>(all) * 100;
        judged.measured = value_text(*value);
        if (!holds(*value)) judged.failure = "was " + judged.measured;
    }
    // Only round trips include the client's lateness. If it is longer than they are, most of it
    // belongs to messages that were not timed.
    const std::optional<Figure> lateness = find_figure("lateness_" + figure_.name);
    const auto late = lateness ? lateness->value(results) : std::nullopt;
    const double share = late && value && *value > 0 ? *late / *value : 0;
    if (!judged.failure.empty() && share > 0.5 && share <= 1 && *value >= limit_)
        judged.failure +=
            ", most of it yodel's own lateness (" + significant_text(100 * share, 2) + "%)";
    return judged;
}

Requirement::Verdict Requirement::judge(const RunResults& results) const {
    const std::vector<Results>& steps = results.steps;
    const bool has_climbed = !figure_.is_about_connections &&
                             std::any_of(steps.begin(), steps.end(), [&](const Results& each) {
                                 return each.has_messages() && figure_.value(each);
                             });
    Verdict judged;
    double held_rate = 0;
    for (std::size_t i = 0; has_climbed && i < steps.size() && judged.failure.empty(); ++i) {
        if (!steps[i].has_messages()) continue;
        judged = check(steps[i]);
        if (judged.failure.empty()) held_rate = results.rate_after(i);
    }
    if (has_climbed)
        judged.held_rate = held_rate;
    else
        judged = check(results);
    if (judged.failure.empty()) return judged;
    if (held_rate > 0)
        judged.failure = judged.held_text() + ", then " + judged.failure;
    else
        judged.failure = "required " + clause_ + ", " +
                         (judged.measured.empty() ? "but " : "") + judged.failure +
                         (has_climbed ? " in the first step of the climb" : "");
    return judged;
}

// Returns the value with enough digits to show whether the requirement holds. A time has the
// unit of the clause, or a smaller unit if it is below the limit or the limit is 0.
std::string Requirement::value_text(double value) const {
    double unit = 1;
    std::string suffix = is_percentage() ? "%" : "";
    if (figure_.kind == Figure::Kind::time) {
        suffix = unit_;
        unit = *parse_value("1" + unit_);
        if (value < unit && (value < limit_ || limit_ == 0)) {
            suffix = value >= 1e9 ? "s" : value > 0 && value < 1e6 ? "us" : "ms";
            unit = *parse_value("1" + suffix);
        }
    }
    for (int digits = 3;; ++digits) {
        const std::string text = figure_.kind == Figure::Kind::rate
                                     ? rate_text(value, digits)
                                     : significant_text(value / unit, digits) + suffix;
        const double shown = parse_value(text).value_or(value);
        if (digits == 17 || holds(shown) == holds(value)) return text;
    }
}

std::vector<Requirement> parse_requirements(std::string_view text) {
    std::vector<Requirement> list;
    for (const std::string& clause : comma_separated(text)) list.emplace_back(clause);
    return list;
}

std::string Requirement::Verdict::held_text() const {
    return clause + " held up to " + rate_text(held_rate.value_or(0));
}

std::vector<Requirement::Verdict> judge(const RunResults& results,
                                        const std::vector<Requirement>& required) {
    std::vector<Requirement::Verdict> all;
    all.reserve(required.size());
    for (const Requirement& each : required) all.push_back(each.judge(results));
    return all;
}

}  // namespace yodel
