// Reports about a run for other programs.
#pragma once

#include "app/stats/requirement.hpp"
#include "app/stats/results.hpp"

#include <string>
#include <vector>

namespace yodel {

struct RunReport {
    const Results& results;
    const Verdict::Options& judged;
    std::string target = {};  // empty: unknown
    int status = 0;           // exit status
};

// Returns each figure that was measured as a gauge of OpenMetrics, in seconds, as a ratio, or
// as a number. Its name is the figure's path in the end object: yodel_rtt_p99_seconds.
std::string metrics_text(const RunReport& run);

}  // namespace yodel
