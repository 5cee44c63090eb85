// Reports the end of a run, or of a conversation on the screen: the exit status, the last
// sentences and the end object.
#pragma once

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
    bool expects_any = false;          // "answered" instead of "echoed"
    bool listens = false;              // count received messages instead of replies
    bool is_load = false;              // include the rate and all failures
    bool is_problem_printed = false;   // reply_problem_sentence was printed
    std::size_t printed_failures = 0;  // how many failures were printed already
    bool is_verbose = false;           // add the network's share and a load's connect times
    bool has_summary = true;  // if false, lines() contains it only to explain a failure
};

// Returns "120 sent, 120 echoed, 0 bad, 0 lost, 222k/s; rtt min/p50/p95/p99/max 0.08/…/3.1 ms",
// with remarks. `parts` selects the rate and some remarks. With fewer than 20 round trips, only
// their minimum and maximum are included. For a probe, returns "120 connections opened, 0
// failed, 1.2k/s; connect p50/p99/max 0.04/0.1/0.2 ms" and the like.
std::string summary(const RunResults& results, const SummaryParts& parts = {});
// Returns "120 sent, 119 echoed, 0 bad, 0 lost, p50 0.21 ms", for a run in progress.
std::string progress_text(const Results& results, const SummaryParts& parts = {});
// Returns the object that a load prints each second. Counts are totals so far, but `recent`
// contains only the main times since the previous object.
JsonObject interval_object(const Results& results, std::uint64_t second,
                           const Histogram& recent);

struct Outcome {
    const RunResults& results;
    std::vector<Requirement::Verdict> verdicts = {};
    // Errors of standard input or output, or of a file. See decided() for the exit status.
    std::vector<Trouble> troubles = {};
    int signo = 0;  // the signal that ended the program; 0 if none did
    SummaryParts summary_parts = {};
    std::string reason = "closed";  // why the run ended, if no failure explains it

    // Returns the exit status, and its cause as the text. The first of these decides: a signal,
    // with the status that a shell reports; a connection that failed with a status above 1; a
    // trouble; a failed requirement; a fault, such as a bad or lost reply or an unsent message;
    // any other failure. Requirements may tolerate faults, and connections that never opened.
    Trouble decided() const;
    int status() const { return decided().status; }

    // Returns the lines to print, in this order: sentences about the first wrong reply and the
    // first lost message; failures of connections with their counts; a sentence about the first
    // unsent message; troubles; the summary; requirements that held until the end of a climb;
    // failed requirements.
    std::vector<std::string> lines() const;
    void print() const;       // prints lines() on standard error
    JsonObject json() const;  // the end object, to which the caller may add members

private:
    // Returns true if there are requirements on this figure and all of them hold. They then
    // replace the rule that a fault, such as a lost reply or a failed connection, fails the
    // run.
    bool tolerates(std::string_view figure) const;
    std::string faults_text() const;
};

}  // namespace yodel
