// A run compared with earlier ones: for each percentile, the rate and the losses, whether they
// differ by more than the noise within the runs and, where the earlier ones are enough to show
// it, by more than runs differ from one another (app/stats/earlier_runs.hpp).
//
// The noise within the runs: a percentile has changed if the part of the round trips above it
// differs between the runs, the percentile being that of both together (the test of Westenberg
// and Mood for medians, which holds for all quantiles, and asks nothing about the
// distribution). The noise is that of a binomial count, of as many independent round trips as
// the run is worth: its number divided by its variance factor (app/stats/batches.hpp). Losses
// are tested in the same way. The noise of a rate is that of the mean round trip, because a run
// that waits for its replies is as fast as these are.
//
// All rows together raise a false alarm in one of a thousand comparisons: the level of each row
// is divided by their number (Bonferroni). A change of less than twice the width of a bucket is
// never reported, however many round trips there are.
#pragma once

#include "app/stats/earlier_runs.hpp"
#include "app/stats/run_result.hpp"
#include "app/text/json.hpp"

#include <cstdint>
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

    // Percentiles have a row where both sides have round trips; losses where both sent
    // messages.
    static Comparison of(const EarlierRuns& earlier, const RunResult& now);

    // Lines of equal columns, the headings first, and a remark where the noise between runs
    // would have been worth knowing.
    std::vector<std::string> table() const;
    JsonObject json() const;  // an object for each row, by its name, and the number of runs

    std::vector<Row> rows;
    std::uint64_t runs_before = 0;
};

}  // namespace yodel
