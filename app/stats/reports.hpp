// Reports about a run for other programs.
#pragma once

#include "app/stats/requirement.hpp"
#include "app/stats/results.hpp"

#include <string>
#include <vector>

namespace yodel {

struct RunReport {
    const Results& results;
    const Verdict& verdict;
    std::string target = {};  // empty: unknown
    // What a replay found to differ from its recording.
    std::vector<std::string> differences = {};
    int status = 0;            // exit status
    std::string failure = {};  // why the run failed, apart from requirements; empty: it did not
};

// Returns each figure that was measured as a gauge of OpenMetrics, in seconds, as a ratio, or
// as a number. Its name is the figure's path in the end object: yodel_rtt_p99_seconds.
std::string metrics_text(const RunReport& run);

// Returns a test suite in the XML of JUnit, with a test case for the run, for each requirement,
// and for each difference.
std::string junit_text(const RunReport& run);

}  // namespace yodel
