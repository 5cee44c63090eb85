// Writes the results of a run as its `end` object in JSON.
#pragma once

#include "app/stats/figures.hpp"
#include "app/stats/requirement.hpp"
#include "app/stats/results.hpp"
#include "app/text/json.hpp"

#include <string_view>

namespace yodel {

// Adds the counts of connections if `of_connections` is true, else the counts of messages and
// the jitter of datagrams.
void add_counts(JsonObject& object, const Results& results, bool of_connections);

// Adds the 50th and the 99th percentile and the buckets, if there are times.
void add_recent(JsonObject& object, const Histogram& times, const TimesRow& row);

// Returns the end object, to which the caller may add members. `reason`: why the run ended.
// `status`: the exit status.
JsonObject end_object(const RunResults& results, std::string_view reason, int status,
                      const Verdict& verdict = {});

}  // namespace yodel
