// Every client without a screen: makes the source of a run, runs it, prints what the reporter
// makes of its events, and reports the results.
//
// Standard output gets the replies or, with Form::json, objects; a load prints an `interval`
// object each second instead of one for each message. While the run goes on, a display may show
// how it goes: the page that the options make, or a line on the terminal of standard error.
#pragma once

#include "app/run/input.hpp"
#include "app/run/recording.hpp"
#include "app/run/reporter.hpp"
#include "app/run/run.hpp"
#include "app/stats/requirement.hpp"
#include "app/stats/run_display.hpp"
#include "app/stats/summary.hpp"
#include "app/text/log_file.hpp"
#include "ev/loop.hpp"

#include <chrono>
#include <memory>
#include <optional>

namespace yodel {

class RunClient final : private Reporter::User, private RunDisplay::User {
public:
    struct Options {
        enum class From { generator, input, recording, nothing };

        RunOptions run;  // `source` and `start` are set here
        Reporter::Options report = {};
        From from = From::generator;
        bool load = false;     // report the whole, not each generated message
        bool escapes = false;  // the input contains \n, \xNN and the like
        std::shared_ptr<Recording> recording = {};  // without trouble
        bool fast = false;                          // see RecordingSource::Options
        // The time of the first message.
        std::optional<std::chrono::system_clock::time_point> start = {};
        // Makes a page, which has standard output for itself; null: there is no page.
        RunDisplay::Make page = {};
    };

    // Throws as Run and Reporter do.
    RunClient(ev::Loop& loop, const Options& options);
    RunClient(const RunClient&) = delete;
    RunClient& operator=(const RunClient&) = delete;

    // Closes the connections and stops the loop soon, for a signal from outside, which then is
    // the exit status.
    void leave(int signo);
    // The program was stopped for a while: the round trips in flight can't be timed.
    void continued();
    bool has_open_connection() const { return run_.has_open_connection(); }
    void turn_ended();
    // Prints on standard error how it went, and returns the exit status.
    int report();

private:
    void output_changed() override;
    bool make_way() override { return !display_ || display_->make_way(); }
    RunProgress progress() override;
    Histogram take_recent() override { return run_.take_recent(); }
    void interrupted() override;
    void suspending() override { run_.void_round_trips(); }

    RunOptions run_options(const Options& options);
    void make_source(const Options& options, RunOptions& to);
    void make_display(const Options& options);
    bool json() const { return options_.form == Reporter::Form::json; }
    bool intervals() const { return load_ && !messages_ && json() && !options_.quiet; }
    void second_over();
    void out_of_time();
    void done();
    Ending ending() const;
    Words words() const;

    ev::Loop& loop_;
    const Reporter::Options options_;
    const bool load_;
    const bool messages_;  // each message is reported
    const ev::Time start_;
    std::optional<ev::Duration> max_time_;
    int signo_ = 0;
    bool over_ = false;
    bool paused_ = false;
    bool out_of_time_ = false;
    bool interrupted_ = false;
    bool wrong_reported_ = false;      // the sentence about the first wrong reply
    std::optional<ev::Time> begun_;    // when a message was first seen to be sent
    std::size_t own_descriptors_ = 0;  // in use before the first connection
    std::vector<Trouble> troubles_;
    Verdict verdict_;
    ReportFile hgrm_;
    std::unique_ptr<Script> script_;  // null: no connections share standard input
    ev::Timer second_;                // the end of an interval
    ev::Timer limit_;                 // the time for our own output
    const RunOptions run_given_;
    Reporter reporter_;
    Run run_;
    std::unique_ptr<RunDisplay> display_;  // until the end; null: nothing is shown
};

}  // namespace yodel
