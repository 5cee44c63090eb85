// Runs either client without a screen: makes the source of a run, runs it, and prints events
// and results.
//
// Prints replies or, with Form::json, objects on standard output. A load prints an `interval`
// object each second instead of an object for each message. A display may show the progress:
// the page of the options, or a line on standard error if it is a terminal.
//
// With a second target, two runs send the same messages, and their replies are compared. If one
// fails, the other also ends.
#pragma once

#include "app/protocol/pairing.hpp"
#include "app/run/input.hpp"
#include "app/run/recording.hpp"
#include "app/run/reporter.hpp"
#include "app/run/run.hpp"
#include "app/stats/outcome.hpp"
#include "app/stats/pair.hpp"
#include "app/stats/run_display.hpp"
#include "ev/loop.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>

namespace yodel {

class RunClient final : private Reporter::User, private RunDisplay::User {
public:
    struct Options {
        enum class From { generator, input, recording, none };

        RunOptions run;  // RunClient sets `source` and `start`
        Reporter::Options report = {};
        From from = From::generator;
        bool escapes = false;  // the input contains escapes such as \n and \xNN
        std::shared_ptr<Recording> recording = {};  // its trouble() must be empty
        bool fast = false;                          // see RecordingSource
        // The second target; null: there is one target. Its endpoint, framing, expectation, TLS
        // and WebSocket apply, and the other options of `run`.
        std::shared_ptr<const Session::Options> second = {};
        std::shared_ptr<Recording> second_recording = {};  // what `second` replays
        std::optional<Expression> mask = {};               // see Pairing
        // Time of the first message.
        std::optional<std::chrono::system_clock::time_point> start = {};
        // Makes the page, which then owns standard output; null: no page.
        RunDisplay::Make page = {};
    };

    // Throws what Run and Reporter throw.
    RunClient(ev::Loop& loop, const Options& options);
    ~RunClient();
    RunClient(const RunClient&) = delete;

    // Closes the connections after a signal, and soon stops the loop. The exit status is then
    // 128 plus the signal.
    void quit(int signo);
    // Call it after a suspension. Excludes the messages in flight from timing.
    void continued();
    bool has_open_connection() const {
        return std::any_of(runs_.begin(), runs_.end(),
                           [](const Run& run) { return run.has_open_connection(); });
    }
    void turn_ended();
    // Prints the outcome on standard error, and returns the exit status.
    int report();

private:
    void output_changed() override;
    bool prepare_for_line() override { return !display_ || display_->prepare_for_line(); }
    void reported(unsigned side, std::size_t connection, const Message& message,
                  const Reply* reply) override;
    RunProgress progress() override;
    Histogram take_recent() override { return take_recent(0); }
    void interrupted() override;
    void suspending() override { void_round_trips(); }

    struct Pairs {
        Pairing pairing;
        PairResults results = {};
    };
    void make_runs(const Options& options);
    RunOptions run_options(const Options& options);
    void make_turns(const Options& options, RunOptions& to);
    void make_source(const Options& options, RunOptions& to, unsigned side);
    void make_display(const Options& options);
    bool json() const { return options_.form == Reporter::Form::json; }
    bool reports_intervals() const {
        return options_.load && !reports_messages_ && json() && !options_.quiet;
    }
    Histogram take_recent(unsigned side);
    void void_round_trips() {
        for (Run& run : runs_) run.void_round_trips();
    }
    void finish() {
        for (Run& run : runs_) run.finish();
    }
    void close() {
        for (Run& run : runs_) run.close();
    }
    bool over() const {
        return std::all_of(runs_.begin(), runs_.end(),
                           [](const Run& run) { return run.over(); });
    }
    void sources_changed();
    void ready();
    void report_problem(unsigned side);
    void end_other();
    void add_interval(JsonObject& object, unsigned side);
    void interval_over();
    void out_of_time();
    void run_done(unsigned side);
    void all_done();
    JsonObject end_of(unsigned side) const;
    std::vector<Trouble> troubles() const;
    Outcome outcome(unsigned side) const;
    PairOutcome pair_outcome() const;
    int status() const;

    ev::Loop& loop_;
    const Reporter::Options options_;
    const bool generated_;
    const bool reports_messages_;  // each message is reported
    const ev::Time start_;
    std::optional<ev::Duration> max_time_;
    int signo_ = 0;
    bool over_ = false;
    bool paused_ = false;
    bool out_of_time_ = false;
    bool interrupted_ = false;
    std::size_t unready_ = 0;          // runs that cannot begin yet
    std::size_t running_ = 0;          // runs that are not done
    std::size_t own_descriptors_ = 0;  // in use before the first connection
    // For each target:
    std::array<bool, 2> done_{};
    std::array<bool, 2> reply_problem_printed_{};  // the first bad reply was reported
    std::vector<Histogram> reported_times_;        // round trips until the last take_recent()
    std::vector<Trouble> troubles_;
    std::unique_ptr<Script> script_;  // shared standard input; null if not shared
    ev::Timer interval_timer_;        // end of the interval
    ev::Timer limit_timer_;           // time limit, also for our output
    std::shared_ptr<Turns> turns_;    // null: the runs are not in step
    const RunOptions run_options_;    // options of the first target
    Reporter reporter_;
    std::unique_ptr<Pairs> pairs_;         // null: there is one target
    std::deque<Run> runs_;                 // one for each target
    std::unique_ptr<RunDisplay> display_;  // null: no display, or the run has ended
};

}  // namespace yodel
