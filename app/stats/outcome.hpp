// Reports the end of a run, or of a conversation on the screen: the exit
// status, the last sentences and the end object.
#pragma once

#include "app/stats/figures.hpp"
#include "app/stats/requirement.hpp"
#include "app/stats/results.hpp"
#include "app/text/exit_status.hpp"
#include "app/text/json.hpp"

#include <string>
#include <string_view>
#include <vector>

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

struct Outcome {
    const RunResults& results;
    Verdict verdict = {};
    // Errors of standard input or output, or of a file. The first decides the status.
    std::vector<Trouble> troubles = {};
    int signo = 0;  // the signal that ended the program; 0: none
    SummaryParts summary_parts = {};
    std::string reason = "closed";  // why the run ended, if nothing failed

    // Returns the exit status, and its cause as the text. The first of these decides: a signal,
    // as a shell reports it; a failed connection; trouble; a failed requirement, or a fault
    // such as a bad or lost reply or an unsent message, each with status 1.
    Trouble decided() const;
    int status() const { return decided().status; }

    // Returns the lines to print, in this order: sentences about the first bad reply and the
    // first lost reply; failures of connections with their counts; a sentence about the first
    // unsent message; troubles; the summary; requirements that held until the end of a climb;
    // failed requirements. If the status is not 0, there is at least one line.
    std::vector<std::string> lines() const;
    void print() const;  // prints lines() on standard error
    JsonObject json() const;

private:
    std::string faults() const;
    std::string failure_with(int status) const;
};

// Returns the first ten failures of connections, such as "connection refused (3 times)".
// Omits those before `first`. Without `all`, omits failures with a status other than 0, which a
// retry has repaired.
std::vector<std::string> failure_lines(const Results& results, bool all = true,
                                       std::size_t first = 0);

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
