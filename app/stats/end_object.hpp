// The `end` object of a run: its result as JSON, from which the result can be restored.
#pragma once

#include "app/stats/run_result.hpp"
#include "app/text/json.hpp"
#include "app/text/json_reader.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace yodel {

// Adds the numbers of messages by outcome, and of datagrams their order and jitter.
void add_counts(JsonObject& object, const Tally& tally);

// Returns the object, to which the caller may add members of its own. The reason is that of the
// end.
JsonObject end_object(const RunResult& result, std::string_view reason);

// A result that was read, or why there is none, as one clause.
struct RestoredResult {
    std::unique_ptr<RunResult> result;
    std::string trouble;
};

// Restores the result, all but its tally's batches, of which the variance factors are left.
// Members that are not known are skipped. An object whose figures do not agree with each other,
// because somebody has edited it, is refused.
RestoredResult restored_result(const JsonValue& end);

// Restores the result of each `end` object in a file of JSON, an object a line, and passes it
// to `take`. Every line must be whole. Returns why it stopped before the end of the file, or
// that there was no `end` object, with the names of the file and the line; empty if all is
// well. Blocks while it reads.
std::string read_results(const std::string& path,
                         const std::function<void(std::unique_ptr<RunResult>)>& take);

}  // namespace yodel
