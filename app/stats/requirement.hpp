// Checks requirements on the results of a run: `p99<5ms`, `lost<0.1%`, `rate>10k`.
//
// A clause is NAME OP VALUE. NAME is a figure: a count; a statistic of times, perhaps with a
// prefix (app/stats/results.hpp); `rate`; `jitter`; or `lateness`, short for lateness_p99.
// OP is one of < <= > >= =. VALUE is a duration, a count, or a rate; a count may also be a
// percentage of the messages sent, the messages due, the attempts to connect, or the TLS
// handshakes. Counts and rates may have a suffix k, M or G, a power of 1000. Rates may end with
// /s. Blanks may surround NAME, OP and VALUE.
#pragma once

#include "app/stats/results.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace yodel {

class Requirement {
public:
    // Throws UsageError if the text is not a clause.
    explicit Requirement(std::string_view clause);

    struct Verdict {
        std::string clause;
        std::string figure;
        std::string measured;  // value as text; empty if it proves nothing
        std::string failure;   // "required p99<5ms, was 7.2ms"; empty if the clause holds
        // The rate up to which the requirement held, if it was checked for each step of a
        // climb; 0 if it failed in the first step.
        std::optional<double> held_rate = {};

        // Returns "p99<5ms held up to 12.4k/s".
        std::string held_text() const;
    };
    // In a climb, checks each step with messages until one fails, unless the figure is about
    // connections or no step has a value. The requirement also fails if its figure was not
    // measured or proves nothing, such as the count of lost replies if nothing was sent. If the
    // client's lateness makes up most of a failing time, `failure` mentions it.
    Verdict judge(const RunResults& results) const;

private:
    std::optional<double> parse_value(std::string_view text) const;
    Verdict check(const Results& results) const;
    bool holds(double value) const {
        const char relation = value < limit_ ? '<' : value > limit_ ? '>' : '=';
        return relations_.find(relation) != relations_.npos;
    }
    bool is_percentage() const { return figure_.kind == Figure::Kind::count && unit_ == "%"; }
    std::string value_text(double value) const;

    std::string clause_;
    Figure figure_;
    std::string relations_;  // accepted between value and limit: one or two of <, > and =
    std::string unit_;       // of the limit, as the user wrote it, without blanks
    double limit_ = 0;       // limit in the figure's unit, or in percent
};

// Parses clauses that are separated by commas. Throws UsageError.
std::vector<Requirement> parse_requirements(std::string_view text);

std::vector<Requirement::Verdict> judge(const RunResults& results,
                                        const std::vector<Requirement>& required);

}  // namespace yodel
