// The results of runs of before, from the files that --json has written.
#pragma once

#include "app/client_options.hpp"
#include "app/stats/run_result.hpp"

#include <memory>
#include <string>

namespace yodel {

// Throws UsageError, which names the option.
std::shared_ptr<RunResult> earlier_result(const std::string& option, const std::string& file);

// Adds up the results of the files `options.merge`, prints the sum and the verdict on it, and
// returns the exit status. Throws UsageError, and OutputError.
int merge(const ClientOptions& options);

}  // namespace yodel
