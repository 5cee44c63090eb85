// The `end` object of a run: its results as JSON, from which they can be restored.
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

// Adds the counts of connections or, with the jitter of datagrams, of messages.
void add_counts(JsonObject& object, const Results& results, bool of_connections);

// Adds the 50th and the 99th percentile and the buckets, unless there are no times.
void add_recent(JsonObject& object, const Histogram& times, const TimesRow& row);

// Returns the object, to which the caller may add more members. `reason`: why the run ended;
// `status`: the exit status.
JsonObject end_object(const Results& results, std::string_view reason, int status,
                      const Verdict& verdict = {});

// Restores the results of an end object. Unknown members are skipped. Throws JsonError if a
// member is missing, or if the figures contradict each other because somebody has edited them.
std::unique_ptr<Results> restored_results(const JsonFields& end);

// Restores the results of each end object in a file of JSON, an object a line, and passes them
// to `take`. Throws JsonError, with the names of the file and the line, if the file cannot be
// read, a line is not whole, or there is no end object. Blocks while it reads.
void read_results(const std::string& path,
                  const std::function<void(std::unique_ptr<Results>)>& take);

}  // namespace yodel
