#include "app/stats/requirement.hpp"

#include "app/text/exit_status.hpp"
#include "app/text/units.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace yodel {

namespace {

using Value = std::optional<double>;

const char* values_of(const Figure& figure) {
    switch (figure.kind) {
    case Figure::Kind::time: return "a duration such as 5ms, or +10% with --compare";
    case Figure::Kind::count:
        return "a number, a percentage such as 0.1%, or +10% with --compare";
    case Figure::Kind::rate: return "a number a second such as 10k, or -10% with --compare";
    }
    return "";
}

// Removes the blanks around a clause, or around its operator.
std::string_view without_blanks(std::string_view text) {
    const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
    const std::size_t last = text.find_last_not_of(' ');
    return text.substr(begin, last == text.npos ? 0 : last - begin + 1);
}

// Joins a number, its sign and its unit. Digits on both sides of a blank are two numbers.
std::string joined(std::string_view text) {
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    std::string made;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const std::string_view next = without_blanks(text.substr(i));
        const bool apart = !made.empty() && digit(made.back()) && digit(next.front());
        if (text[i] != ' ' || apart) made += text[i];
    }
    return made;
}

// How a value of a figure is written: divided by the unit.
struct Scale {
    double unit;
    const char* suffix;
};

Scale scale_of(Figure::Kind kind, double value) {
    switch (kind) {
    case Figure::Kind::time:
        return value < 1e9 ? Scale{.unit = 1e6, .suffix = "ms"}
                           : Scale{.unit = 1e9, .suffix = "s"};
    case Figure::Kind::rate:
        if (value < 1e3) return {.unit = 1, .suffix = "/s"};
        return value < 1e6 ? Scale{.unit = 1e3, .suffix = "k/s"}
                           : Scale{.unit = 1e6, .suffix = "M/s"};
    case Figure::Kind::count: break;
    }
    return {.unit = 1, .suffix = ""};
}

}  // namespace

Requirement::Requirement(std::string_view clause) : clause_(without_blanks(clause)) {
    const std::string quoted = in_quotes(clause_);
    std::string_view rest = clause_;
    rest.remove_prefix(std::min(rest.find_first_of("<>="), rest.size()));
    const std::string name(
        without_blanks(std::string_view(clause_).substr(0, clause_.size() - rest.size())));
    figure_ = find_figure(name);
    if (!parse_operator(rest))
        throw UsageError(quoted +
                         " is not a requirement such as p99<5ms, lost<0.1% or rate>10k");
    if (!figure_)
        throw UsageError(quoted + ": unknown figure " + in_quotes(name) + "; the figures are " +
                         figure_names());
    if (!parse_limit(joined(rest)))
        throw UsageError(quoted + ": " + figure_->name + " needs " + values_of(*figure_));
}

bool Requirement::parse_operator(std::string_view& text) {
    static constexpr std::pair<std::string_view, Operator> operators[] = {
        {"<=", Operator::at_most}, {">=", Operator::at_least}, {"<", Operator::less},
        {">", Operator::more},     {"=", Operator::equal},
    };
    for (const auto& [sign, meaning] : operators) {
        if (!text.starts_with(sign)) continue;
        operator_ = meaning;
        text = without_blanks(text.substr(sign.size()));
        return true;
    }
    return false;
}

bool Requirement::parse_limit(std::string_view text) {
    if (text.ends_with('%')) return parse_percentage(text.substr(0, text.size() - 1));
    if (figure_->kind == Figure::Kind::time) {
        const auto duration = parse_duration(text);
        if (duration) limit_ = static_cast<double>(duration->count());
        return duration.has_value();
    }
    if (figure_->kind == Figure::Kind::rate && text.ends_with("/s")) text.remove_suffix(2);
    const Value number = parse_rate(text);
    limit_ = number.value_or(0);
    return number && std::isfinite(*number);
}

bool Requirement::parse_percentage(std::string_view text) {
    const bool down = text.starts_with('-');
    const bool change = down || text.starts_with('+');
    if (!change && figure_->kind != Figure::Kind::count) return false;
    unit_ = change ? Unit::change : Unit::percentage;
    const Value number = parse_decimal(text.substr(change ? 1 : 0));
    limit_ = number.value_or(0) * (down ? -1 : 1);
    return number.has_value();
}

std::string Requirement::failure(const Results& results, const EarlierRuns* before) const {
    const std::string required = "required " + clause_ + ", ";
    Value value = figure_->value(results);
    if (!value) return required + "but " + figure_->unmeasured;
    if (out_of_nothing(results)) return required + "but " + figure_->whole->empty;
    if (unit_ == Unit::percentage) value = figure_->part(results);
    if (unit_ == Unit::change) {
        const Value middle = before ? before->middle(*figure_) : std::nullopt;
        value = middle ? change(*middle, *value) : std::nullopt;
        if (!value) return required + "but there is no earlier value to compare it with";
    }
    return holds(*value) ? "" : required + "was " + shown(*value);
}

// A part of nothing proves nothing: if nothing was sent, nothing could be lost. But the number
// of messages sent is a measurement, even 0.
bool Requirement::out_of_nothing(const Results& results) const {
    if (!figure_->whole || figure_->whole->of(results) > 0) return false;
    return unit_ != Unit::plain || figure_->name != "sent";
}

bool Requirement::holds(double value) const {
    switch (operator_) {
    case Operator::less: return value < limit_;
    case Operator::at_most: return value <= limit_;
    case Operator::more: return value > limit_;
    case Operator::at_least: return value >= limit_;
    case Operator::equal: return value == limit_;
    }
    return false;
}

// Writes the value with enough digits to see that the requirement fails.
std::string Requirement::shown(double value) const {
    const Scale scale =
        unit_ == Unit::plain ? scale_of(figure_->kind, value) : Scale{.unit = 1, .suffix = "%"};
    int digits = 3;
    std::string number = significant_text(value / scale.unit, digits);
    while (digits < 17 && holds(std::strtod(number.c_str(), nullptr) * scale.unit))
        number = significant_text(value / scale.unit, ++digits);
    return (unit_ == Unit::change && value > 0 ? "+" : "") + number + scale.suffix;
}

std::vector<Requirement> parse_requirements(std::string_view text) {
    std::vector<Requirement> list;
    for (const std::string& clause : comma_separated(text)) list.emplace_back(clause);
    return list;
}

Verdict Verdict::on(const Results& results, const Options& options) {
    Verdict verdict;
    if (options.before) verdict.comparison = Comparison::of(*options.before, results);
    for (const Requirement& each : options.required)
        verdict.requirements.push_back(
            {each.clause(), each.figure().name, each.failure(results, options.before.get())});
    return verdict;
}

bool Verdict::tolerates(std::string_view figure) const {
    bool found = false;
    for (const Judged& each : requirements) {
        if (each.figure != figure) continue;
        if (!each.failure.empty()) return false;
        found = true;
    }
    return found;
}

bool Verdict::failed() const { return !lines(false).empty(); }

std::vector<std::string> Verdict::lines(bool with_table) const {
    std::vector<std::string> all;
    if (comparison && with_table) all = comparison->table();
    for (const Judged& each : requirements)
        if (!each.failure.empty()) all.push_back(each.failure);
    return all;
}

}  // namespace yodel
