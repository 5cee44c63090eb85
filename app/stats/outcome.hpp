// The end of a run, of a sum of runs, or of a conversation on the screen: the exit status, the
// last sentences and the end object.
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
    const Results& results;
    Verdict verdict = {};
    // Errors of standard input or output, or of a file. The first decides the status.
    std::vector<Trouble> troubles = {};
    int signo = 0;  // the signal that ended the program; 0: none
    SummaryParts words = {};
    std::string reason = "closed";  // why it ended, unless something failed

    // Returns the signal's status, as a shell reports it. Otherwise returns the status of a
    // failed connection or of trouble, or 1 if a requirement failed, a reply was wrong or lost,
    // or a message unsent. The text is what decided.
    Trouble decided() const;
    int status() const { return decided().status; }

    // Returns what to print, in this order: sentences about the first wrong and lost reply,
    // failures of connections with their counts, trouble, the summary, the verdict. If the
    // status is not 0, there is at least one sentence.
    std::vector<std::string> lines() const;
    void print() const;  // the lines, on standard error
    JsonObject json() const;

private:
    bool faulty() const;
    std::string failure_with(int status) const;
};

// Returns the first ten failures of connections: "connection refused (3 times)". `all`: false
// leaves out failures with a status, which a retry has made good.
std::vector<std::string> failure_lines(const Results& results, bool all = true);

}  // namespace yodel
