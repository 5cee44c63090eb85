// Writes the results of a run as its `end` object in JSON, and restores results from it.
#pragma once

#include "app/stats/figures.hpp"
#include "app/stats/requirement.hpp"
#include "app/stats/results.hpp"
#include "app/text/json.hpp"
#include "app/text/json_reader.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace yodel {

// Adds the counts of connections if `of_connections` is true, else the counts of messages and
// the jitter of datagrams.
void add_counts(JsonObject& object, const Results& results, bool of_connections);

// Adds the 50th and the 99th percentile and the buckets, if there are times.
void add_recent(JsonObject& object, const Histogram& times, const TimesRow& row);

// Returns the end object, to which the caller may add members. `reason`: why the run ended.
// `status`: the exit status.
JsonObject end_object(const Results& results, std::string_view reason, int status,
                      const Verdict& verdict = {});

// Restores results from an end object. Ignores unknown members. Throws JsonError if a member is
// missing or figures contradict each other.
std::unique_ptr<Results> restored_results(const JsonFields& end);

// Passes each end object in a file with one JSON object per line to `take`, which may throw
// JsonError. Throws InputError if the file cannot be read or a line is too long. Throws
// JsonError, which names the file, if a line is not JSON, `take` throws it, or there is no end
// object. Blocks while reading.
void read_end_objects(const std::string& path,
                      const std::function<void(const JsonFields& end)>& take);

}  // namespace yodel
