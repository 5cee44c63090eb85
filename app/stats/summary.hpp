// The report at the end of a run of any kind: the summary, the exit status, and the order of
// sentences.
#pragma once

#include "app/stats/requirement.hpp"
#include "app/stats/results.hpp"
#include "app/text/exit_status.hpp"

#include <string>
#include <vector>

namespace yodel {

// Options of the wording.
struct Words {
    bool answered = false;        // any reply will do: "answered" instead of "echoed"
    bool load = false;            // the rate follows the counts; all failures are reported
    bool wrong_reported = false;  // the sentence about a wrong reply was printed
    bool verbose = false;         // the times of connecting are added
    bool summary = true;          // false: sentences about failures only, no summary
};

// "120 sent, 120 echoed, 0 bad, 0 lost, 222k/s; rtt min/p50/p95/p99/max 0.08/…/3.1 ms", and
// remarks if there are any. Of a probe: "120 connections opened, 0 failed, 1.2k/s; connect
// p50/p99/max 0.04/0.1/0.2 ms, handshake 0.5/1.1/2.3 ms, 10 full, 110 resumed".
std::string summary(const Results& results, const Words& words = {});
// "120 sent, 119 echoed, 0 bad, 0 lost, p50 0.21 ms": while the run goes on.
std::string progress_text(const Results& results, const Words& words = {});
// "120 sent, 119 echoed, 0 bad, 1 lost"
std::string counts_text(const Results& results, const Words& words = {});
// Returns the clauses of a summary about the client's lateness and a missed planned rate: ";
// late p50/p99 0.04/0.21 ms; planned 10M/s, reached 287k/s". Empty if the client was neither
// late nor slow.
std::string own_fault_remarks(const Results& results);

// The causes of the end of a run besides its connections.
struct Ending {
    // Errors of standard input or output, or of a file. The first decides the status.
    std::vector<Trouble> troubles = {};
    int signo = 0;  // the signal that ended the program; 0: none
};

// Returns the signal's status, as a shell reports it. Otherwise returns the status of a failed
// connection or of trouble, or 1 if a reply was wrong or lost, a message unsent, or a
// requirement failed.
int exit_status(const Results& results, const Verdict& verdict, const Ending& ending = {});

// Returns what to print at the end, in this order: sentences about the first wrong and lost
// reply, failures of connections with their counts, trouble, the summary, the verdict. If the
// status is not 0, there is at least one sentence.
std::vector<std::string> last_words(const Results& results, const Verdict& verdict,
                                    const Ending& ending, const Words& words);

// Returns the first ten failures of connections: "connection refused (3 times)". `all`: false
// leaves out failures with a status, which a retry has made good.
std::vector<std::string> failure_lines(const Results& results, bool all = true);

}  // namespace yodel
