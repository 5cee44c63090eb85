// Reads the results of earlier runs from the output of --json.
#pragma once

#include "app/run/reporter.hpp"
#include "app/stats/comparison.hpp"

#include <memory>
#include <string>
#include <vector>

namespace yodel {

// Returns the runs whose results the file contains, for --compare. Throws UsageError.
std::shared_ptr<EarlierRuns> earlier_runs(const std::string& file);

// Adds up the results of the files, prints the sum and its verdict, and returns the exit
// status. Throws UsageError and OutputError.
int merge(const std::vector<std::string>& files, const Reporter::Options& options);

}  // namespace yodel
