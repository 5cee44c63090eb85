// Adds up the results of earlier runs, from the output of --json.
#pragma once

#include "app/run/reporter.hpp"
#include "ev/time.hpp"

#include <string>
#include <vector>

namespace yodel {

// When a run was measured.
struct RunSpan {
    std::string name;
    ev::Time began;
    ev::Time ended;
};

// How well runs coincided in time.
struct RunOverlap {
    ev::Duration start_spread{};  // time between the first and the last start
    double overlap = 0;           // shared time, as a fraction of the total time
    std::string remark = {};      // sentence that names an outlier; empty: none

    // There must be at least one run.
    static RunOverlap of(const std::vector<RunSpan>& runs);
};

// Adds up the results in the files, prints the sum and its verdict, and returns the exit
// status. Throws UsageError and OutputError.
int merge(const std::vector<std::string>& files, const Reporter::Options& options);

}  // namespace yodel
