// Searches for the highest rate at which a service meets a requirement: makes one run after
// another in the open loop, each at a rate of its own, and reports the last rate that held.
//
// A rate holds if the requirement does, the client itself has kept the rate, and 19 of 20
// messages got their right reply.
#pragma once

#include "app/run/progress_line.hpp"
#include "app/run/reporter.hpp"
#include "app/run/run.hpp"
#include "app/stats/rate_search.hpp"
#include "app/stats/requirement.hpp"
#include "app/stats/results.hpp"
#include "app/text/log_file.hpp"
#include "app/text/output.hpp"
#include "ev/loop.hpp"

#include <memory>
#include <string>

namespace yodel {

class RateClient {
public:
    struct Options {
        RunOptions run;  // its pace and its length are set here
        Requirement required;
        Reporter::Options report = {};
        RateSearch::Options search = {};
        // The shortest run at a rate.
        ev::Duration min_time = std::chrono::seconds(2);
        double min_messages = 1000;
        // The messages of a brief run, see RateSearch: too few to show that a condition holds,
        // and enough to show that it can't.
        double brief_messages = 30;
    };

    // Throws std::runtime_error if the limits of the system do not allow that many connections.
    RateClient(ev::Loop& loop, Options options);
    RateClient(const RateClient&) = delete;
    RateClient& operator=(const RateClient&) = delete;

    // Ends the run under way and stops the loop soon, for a signal from outside, which then is
    // the exit status.
    void leave(int signo);
    void continued() { run_->void_round_trips(); }
    bool has_open_connection() const { return run_->has_open_connection(); }
    void turn_ended() {}
    // Returns the sentence about the highest rate. Once the search is over.
    std::string found() const;
    // Prints on standard error what was found, and returns the exit status.
    int report();

private:
    void begin_run();
    void run_over();
    std::string trouble_of(const Results& result) const;
    void report_run(const Results& result, const std::string& trouble);
    void search_over();
    void stop_if_written();
    bool json() const { return options_.report.form == Reporter::Form::json; }
    const Results& shown() const { return best_ ? *best_ : *last_; }
    int status() const;

    ev::Loop& loop_;
    const Options options_;
    Output output_;
    RateSearch search_;
    std::unique_ptr<Run> run_;
    std::unique_ptr<Results> best_;  // of the highest rate that held
    std::unique_ptr<Results> last_;  // of the last run
    std::string trouble_;            // of the last run that failed
    std::string mismatch_;
    Verdict verdict_;
    ReportFile hgrm_;
    std::string hgrm_trouble_;
    ProgressLine line_;
    const bool progress_;
    bool over_ = false;
    int signo_ = 0;
};

}  // namespace yodel
