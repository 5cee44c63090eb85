// Requirements on the result of a run: `p99<5ms`, `lost<0.1%`, `rate>10k`, `p99<+10%`.
//
// A clause is NAME OP VALUE. NAME is a figure (app/stats/figures.hpp), or lateness for its p99.
// OP is one of < <= > >= =. VALUE is a duration, a count, or a rate; a count may also be a
// percentage of the messages sent, the messages due, or the attempts to connect. A
// percentage with a sign is relative to earlier runs. Numbers may end with k, M or G, powers
// of 1000. Blanks may surround each of the three.
#pragma once

#include "app/stats/comparison.hpp"
#include "app/stats/figures.hpp"
#include "app/stats/results.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace yodel {

class Requirement {
public:
    // Throws UsageError if the text is not a clause.
    explicit Requirement(std::string_view clause);

    // Returns the sentence about a failure: "required p99<5ms, was 7.2ms"; empty if the
    // requirement holds. The requirement also fails if nothing was measured, or if it is about
    // replies and nothing was sent. `before` may be null unless this is relative.
    std::string failure(const Results& results, const EarlierRuns* before) const;
    bool relative() const { return unit_ == Unit::change; }  // to earlier runs
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

    std::string clause_;
    const Figure* figure_ = nullptr;
    Operator operator_ = Operator::less;
    Unit unit_ = Unit::plain;
    double limit_ = 0;  // in the figure's unit, or percent
};

// Parses clauses that are separated by commas. Throws UsageError.
std::vector<Requirement> parse_requirements(std::string_view text);

// The verdict on results, by requirements and by comparison with earlier runs.
struct Verdict {
    struct Options {
        std::vector<Requirement> required = {};
        std::shared_ptr<const EarlierRuns> before = {};  // to compare with; null: none
    };

    static Verdict on(const Results& results, const Options& options);

    // True if there are requirements on this figure, and all of them hold. They replace the
    // rule that a wrong or lost reply, an unsent message or a failed connection fails the run.
    bool tolerates(std::string_view figure) const;
    bool failed() const;  // a requirement does not hold
    // Returns the table of the comparison, if there is one, and the failures.
    std::vector<std::string> lines(bool with_table) const;

    struct Judged {
        std::string clause;
        std::string figure;
        std::string failure;  // empty: the requirement holds
    };
    std::vector<Judged> requirements;
    std::optional<Comparison> comparison;  // if there are earlier runs
};

}  // namespace yodel
