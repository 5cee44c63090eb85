// Runs yodel in pipe mode, or yodel-load. A Reporter prints what happens. The page that the
// options supply or, on a terminal, a line on standard error may show the progress. The outcome
// is printed at the end. With Form::json, a load whose messages are not reported one by one may
// print an `interval` object each second.
#pragma once

#include "app/process/sandbox.hpp"
#include "app/protocol/session.hpp"
#include "app/run/reporter.hpp"
#include "app/run/run.hpp"
#include "app/run/sources.hpp"
#include "app/stats/outcome.hpp"
#include "app/stats/results.hpp"
#include "bufio/dial.hpp"
#include "ev/loop.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace yodel {

struct RunProgress {
    enum class Phase {
        connecting,  // before the first message or, in a probe, the first open connection
        warming_up,
        running,
        ending,  // waits for replies and ends of connections
        ended,
    };

    // Counts so far, valid until the next turn of the loop.
    const Results& results;
    const RunOptions& run;
    std::string target;
    Phase phase = Phase::connecting;
    // Planned messages per second during the last second or, after the run, on average; unset
    // if the replies set the pace.
    std::optional<double> planned_rate = {};
    ev::Duration elapsed{};                     // since Results::first_sent_at
    std::optional<ev::Duration> until_start{};  // time until the requested start
    std::size_t descriptors = 0;                // approximate number in use
    std::size_t descriptor_limit = 0;           // 0 if there is none
    std::vector<Requirement::Verdict> verdicts = {};
};

// Displays a run live, on a full-screen page. It asks its owner for the progress when it is
// time to draw.
class RunDisplay {
public:
    class Owner {
    public:
        virtual RunProgress progress() = 0;
        // Called for ^C. The first call ends the run, the second call quits immediately. After
        // the run, called for any key, and stops the loop.
        virtual void interrupted() = 0;
        // Called before the program is suspended, and when it continues.
        virtual void suspending() = 0;

    protected:
        ~Owner() = default;
    };
    // The owner must outlive the display.
    using Make = std::function<std::unique_ptr<RunDisplay>(Owner& owner)>;

    // Restores the terminal. Must not be called from a callback of the owner.
    virtual ~RunDisplay() = default;

    // Draws if it is time to. Call it after each turn of the loop.
    virtual void turn_ended() = 0;
    // Call it after the program was suspended.
    virtual void continued() = 0;
};

class RunClient final : public RunDisplay::Owner {
public:
    struct Options {
        RunOptions run;  // RunClient completes them
        Reporter::Options report = {};
        // Earliest time of the first message.
        std::optional<std::chrono::system_clock::time_point> start_at = {};
        // Makes the page, which then owns standard output. Null if there is no page.
        RunDisplay::Make page = {};
    };

    // Throws what Run and Reporter throw.
    RunClient(ev::Loop& loop, Options options);
    RunClient(const RunClient&) = delete;

    // Closes the connections after a signal, and soon stops the loop. The exit status is then
    // 128 plus the signal.
    void quit(int signo);
    void continued();  // call it after a suspension
    void turn_ended();
    // Prints the outcome on standard error, and returns the exit status.
    int report();

private:
    RunProgress progress() override;
    void interrupted() override;
    void suspending() override { run_.suspending(); }
    void suspend();

    Options completed(Options options) const;
    bool is_load() const { return options_.report.is_load; }
    ev::Duration time_after_sending() const;
    void show_progress();
    void print_interval();
    void complete();
    Outcome outcome();

    ev::Loop& loop_;
    const Options options_;
    bool was_interrupted_ = false;
    bool is_paused_ = false;
    bool is_complete_ = false;         // the run has ended, and its end is reported
    std::size_t own_descriptors_ = 0;  // those in use before the first connection; for a page
    ev::Signal stop_signal_;  // ^Z; empty if there is a page, which suspends the program itself
    ev::Timer limit_timer_;   // bounds the run and our output; empty while unlimited
    Reporter reporter_;
    Run run_;
    Outcome outcome_;           // without what outcome() adds
    ev::Timer progress_timer_;  // until the next progress line; empty if none are printed
    ev::Timer interval_timer_;  // until the next interval object; empty if none are printed
    Histogram seen_times_;      // main times in the interval objects so far
    std::uint64_t interval_count_ = 0;
    std::unique_ptr<RunDisplay> page_;  // may stay after the run, until a key is pressed
};

// Returns the sandbox rules for a client that connects to the endpoint.
SandboxRules rules_to_connect(const bufio::Endpoint& endpoint);

}  // namespace yodel
