#include "app/stats/requirement.hpp"

#include "app/text/quotes.hpp"
#include "app/text/units.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace yodel {

namespace {

using Value = std::optional<double>;

constexpr const char* no_reply = "no reply was timed";

Value nanoseconds(const Histogram& times, ev::Duration time) {
    if (times.count() == 0) return std::nullopt;
    return static_cast<double>(time.count());
}

template <std::size_t index>
Value percentile(const RunResult& result) {
    const Histogram& times = result.tally.round_trips;
    return nanoseconds(times, times.percentile(percentiles[index].percent));
}

template <std::size_t index>
constexpr Figure percentile_figure() {
    return {.name = percentiles[index].name,
            .kind = Figure::Kind::time,
            .value = percentile<index>,
            .unmeasured = no_reply};
}

Value shortest(const RunResult& result) {
    return nanoseconds(result.tally.round_trips, result.tally.round_trips.min());
}
Value longest(const RunResult& result) {
    return nanoseconds(result.tally.round_trips, result.tally.round_trips.max());
}
Value mean(const RunResult& result) {
    return nanoseconds(result.tally.round_trips, result.tally.round_trips.mean());
}
Value lateness(const RunResult& result) {
    return nanoseconds(result.lateness, result.lateness.percentile(99));
}
Value rate(const RunResult& result) {
    return result.tally.echoed > 0 ? Value(result.rate) : std::nullopt;
}
Value sent(const RunResult& result) { return static_cast<double>(result.tally.sent); }
Value echoed(const RunResult& result) { return static_cast<double>(result.tally.echoed); }
Value bad(const RunResult& result) { return static_cast<double>(result.tally.bad); }
Value lost(const RunResult& result) { return static_cast<double>(result.tally.lost); }
Value late(const RunResult& result) { return static_cast<double>(result.tally.late); }
Value unsent(const RunResult& result) {
    const bool planned = result.planned_rate.has_value();
    return planned ? Value(static_cast<double>(result.tally.unsent)) : std::nullopt;
}
Value planned(const RunResult& result) {
    return static_cast<double>(result.tally.sent + result.tally.unsent);
}
Value unasked(const RunResult& result) { return static_cast<double>(result.tally.unsolicited); }
Value twice(const RunResult& result) {
    const auto& datagrams = result.tally.datagrams;
    return datagrams ? Value(static_cast<double>(datagrams->twice)) : std::nullopt;
}
Value out_of_order(const RunResult& result) {
    const auto& datagrams = result.tally.datagrams;
    return datagrams ? Value(static_cast<double>(datagrams->out_of_order)) : std::nullopt;
}
Value jitter(const RunResult& result) {
    const auto& datagrams = result.tally.datagrams;
    return datagrams && datagrams->timed > 0 ? Value(datagrams->jitter) : std::nullopt;
}
Value failed(const RunResult& result) { return static_cast<double>(result.connections.failed); }
Value asked(const RunResult& result) { return static_cast<double>(result.connections.asked); }

constexpr Figure time_figure(const char* name, Value (*value)(const RunResult&),
                             const char* unmeasured) {
    return {.name = name, .kind = Figure::Kind::time, .value = value, .unmeasured = unmeasured};
}

constexpr Figure count_figure(const char* name, Value (*value)(const RunResult&)) {
    return {.name = name,
            .kind = Figure::Kind::count,
            .value = value,
            .whole = sent,
            .empty = "nothing was sent"};
}

constexpr const char* no_datagrams = "messages were no datagrams";

constexpr Figure datagram_figure(const char* name, Value (*value)(const RunResult&)) {
    return {.name = name,
            .kind = Figure::Kind::count,
            .value = value,
            .whole = sent,
            .unmeasured = no_datagrams,
            .empty = "nothing was sent"};
}

constexpr Figure figures[] = {
    time_figure("min", shortest, no_reply),
    time_figure("mean", mean, no_reply),
    percentile_figure<0>(),
    percentile_figure<1>(),
    percentile_figure<2>(),
    percentile_figure<3>(),
    percentile_figure<4>(),
    percentile_figure<5>(),
    time_figure("max", longest, no_reply),
    time_figure("lateness", lateness, "no message had a planned time"),
    count_figure("sent", sent),
    count_figure("echoed", echoed),
    count_figure("bad", bad),
    count_figure("lost", lost),
    count_figure("late", late),
    {.name = "unsent",
     .kind = Figure::Kind::count,
     .value = unsent,
     .whole = planned,
     .unmeasured = "no message had a planned time",
     .empty = "nothing was planned"},
    count_figure("unasked", unasked),
    datagram_figure("twice", twice),
    datagram_figure("out_of_order", out_of_order),
    time_figure("jitter", jitter, "no datagrams were timed"),
    {.name = "failed",
     .kind = Figure::Kind::count,
     .value = failed,
     .whole = asked,
     .empty = "no connection was asked for"},
    {.name = "rate",
     .kind = Figure::Kind::rate,
     .value = rate,
     .unmeasured = "no reply was right"},
};

std::string figure_names() {
    std::string names;
    for (const Figure& figure : figures)
        names += (names.empty() ? "" : ", ") + std::string(figure.name);
    return names;
}

const char* values_of(const Figure& figure) {
    switch (figure.kind) {
    case Figure::Kind::time: return "a duration such as 5ms, or +10% with --compare";
    case Figure::Kind::count:
        return "a number, a percentage such as 0.1%, or +10% with --compare";
    case Figure::Kind::rate: return "a number a second such as 10k, or -10% with --compare";
    }
    return "";
}

// Powers of 1000.
Value parse_count(std::string_view text) {
    double factor = 1;
    for (const auto& [suffix, value] : {std::pair('k', 1e3), {'M', 1e6}, {'G', 1e9}})
        if (text.ends_with(suffix)) factor = value;
    if (factor > 1) text.remove_suffix(1);
    const Value number = parse_decimal(text);
    return number ? Value(*number * factor) : std::nullopt;
}

// Blanks may stand around a clause, and around its operator.
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

Value part_of(Value value, Value whole) {
    if (!value || !whole || *whole <= 0) return std::nullopt;
    return *value / *whole * 100;
}

// In percent.
Value change_from(Value before, Value now) {
    if (!before || !now) return std::nullopt;
    if (*before == *now) return 0;
    return part_of(*now - *before, before);
}

}  // namespace

