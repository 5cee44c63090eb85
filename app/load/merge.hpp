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

// How well runs coincided.
struct Coincidence {
    ev::Duration began_within{};  // from the first to the last beginning
    double overlap = 0;           // the time that all share, as a part of all their time
    std::string remark = {};      // the run that is off, as a sentence; empty: none

    // There must be at least one run.
    static Coincidence of(const std::vector<RunSpan>& runs);
};

// Adds up the results of the files, prints the sum and its verdict, and returns the exit
// status. Throws UsageError and OutputError.
int merge(const std::vector<std::string>& files, const Reporter::Options& options);

}  // namespace yodel
