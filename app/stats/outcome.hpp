// Reports the end of a run, or of a conversation on the screen: the exit
// status, the last sentences and the end object.
#pragma once

#include "app/stats/requirement.hpp"
#include "app/stats/results.hpp"
#include "app/stats/summary.hpp"
#include "app/text/exit_status.hpp"
#include "app/text/json.hpp"

#include <string>
#include <vector>

namespace yodel {

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

}  // namespace yodel