const Figure* find_figure(std::string_view name) {
    const auto* const found = std::find_if(std::begin(figures), std::end(figures),
                                           [&](const Figure& row) { return row.name == name; });
    return found == std::end(figures) ? nullptr : found;
}

std::optional<Requirement> Requirement::parse(std::string_view clause, std::string& trouble) {
    clause = without_blanks(clause);
    const std::string quoted = in_quotes(clause);
    const std::size_t name_end = std::min(clause.find_first_of("<>="), clause.size());
    const std::string_view name = without_blanks(clause.substr(0, name_end));
    std::string_view rest = clause.substr(name_end);
    Requirement made;
    made.clause_ = clause;
    made.figure_ = find_figure(name);
    if (!made.parse_operator(rest)) {
        trouble = quoted + " is no requirement such as p99<5ms, lost<0.1% or rate>10k";
        return std::nullopt;
    }
    if (!made.figure_) {
        trouble = quoted + ": there is no figure \"" + std::string(name) + "\"; there are " +
                  figure_names();
        return std::nullopt;
    }
    if (made.parse_limit(joined(rest))) return made;
    trouble =
        quoted + ": " + made.figure_->name + " is compared with " + values_of(*made.figure_);
    return std::nullopt;
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
    const Value number = parse_count(text);
    limit_ = number.value_or(0);
    return number.has_value();
}

bool Requirement::parse_percentage(std::string_view text) {
    const bool down = text.starts_with('-');
    const bool change = down || text.starts_with('+');
    if (!change && !figure_->whole) return false;
    unit_ = change ? Unit::change : Unit::percentage;
    const Value number = parse_decimal(text.substr(change ? 1 : 0));
    limit_ = number.value_or(0) * (down ? -1 : 1);
    return number.has_value();
}

std::string Requirement::failure(const RunResult& result, const RunResult* before) const {
    const std::string required = "required " + clause_ + ", ";
    Value value = figure_->value(result);
    if (!value) return required + "but " + figure_->unmeasured;
    if (out_of_nothing(result)) return required + "but " + figure_->empty;
    if (unit_ == Unit::percentage) value = part_of(value, figure_->whole(result));
    if (unit_ == Unit::change) {
        value = change_from(before ? figure_->value(*before) : std::nullopt, value);
        if (!value) return required + "but there is nothing before to compare it with";
    }
    return holds(*value) ? "" : required + "was " + shown(*value);
}

// None of nothing is no measurement: where nothing was sent, nothing could be lost. A number of
// the whole itself says what it is.
bool Requirement::out_of_nothing(const RunResult& result) const {
    if (!figure_->whole || *figure_->whole(result) > 0) return false;
    return unit_ != Unit::plain || figure_->value != figure_->whole;
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

// Returns the value with as many digits as it takes to see that the requirement fails.
std::string Requirement::shown(double value) const {
    int digits = 3;
    while (digits < 17 && holds(rounded(value, digits))) ++digits;
    return written(value, digits);
}

double Requirement::rounded(double value, int digits) const {
    const double unit = shown_unit(value);
    return std::strtod(significant_text(value / unit, digits).c_str(), nullptr) * unit;
}

// Returns the unit in which the value is written, in that of the figure.
double Requirement::shown_unit(double value) const {
    if (unit_ != Unit::plain || figure_->kind == Figure::Kind::count) return 1;
    if (figure_->kind == Figure::Kind::time) return value < 1e9 ? 1e6 : 1e9;
    return value < 1e3 ? 1 : value < 1e6 ? 1e3 : 1e6;
}

std::string Requirement::written(double value, int digits) const {
    const std::string number = significant_text(value / shown_unit(value), digits);
    if (unit_ == Unit::change) return (value > 0 ? "+" : "") + number + "%";
    if (unit_ == Unit::percentage) return number + "%";
    if (figure_->kind == Figure::Kind::rate) return rate_text(value, digits);
    if (figure_->kind == Figure::Kind::count) return number;
    return number + (value < 1e9 ? "ms" : "s");
}

Requirements parse_requirements(std::string_view text) {
    Requirements made;
    for (std::size_t begin = 0, end = 0; end != text.npos && made.trouble.empty();
         begin = end + 1) {
        end = text.find(',', begin);
        const auto clause = Requirement::parse(text.substr(begin, end - begin), made.trouble);
        if (clause) made.list.push_back(*clause);
    }
    return made;
}

}  // namespace yodel
