// Runs either client without the full screen: makes the source of a run, runs it, prints events
// and results, and owns the page of a load.
//
// Prints replies or, with Form::json, objects on standard output. A load prints an `interval`
// object each second instead of an object for each message. A display may show the progress:
// the page of the options, or a line on standard error if it is a terminal.
#pragma once

#include "app/process/sandbox.hpp"
#include "app/protocol/recording.hpp"
#include "app/protocol/session.hpp"
#include "app/run/reporter.hpp"
#include "app/run/run.hpp"
#include "app/run/sources.hpp"
#include "app/stats/outcome.hpp"
#include "app/stats/run_display.hpp"
#include "bufio/dial.hpp"
#include "ev/loop.hpp"

#include <chrono>
#include <csignal>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace yodel {

class RunClient final : private Reporter::User, private RunDisplay::User {
public:
    struct Options {
        enum class From { generator, input, recording, none };

        RunOptions run;  // RunClient sets `source` and `start`
        Reporter::Options report = {};
        From from = From::generator;
        bool escapes = false;  // the input contains escapes such as \n and \xNN
        std::shared_ptr<const Recording> recording = {};  // without trouble
        bool fast = false;                                // see Replay
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
    void turn_ended();
    // Prints the outcome on standard error, and returns the exit status.
    int report();

private:
    void output_changed() override;
    bool prepare_for_line() override { return !display_ || display_->prepare_for_line(); }
    RunProgress progress() override;
    Histogram take_recent() override;
    void interrupted() override;
    void suspending() override { run_.void_round_trips(); }

    RunOptions run_options(const Options& options);
    void make_source(const Options& options, RunOptions& to);
    void make_display(const Options& options);
    bool json() const { return options_.form == Reporter::Form::json; }
    bool reports_intervals() const {
        return options_.load && !reports_messages_ && json() && !options_.quiet;
    }
    void report_problem();
    void interval_over();
    void out_of_time();
    void run_done();
    std::vector<Trouble> troubles() const;
    Outcome outcome() const;

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
    std::size_t failures_printed_ = 0;    // see SummaryParts
    bool reply_problem_printed_ = false;  // the first bad reply was reported
    std::size_t own_descriptors_ = 0;     // in use before the first connection
    Histogram reported_times_;            // round trips until the last take_recent()
    std::vector<Trouble> troubles_;
    std::unique_ptr<Script> script_;  // shared standard input; null if not shared
    ev::Timer interval_timer_;        // end of the interval
    ev::Timer limit_timer_;           // time limit, also for our output
    const RunOptions run_options_;
    Reporter reporter_;
    Run run_;
    std::unique_ptr<RunDisplay> display_;  // null: no display, or the run has ended
};

// Records the first signal that ends the program.
class EndingSignals {
public:
    template <class Leave>
    EndingSignals(ev::Loop& loop, Leave leave) {
        for (const int number : {SIGINT, SIGTERM, SIGHUP})
            signals_.emplace_back(loop, number, [this, leave, number] {
                if (signo_ == 0) signo_ = number;
                std::signal(SIGTTOU, SIG_IGN);  // the summary may be written in the background
                leave(signo_);
            });
    }
    int signo() const { return signo_; }

private:
    std::vector<ev::Signal> signals_;
    int signo_ = 0;
};

// Returns the exit status, and sets `signo` to the signal that ended the client.
template <class Client>
int run_client(ev::Loop& loop, const typename Client::Options& options, int& signo) {
    std::optional<Client> client;
    const EndingSignals ending(loop, [&](int number) { client->quit(number); });
    const ev::Signal continued(loop, SIGCONT, [&] { client->continued(); });
    client.emplace(loop, options);  // may set up the terminal, so handle signals first
    while (loop.step()) client->turn_ended();
    signo = ending.signo();
    return client->report();
}

// Returns the sandbox rules for a client that connects to the endpoint.
SandboxRules rules_to_connect(const bufio::Endpoint& endpoint);

// Shows the counts of a run on one line of the terminal on standard error.
std::unique_ptr<RunDisplay> make_progress_line(ev::Loop& loop, RunDisplay::User& user);

// A line that other output must clear first. It is cut to the width of the terminal, and not
// shown by a background job.
class TemporaryLine {
public:
    TemporaryLine() = default;
    ~TemporaryLine() { clear(); }
    TemporaryLine(const TemporaryLine&) = delete;

    void show(std::string text);  // replaces the line
    void clear();

private:
    std::size_t width_ = 0;  // columns to clear
};

}  // namespace yodel
