// Two runs compared: for each percentile, the rate and the losses, whether they differ by more
// than their noise.
//
// The method: a percentile has changed if the part of the round trips above it differs between
// the runs, the percentile being that of both together (the test of Westenberg and Mood for
// medians, which holds for all quantiles, and asks nothing about the distribution). The noise
// is that of a binomial count, of as many independent round trips as the run is worth: its
// number divided by its variance factor (app/stats/batches.hpp). Losses are tested in the same
// way. The noise of a rate is that of the mean round trip, because a run that waits for its
// replies is as fast as these are.
//
// All rows together raise a false alarm in one of a thousand comparisons: the level of each row
// is divided by their number (Bonferroni). A change of less than twice the width of a bucket is
// never reported, however many round trips there are.
#pragma once

#include "app/stats/run_result.hpp"
#include "app/text/json.hpp"

#include <optional>
#include <string>
#include <vector>

namespace yodel {

struct Comparison {
    struct Row {
        enum class Kind { time, rate, percentage };

        std::string name;
        Kind kind;
        double before;  // nanoseconds, replies a second, or percent
        double now;
        bool changed;  // by more than the noise

        // In percent of `before`; none where that is 0, and `now` is not.
        std::optional<double> change() const;
    };

    // Percentiles have a row where both runs have round trips; losses where both sent messages.
    static Comparison of(const RunResult& before, const RunResult& now);

    std::vector<std::string> table() const;  // lines of equal columns, the headings first
    JsonObject json() const;                 // an object for each row, by its name

    std::vector<Row> rows;
};

}  // namespace yodel
