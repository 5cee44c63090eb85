// Compares a run with earlier runs.
//
// The spread of the earlier runs shows how much runs differ by themselves, for example because
// the system places processes differently. With five or more earlier runs each figure of the
// new run gets a verdict. A figure has changed if it is further from the mean of the earlier
// runs than Student's t distribution allows at a level of one in a thousand. Times and rates
// are compared by their logarithms, because a disturbance multiplies times. The verdict is
// unclear if even twice the median would pass (for a rate: half of it).
#pragma once

#include "app/stats/figures.hpp"
#include "app/stats/results.hpp"
#include "app/text/json.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace yodel {

// Returns the change in percent of `before`; none if only `before` is 0.
std::optional<double> change(double before, double now);

// The figures of earlier runs.
class EarlierRuns {
public:
    // Runs needed for a verdict.
    static constexpr std::size_t min_count = 5;

    void add(const Results& run);
    std::size_t count() const { return values_.size(); }
    // Returns the values of this figure that --compare prints, in ascending order.
    std::vector<double> compared(const Figure& figure) const;
    // Returns the median of the figure itself; none if no run measured it.
    std::optional<double> middle(const Figure& figure) const;

private:
    struct Value {
        std::optional<double> plain;
        std::optional<double> part;  // percentage of the whole
    };
    std::vector<double> sorted(const Figure& figure, std::optional<double> Value::*of) const;

    std::vector<std::vector<Value>> values_;  // for each run, in the order of figures()
};

struct Comparison {
    struct Row {
        const Figure* figure;
        // In nanoseconds, replies a second, or percent.
        double before;  // median of the earlier runs
        double min;     // range of the earlier runs
        double max;
        double now;
        const char* verdict = "";  // same, changed, unclear; empty with too few runs
    };

    static Comparison of(const EarlierRuns& earlier, const Results& now);

    // Returns lines of aligned columns, the headings first, and then the number of runs
    // missing for a verdict.
    std::vector<std::string> table() const;
    JsonObject json() const;  // an object for each row, and the number of runs

    std::vector<Row> rows;  // figures that both sides have measured
    std::size_t runs_before = 0;
};

}  // namespace yodel
