// The client for many conversations at once: runs a crowd, and reports what came of it, on
// standard error in words, and with Form::json as an object on standard output, and one for
// each second. While it runs a display shows how it goes: the page that the options make, or a
// line on the terminal that standard error is.
//
// With `verbose` each connection and its end is a line of standard error, up to a thousand.
//
// Where the crowd says a script, its lines are those of standard input. Replies are then lines
// of standard output if `verbose` is set, `K: reply` with the number of the connection; and
// with Form::json each connection and message is an object. The objects are the same where a
// recording is said again; in the other form its differences are printed, up to a thousand,
// with the number of the connection.
#pragma once

#include "app/pipe/crowd.hpp"
#include "app/pipe/crowd_threads.hpp"
#include "app/pipe/replay_report.hpp"
#include "app/pipe/replayer.hpp"
#include "app/pipe/reporter.hpp"
#include "app/pipe/script.hpp"
#include "app/stats/crowd_display.hpp"
#include "app/stats/results.hpp"
#include "app/stats/summary.hpp"
#include "app/stats/verdict.hpp"
#include "app/text/output.hpp"
#include "app/text/report_file.hpp"
#include "ev/loop.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace yodel {

class CrowdClient final : private Crowd::Observer, private CrowdDisplay::User {
public:
    struct Options {
        Crowd::Options crowd;
        Reporter::Options report = {};
        // The time of the first message; it takes the place of Crowd::Options::start.
        std::optional<std::chrono::system_clock::time_point> start = {};
        bool script = false;
        bool escapes = false;     // the script holds \n, \xNN and the like
        std::size_t threads = 1;  // these two are of CrowdThreads::Options
        bool busy = false;
        // Makes the page that has standard output for itself; none: there is no page.
        CrowdDisplay::Make page = {};
    };

    // Throws std::runtime_error where the system's limits don't allow so many connections.
    CrowdClient(ev::Loop& loop, const Options& options);
    CrowdClient(const CrowdClient&) = delete;
    CrowdClient& operator=(const CrowdClient&) = delete;

    // Closes the connections and stops the loop soon, for a signal from outside, which then is
    // the exit status.
    void leave(int signo);
    // The program was stopped for a while: the round trips in flight can't be timed.
    void continued();
    bool connection_stands() const { return crowd_.connection_stands(); }
    void turn_ended();
    // Prints on standard error how it went, and returns the exit status.
    int report();

private:
    void opened(std::size_t connection, const AnySession& session) override;
    void ended(std::size_t connection, const AnySession& session) override;
    void answered(std::size_t connection, const Message& message, const Reply& reply) override;
    void lost(std::size_t connection, const Message& message) override;
    void unsolicited(std::size_t connection, std::string_view payload) override;
    void compared(std::size_t connection, Replayer::Unsolicited kind,
                  std::string_view payload) override;
    void answered_again(std::size_t connection, const Message& message, const Reply& reply);
    void lost_again(std::size_t connection, const Message& message);
    void add_difference(std::size_t connection, const std::string& text);
    void remark(std::size_t connection, const std::string& text);
    void add_message(std::size_t connection, const char* verdict, const Message* message,
                     const Reply* reply);
    void add_line(std::size_t connection, std::string_view reply);

    Crowd::Options crowd_options(const Options& options) const;
    CrowdProgress progress() override;
    Histogram take_recent() override { return crowd_.take_recent(); }
    void interrupted() override;
    void suspending() override { crowd_.void_round_trips(); }

    void make_display(const Options& options);
    CrowdProgress::Phase phase() const;
    void read_input();
    void second_over();
    std::string interval_text();
    void done();
    void write_hgrm();
    std::string end_text() const;
    void output_changed();
    void watch_output();
    void pause(bool paused);
    bool json() const { return options_.form == Reporter::Form::json; }
    bool each_reported() const { return script_ || replay_; }  // message
    int status() const;
    std::string reason() const;

    ev::Loop& loop_;
    const Reporter::Options options_;
    const std::string target_;
    const bool visible_;  // standard output is a terminal: unsafe bytes are made visible
    const ev::Time start_;
    bool paused_ = false;
    Ending ending_;
    Output output_;
    std::optional<Script> script_;
    std::optional<ReplayReport> replay_;  // if a recording is said again
    CrowdThreads crowd_;
    std::unique_ptr<Results> result_;  // once the crowd is done
    Verdict verdict_;
    std::optional<ReportFile> hgrm_;
    ev::Watch input_;                  // of the script
    ev::Timer second_;                 // with Form::json: the end of this one
    std::size_t own_descriptors_ = 0;  // in use before the first connection
    std::optional<ev::Time> begun_;    // when a message was first seen to be sent
    bool interrupted_ = false;
    std::size_t remarks_ = 0;                // about connections
    std::size_t differences_ = 0;            // from the recording that were printed
    std::unique_ptr<CrowdDisplay> display_;  // until the end; null: nothing is shown
};

}  // namespace yodel
