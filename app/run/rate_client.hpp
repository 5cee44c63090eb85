// Searches for the highest rate at which a service meets a requirement. Makes one open-loop
// run after another, each at its own rate, and reports the highest rate that held.
//
// A rate holds if the requirement is met, the client itself kept the rate, and at least 95 %
// of the messages were echoed.
#pragma once

#include "app/run/progress_line.hpp"
#include "app/run/report_files.hpp"
#include "app/run/reporter.hpp"
#include "app/run/run.hpp"
#include "app/stats/rate_search.hpp"
#include "app/stats/requirement.hpp"
#include "app/stats/results.hpp"
#include "app/text/output.hpp"
#include "ev/loop.hpp"

#include <memory>
#include <string>
#include <vector>

namespace yodel {

class RateClient {
public:
    struct Options {
        RunOptions run;  // the client sets its pace and length
        Requirement required;
        Reporter::Options report = {};
        RateSearch::Options search = {};
        // Minimum duration and number of messages of a run.
        ev::Duration min_time = std::chrono::seconds(2);
        double min_messages = 1000;
        // Messages of a brief run (see RateSearch): too few to prove that a condition holds,
        // but enough to prove that it does not.
        double brief_messages = 30;
    };

    // Throws std::runtime_error if the system's limits do not allow that many connections.
    RateClient(ev::Loop& loop, Options options);
    RateClient(const RateClient&) = delete;
    RateClient& operator=(const RateClient&) = delete;

    // Aborts the current run on a signal and soon stops the loop. The exit status is then 128
    // plus the signal.
    void quit(int signo);
    void continued() { run_->void_round_trips(); }
    bool has_open_connection() const { return run_->has_open_connection(); }
    void turn_ended() {}
    // Returns the sentence about the highest rate. Call it when the search is over.
    std::string result_text() const;
    // Prints the outcome on standard error, and returns the exit status.
    int report();

private:
    void begin_run();
    void run_over();
    std::string failure_reason(const Results& result) const;
    void report_run(const Results& result, const std::string& trouble);
    void search_over();
    void stop_if_written();
    bool json() const { return options_.report.form == Reporter::Form::json; }
    const Results& reported() const { return best_ ? *best_ : *last_; }
    int status() const;

    ev::Loop& loop_;
    const Options options_;
    Output output_;
    RateSearch search_;
    std::unique_ptr<Run> run_;
    std::unique_ptr<Results> best_;  // results at the highest rate that held
    std::unique_ptr<Results> last_;  // results of the last run
    std::string trouble_;            // reason of the last failure
    std::string mismatch_;
    Verdict verdict_;
    ReportFiles files_;
    std::vector<Trouble> troubles_;
    ProgressLine line_;
    const bool progress_;
    bool over_ = false;
    int signo_ = 0;
};

}  // namespace yodel
