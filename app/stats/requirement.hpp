// Requirements on the result of a run: `p99<5ms`, `lost<0.1%`, `rate>10k`, `p99<+10%`.
//
// A clause is NAME OP VALUE. Names: min, mean, p50, p90, p95, p99, p99.9, p99.99, max (round
// trips) and lateness (its p99) have durations; sent, echoed, bad, lost, late, unasked have
// numbers, or percentages of the messages sent; unsent a number, or a percentage of those
// planned; failed has a number of connections, or a
// percentage of those asked for; rate has a number of right replies a second. Numbers may end
// with k, M or G, powers of 1000. A percentage with a sign is relative to a result of before.
// OP is one of < <= > >= =. Blanks may stand around each of the three.
#pragma once

#include "app/stats/comparison.hpp"
#include "app/stats/figures.hpp"
#include "app/stats/results.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace yodel {

class Requirement {
public:
    // Returns none for a text that is no clause; `trouble` then is one sentence about it.
    static std::optional<Requirement> parse(std::string_view clause, std::string& trouble);

    // Returns the sentence of a result that fails: "required p99<5ms, was 7.2ms"; empty if it
    // holds. Where nothing was measured, it fails; so it does where nothing was sent, and the
    // clause is about the replies. `before` may be null unless this is relative.
    std::string failure(const Results& results, const EarlierRuns* before) const;
    bool relative() const { return unit_ == Unit::change; }  // to a result of before
    const std::string& clause() const { return clause_; }
    const Figure& figure() const { return *figure_; }

private:
    enum class Unit { plain, percentage, change };
    enum class Operator { less, at_most, more, at_least, equal };

    bool parse_operator(std::string_view& text);
    bool parse_limit(std::string_view text);
    bool parse_percentage(std::string_view text);
    bool out_of_nothing(const Results& results) const;
    bool holds(double value) const;
    std::string shown(double value) const;
    double rounded(double value, int digits) const;
    double shown_unit(double value) const;
    std::string written(double value, int digits) const;

    std::string clause_;
    const Figure* figure_ = nullptr;
    Operator operator_ = Operator::less;
    Unit unit_ = Unit::plain;
    double limit_ = 0;  // in the figure's unit, or percent
};

// Requirements that are separated by commas.
struct Requirements {
    std::vector<Requirement> list;
    std::string trouble;  // about the first clause that is none; empty if all are right
};
Requirements parse_requirements(std::string_view text);

}  // namespace yodel
