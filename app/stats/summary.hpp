// Writes the summary of a run.
#pragma once

#include "app/stats/results.hpp"

#include <string>

namespace yodel {

// Selects the parts of a summary, and the words in it.
struct SummaryParts {
    bool expects_any = false;            // "answered" instead of "echoed"
    bool listens = false;                // only the messages in each direction
    bool load = false;                   // include the rate and all failures
    bool reply_problem_printed = false;  // the sentence about a bad reply was printed
    std::size_t failures_printed = 0;    // the first failures, whose sentences were printed
    bool verbose = false;                // include the network's share and, of a load, connects
    bool summary = true;                 // false: only sentences about failures
};

// Returns "120 sent, 120 echoed, 0 bad, 0 lost, 222k/s; rtt min/p50/p95/p99/max 0.08/…/3.1 ms",
// with remarks. Fewer than 20 times have no percentiles. For a probe: "120 connections opened,
// 0 failed, 1.2k/s; connect p50/p99/max 0.04/0.1/0.2 ms, handshake 0.5/1.1/2.3 ms, 10 full, 110
// resumed".
std::string summary(const RunResults& results, const SummaryParts& parts = {});
// Returns "120 sent, 119 echoed, 0 bad, 0 lost, p50 0.21 ms", for a run in progress.
std::string progress_text(const Results& results, const SummaryParts& parts = {});
// Returns "120 sent, 119 echoed, 0 bad, 1 lost".
std::string counts_text(const Results& results, const SummaryParts& parts = {});
// Returns the clauses of a summary about the client's lateness and a missed planned rate: ";
// late p50/p99 0.04/0.21 ms; planned 10M/s, reached 287k/s". Empty if the client was neither
// late nor slow.
std::string own_fault_remarks(const Results& results);

}  // namespace yodel
