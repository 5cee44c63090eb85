// The verdict on a result: whether it is as required, and as before.
#pragma once

#include "app/stats/comparison.hpp"
#include "app/stats/earlier_runs.hpp"
#include "app/stats/requirement.hpp"
#include "app/stats/run_result.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace yodel {

struct Verdict {
    struct Options {
        std::vector<Requirement> required = {};
        std::shared_ptr<const EarlierRuns> before = {};  // to be compared with; null: none
    };

    // An elapsed result; see RunResult::set_elapsed().
    static Verdict on(const RunResult& result, const Options& options);

    // The lines for standard error: the table of the comparison, unless `quiet`, and the
    // failures.
    std::vector<std::string> lines(bool quiet) const;

    std::vector<std::string> failures;     // a sentence for each requirement that failed
    std::optional<Comparison> comparison;  // if there are runs of before
};

}  // namespace yodel
