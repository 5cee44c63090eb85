// The `end` object of a run: its results as JSON, from which they can be restored.
#pragma once

#include "app/stats/requirement.hpp"
#include "app/stats/results.hpp"
#include "app/text/json.hpp"
#include "app/text/json_reader.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace yodel {

// Adds the numbers of messages by outcome, and the jitter of datagrams.
void add_counts(JsonObject& object, const Results& results);

// Returns the object, to which the caller may add further members. `reason`: why the run ended;
// `status`: from exit_status() of app/stats/summary.hpp.
JsonObject end_object(const Results& results, std::string_view reason, int status,
                      const Verdict& verdict = {});

// Results that were read, or why there are none, as one clause.
struct RestoredResults {
    std::unique_ptr<Results> results;
    std::string trouble;
};

// Restores the results. Unknown members are skipped. An object whose figures disagree with each
// other, because somebody has edited it, is refused.
RestoredResults restored_results(const JsonValue& value);

// Restores the result of each `end` object in a file of JSON, an object a line, and passes it
// to `take`. Every line must be whole. Returns why it stopped before the end of the file, or
// that there was no `end` object, with the names of the file and the line; empty if all is
// well. Blocks while it reads.
std::string read_results(const std::string& path,
                         const std::function<void(std::unique_ptr<Results>)>& take);

}  // namespace yodel
