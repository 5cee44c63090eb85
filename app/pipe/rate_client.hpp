// The client that looks for the highest rate at which a service does what is required: runs one
// crowd after another, each at a rate of its own in the open loop, and reports the last rate
// that held.
//
// A rate holds where the requirement does, the client itself has kept the rate, and 19 of 20
// messages got their right reply.
#pragma once

#include "app/pipe/crowd_threads.hpp"
#include "app/pipe/progress_line.hpp"
#include "app/pipe/reporter.hpp"
#include "app/stats/rate_search.hpp"
#include "app/stats/requirement.hpp"
#include "app/stats/results.hpp"
#include "app/stats/verdict.hpp"
#include "app/text/output.hpp"
#include "app/text/report_file.hpp"
#include "ev/loop.hpp"

#include <memory>
#include <optional>
#include <string>

namespace yodel {

class RateClient {
public:
    struct Options {
        CrowdThreads::Options crowd;  // its pace and its length are set here
        Requirement required;
        Reporter::Options report = {};
        RateSearch::Options search = {};
        // A run at a rate takes at least so long, and has at least so many messages.
        ev::Duration least_time = std::chrono::seconds(2);
        double least_messages = 1000;
        // The messages of a brief one, see RateSearch: too few to show that a condition holds,
        // and enough to show that one can't.
        double brief_messages = 30;
    };

    // Throws std::runtime_error where the system's limits don't allow so many connections.
    RateClient(ev::Loop& loop, Options options);
    RateClient(const RateClient&) = delete;
    RateClient& operator=(const RateClient&) = delete;

    // Ends the run under way and stops the loop soon, for a signal from outside, which then is
    // the exit status.
    void leave(int signo);
    void continued() { crowd_->void_round_trips(); }
    bool connection_stands() const { return crowd_->connection_stands(); }
    void turn_ended() {}
    // Returns the sentence about the highest rate. Once the search is over.
    std::string found() const;
    // Prints on standard error what was found, and returns the exit status.
    int report();

private:
    void begin_run();
    void run_over();
    std::string trouble_of(const Results& result) const;
    void note_run(const Results& result, const std::string& trouble);
    void search_over();
    void stop_if_written();
    bool json() const { return options_.report.form == Reporter::Form::json; }
    const Results& shown() const { return best_ ? *best_ : *last_; }
    std::string end_text() const;
    int status() const;

    ev::Loop& loop_;
    const Options options_;
    Output output_;
    RateSearch search_;
    std::unique_ptr<CrowdThreads> crowd_;
    std::unique_ptr<Results> best_;  // of the highest rate that held
    std::unique_ptr<Results> last_;  // of the last run
    std::string trouble_;            // of the last run that failed
    std::string mismatch_;
    Verdict verdict_;
    std::optional<ReportFile> hgrm_;
    std::string hgrm_trouble_;
    ProgressLine line_;
    const bool progress_;
    bool over_ = false;
    int signo_ = 0;
};

}  // namespace yodel
