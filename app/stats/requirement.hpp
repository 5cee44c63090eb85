// Checks requirements on the results of a run: `p99<5ms`, `lost<0.1%`, `rate>10k`.
//
// A clause is NAME OP VALUE. NAME is a figure: a count, a statistic of times, perhaps with a
// prefix (app/stats/results.hpp), rate or jitter, or lateness for its p99.
// OP is one of < <= > >= =. VALUE is a duration, a count, or a rate; a count may also be a
// percentage of the messages sent, the messages due, or the attempts to connect. Numbers may
// end with k, M or G, powers of 1000. Blanks may surround each of the three.
#pragma once

#include "app/stats/results.hpp"
#include "app/text/json.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace yodel {

struct Figure {
    enum class Kind { time, count, rate };
    std::string name;
    Kind kind = Kind::time;
    const char* unmeasured = "";      // why there is no value, as a clause
    bool of_connections = false;      // it can be measured only for the whole run
    const CountRow* count = nullptr;  // a count
    const TimesRow* times = nullptr;  // a statistic of times

    // Returns the value in nanoseconds, as a count, or per second; none if not measured.
    std::optional<double> value(const Results& results) const;
};

// Returns the statistic of the times: min, mean, max, or pN, the Nth percentile with 0 < N <
// 100. Returns none if the name is none of these.
std::optional<ev::Duration> statistic(const Histogram& times, std::string_view name);
std::optional<Figure> find_figure(std::string_view name);

class Requirement {
public:
    // Throws UsageError if the text is not a clause.
    explicit Requirement(std::string_view clause);

    struct Judged {
        std::string clause;
        std::string figure;
        std::string measured;  // value as text; empty: not measured
        std::string failure;   // "required p99<5ms, was 7.2ms"; empty: the requirement holds
        // The rate up to which the requirement held, if it was checked for each step of a
        // climb; 0 if it failed in the first step.
        std::optional<double> held = {};

        // Returns "p99<5ms held up to 12.4k/s".
        std::string held_text() const;
    };
    // Checks the requirement, for each step of a climb until it fails unless its figure is
    // about connections or was measured for no step. It also fails if its figure was not
    // measured or proves nothing, such as the count of lost replies if nothing was sent. If the
    // client's lateness makes up most of a failing time, `failure` mentions it.
    Judged judge(const RunResults& results) const;

private:
    bool parse_limit(std::string_view text);
    Judged measure(const Results& results) const;
    bool holds(double value) const {
        return (less_ && value < limit_) || (more_ && value > limit_) ||
               (equal_ && value == limit_);
    }
    std::string value_text(double value) const;

    std::string clause_;
    Figure figure_;
    bool less_ = false;  // the values that hold: less than, more than, equal to the limit
    bool more_ = false;
    bool equal_ = false;
    bool percentage_ = false;
    double limit_ = 0;  // in the figure's unit, or percent
};

// Parses clauses that are separated by commas. Throws UsageError.
std::vector<Requirement> parse_requirements(std::string_view text);

// The judgement of all requirements on the results.
struct Verdict {
    static Verdict on(const RunResults& results, const std::vector<Requirement>& required);

    // Returns true if there are requirements on this figure and all of them hold. They then
    // replace the rule that a fault, such as a lost reply or a failed connection, fails the
    // run.
    bool tolerates(std::string_view figure) const;
    bool failed() const { return !lines().empty(); }  // a requirement does not hold
    std::vector<std::string> lines() const;           // sentences about the failures
    // Returns sentences about requirements that held until the end of a climb.
    std::vector<std::string> held_lines() const;
    // Adds an object for each requirement, and the rates up to which each held in a climb.
    void add_to(JsonObject& end) const;

    std::vector<Requirement::Judged> requirements;
};

}  // namespace yodel
