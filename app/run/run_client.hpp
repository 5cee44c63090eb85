// Runs either client without the full screen: makes the source of a run, runs it, prints events
// and results, and owns the page of a load.
//
// A load with Form::json prints an `interval` object each second instead of an object for each
// message. A display may show the progress: the page of the options, or a line on standard
// error if it is a terminal.
#pragma once

#include "app/process/sandbox.hpp"
#include "app/protocol/recording.hpp"
#include "app/protocol/session.hpp"
#include "app/run/reporter.hpp"
#include "app/run/run.hpp"
#include "app/run/sources.hpp"
#include "app/stats/outcome.hpp"
#include "bufio/dial.hpp"
#include "ev/loop.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace yodel {

struct RunProgress {
    enum class Phase {
        connecting,  // no message has been sent
        warming_up,
        running,
        ending,  // waits for replies and ends of connections
        ended,
    };

    // Counts so far, valid until the next turn of the loop.
    const Results& results;
    Phase phase = Phase::connecting;
    std::string target;
    std::size_t connections = 1;  // requested concurrent connections
    std::size_t open = 0;         // open connections
    // Planned messages per second during the last second; none: paced by the replies.
    std::optional<double> planned_rate = {};
    std::optional<double> last_rate = {};       // rate at the end of a climb
    ev::Duration elapsed{};                     // since the first message
    std::optional<ev::Duration> length = {};    // length of the run; none: unlimited
    std::uint64_t count = 0;                    // messages of the run; 0: unlimited
    std::optional<ev::Duration> until_start{};  // time until the requested start
    std::size_t descriptors = 0;                // descriptors in use
    std::size_t descriptor_limit = 0;           // 0: no limit
    std::vector<Requirement::Judged> required = {};
};

// Displays a run live, on a full-screen page. A display asks its owner for the progress when it
// is time to draw.
class RunDisplay {
public:
    class Owner {
    public:
        virtual RunProgress progress() = 0;
        // Called for ^C. The first call ends the run gracefully, the second call ends it now.
        // After the run, called for any key.
        virtual void interrupted() = 0;
        // Called before the program is suspended.
        virtual void suspending() = 0;

    protected:
        ~Owner() = default;
    };
    // The owner outlives the display.
    using Make = std::function<std::unique_ptr<RunDisplay>(Owner& owner)>;

    RunDisplay() = default;
    RunDisplay(const RunDisplay&) = delete;
    RunDisplay& operator=(const RunDisplay&) = delete;
    // Restores the terminal. Must not be called from a callback of the owner.
    virtual ~RunDisplay() = default;

    // Draws if it is time to. Call it after each turn of the loop.
    virtual void turn_ended() {}
    // Returns true if the display stays after the run until a key is pressed.
    virtual bool stays() const { return false; }
    // Call it after the program was suspended.
    virtual void continued() {}
};

class RunClient final : private RunDisplay::Owner {
public:
    struct Options {
        enum class From { generator, input, recording, none };

        RunOptions run;  // RunClient sets `source`, `start` and `samples_from`
        Reporter::Options report = {};
        From from = From::generator;
        bool escapes = false;  // the input contains escapes such as \n and \xNN
        std::shared_ptr<const Recording> recording = {};  // without trouble
        bool fast = false;                                // see Replay
        // Time of the first message.
        std::optional<std::chrono::system_clock::time_point> start = {};
        // Makes the page, which then owns standard output; may be null.
        RunDisplay::Make page = {};
    };

    // Throws what Run and Reporter throw.
    RunClient(ev::Loop& loop, Options options);
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
    RunProgress progress() override;
    void interrupted() override;
    void suspending() override { run_.void_round_trips(); }

    Options completed(Options options);
    void make_source(Options& options);
    bool json() const { return options_.report.form == Reporter::Form::json; }
    bool load() const { return options_.report.load; }
    bool generated() const { return options_.from == Options::From::generator; }
    bool reports_messages() const {
        return !load() || (!generated() && options_.from != Options::From::none);
    }
    void show_line();
    void output_changed();
    void interval_over();
    void run_done();
    Outcome outcome() const;

    ev::Loop& loop_;
    const ev::Time start_;
    std::unique_ptr<LineSource> kept_input_;  // for several connections; null for one
    const Options options_;
    struct {
        bool interrupted = false;
        bool paused = false;
        bool out_of_time = false;
        bool over = false;
        int signo = 0;
    } state_;
    struct {
        std::size_t failures = 0;    // see SummaryParts
        bool reply_problem = false;  // the first bad reply was reported
    } printed_;
    std::size_t own_descriptors_ = 0;  // in use before the first connection
    RecentTimes recent_;               // of the interval
    std::vector<Trouble> troubles_;
    ev::Timer interval_timer_;  // end of the interval
    // Time limit, also for our output; `max_time_` is its length.
    ev::Timer limit_timer_;
    std::optional<ev::Duration> max_time_;
    Reporter reporter_;
    Run run_;
    std::unique_ptr<RunDisplay> display_;  // null without one, or once it was removed
    ev::Timer line_timer_;                 // shows the counts on a temporary line
};

// Returns the sandbox rules for a client that connects to the endpoint.
SandboxRules rules_to_connect(const bufio::Endpoint& endpoint);

}  // namespace yodel
