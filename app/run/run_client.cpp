#include "app/run/run_client.hpp"

#include "app/process/program.hpp"
#include "app/stats/histogram.hpp"
#include "app/text/exit_status.hpp"
#include "app/text/output.hpp"
#include "app/text/units.hpp"

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <limits>
#include <utility>

namespace yodel {

using From = RunOptions::From;

namespace {

// Additional time at the end, for late datagrams and for our output.
constexpr ev::Duration grace_time = std::chrono::seconds(2);

constexpr ev::Duration progress_interval = std::chrono::milliseconds(200);
constexpr ev::Duration object_interval = std::chrono::seconds(1);

// Returns true if a file or pipe at standard input contains data, perhaps meant to be sent.
bool has_unread_input() {
    struct stat input {};
    int count = 0;
    if (::fstat(STDIN_FILENO, &input) != 0) return false;
    if (S_ISREG(input.st_mode) || S_ISFIFO(input.st_mode))
        ::ioctl(STDIN_FILENO, FIONREAD, &count);
    return count != 0;
}

}  // namespace

RunClient::RunClient(ev::Loop& loop, Options options)
    : loop_(loop),
      options_(completed(std::move(options))),
      reporter_(loop, options_.report, options_.run),
      run_(loop, options_.run,
           reporter_.reports_messages() || options_.report.is_verbose ? &reporter_ : nullptr),
      outcome_{.results = run_.results()} {
    const Reporter::Options& report = options_.report;
    const bool is_json = report.form == Reporter::Form::json;
    const bool has_shared_source = options_.run.shares_source();
    const Session::Options& session = options_.run.session;
    // The summary is printed despite --quiet if there is no other result.
    const bool is_summarized = !is_json && !reporter_.prints_replies();
    outcome_.summary_parts = {.expects_any = session.expect == Expect::any,
                              .listens = session.listens(),
                              .is_load = is_load(),
                              .is_verbose = report.is_verbose,
                              .has_summary =
                                  !reporter_.is_probe() && (!report.is_quiet || is_summarized)};
    if (!has_shared_source && session.max_time) {
        limit_timer_ = ev::Timer(loop, [] {});  // checked by turn_ended()
        limit_timer_.start(*session.max_time - session.time_spent);
    }
    if (is_load() && !reporter_.reports_messages() && is_json && !report.is_quiet) {
        interval_timer_ = ev::Timer(loop, [this] { print_interval(); });
        interval_timer_.start(object_interval);
    }
    // There is no progress line if replies or objects are printed on the same terminal.
    const bool is_printing =
        (is_json || reporter_.reports_messages()) && ::isatty(STDOUT_FILENO) == 1;
    if (options_.page) {
        own_descriptors_ = used_descriptors();
        page_ = options_.page(*this);
        return;
    }
    stop_signal_ = ev::Signal(loop, SIGTSTP, [this] { suspend(); });
    if (::isatty(STDERR_FILENO) == 1 && !is_printing && (is_load() || has_shared_source)) {
        progress_timer_ = ev::Timer(loop, [this] { show_progress(); });
        progress_timer_.start(progress_interval);
    }
}

RunClient::Options RunClient::completed(Options options) const {
    RunOptions& run = options.run;
    Session::Options& session = run.session;
    options.report.has_remarks = !options.page || ::isatty(STDERR_FILENO) != 1;
    if (options.report.is_load && options.report.form == Reporter::Form::json && !run.is_probe)
        run.samples_started_at = loop_.now();
    if (options.start_at)
        run.start_at = loop_.now() + std::chrono::duration_cast<ev::Duration>(
                                         *options.start_at - std::chrono::system_clock::now());
    if (run.is_probe) {
        // A server may refuse our certificate, or the lack of one, only after the handshake.
        const ev::Duration longest = session.tls ? std::chrono::seconds(1) : ev::Duration();
        session.close_timeout = std::min(session.close_timeout, longest);
    } else if (run.from == From::recording) {
        session.framing = run.recording->framing;
        session.expect = Expect::given;
        session.early_close = "closed before the end of the recording";
        run.window = std::numeric_limits<unsigned>::max();
    } else if (run.from == From::input) {
        session.early_close = "closed before the end of the input";
        // Many lines can be sent together and their echoes copied unchanged if nothing depends
        // on a single echo.
        session.may_coalesce = run.connections == 1 && session.framing->delimiter == "\n" &&
                               !run.window && !run.has_escapes &&
                               session.max_frame >= default_window_bytes &&
                               options.report.form == Reporter::Form::payload &&
                               options.report.log.empty() && ::isatty(STDOUT_FILENO) == 0;
        // A late greeting could be recorded as the first reply, and a replay, which waits for
        // the greeting, would fail.
        const bool is_recorded =
            prints_recording(options.report, run) || options.report.log.is_recording;
        if (is_recorded && session.expect == Expect::any && !session.framing->uses_datagrams)
            run.greeting_wait = session.greeting_time;
    }
    return options;
}

// --- Progress.

RunProgress RunClient::progress() {
    const RunResults& results = run_.results();
    const RunOptions& run = options_.run;
    RunProgress now{.results = results, .run = run, .target = run.session.target()};
    if (results.warm_up.has_messages()) now.phase = RunProgress::Phase::warming_up;
    if (results.sent + (run.is_probe ? results.opened : 0) > 0) {
        now.phase = RunProgress::Phase::running;
        now.elapsed = std::max(loop_.now() - *results.first_sent_at, ev::Duration::zero());
    }
    if (run_.is_over()) now.phase = RunProgress::Phase::ending;
    now.verdicts = judge(results, options_.report.required);
    if (is_complete_) {
        now.phase = RunProgress::Phase::ended;
        now.elapsed = std::chrono::round<std::chrono::seconds>(results.elapsed());
        now.planned_rate = results.planned_rate;
    } else if (run.pace) {
        constexpr ev::Duration recent = RecentRate::span;
        const ev::Duration time = std::min(now.elapsed, run.length.value_or(now.elapsed));
        now.planned_rate = run.pace->rate(time - std::min(time, recent) / 2);
    }
    if (run.start_at && *run.start_at > loop_.now())
        now.until_start = *run.start_at - loop_.now();
    const std::uint64_t connecting =
        results.attempts - std::min(results.attempts, results.opened + results.failed);
    now.descriptors = own_descriptors_ + static_cast<std::size_t>(results.open + connecting);
    now.descriptor_limit = descriptor_limit();
    return now;
}

// Shows the counts on a temporary line of a terminal.
void RunClient::show_progress() {
    const RunProgress now = progress();
    std::string text = is_load() ? std::to_string(now.results.open) + " open, " : "";
    if (now.phase == RunProgress::Phase::warming_up) text += "warming up, ";
    diagnostics().show_temporary(text + progress_text(now.results, outcome_.summary_parts));
    progress_timer_.start(progress_interval);
}

// Prints an object about the last interval of a load.
void RunClient::print_interval() {
    const Results& results = run_.results();
    reporter_.output().append_line(
        interval_object(results, ++interval_count_, recent_times(results, seen_times_)).str());
    interval_timer_.start_at(interval_timer_.deadline() + object_interval);
}

// Suspends the program as the system does if the signal has no handler.
void RunClient::suspend() {
    run_.suspending();
    stop_signal_ = {};
    std::raise(SIGTSTP);
    stop_signal_ = ev::Signal(loop_, SIGTSTP, [this] { suspend(); });
    run_.continued();  // the system sends no SIGCONT if it has not stopped the program
}

void RunClient::continued() {
    if (page_) page_->continued();  // calls suspending()
    run_.continued();
}

// During the run, the first ^C ends it, and the second ^C has the effect of SIGINT.
void RunClient::interrupted() {
    if (is_complete_) return loop_.stop();
    if (std::exchange(was_interrupted_, true)) std::raise(SIGINT);
    if (options_.run.session.stays_open) return run_.close();
    run_.finish();
}

void RunClient::quit(int signo) {
    outcome_.signo = signo;
    run_.close();
    if (is_complete_) loop_.stop();
}

// Except in a load, reports the first wrong reply immediately, because its text may suggest a
// remedy. Pauses the run while standard output is blocked. Closes the connections if writing
// failed or the time limit has passed. Without a page, stops the loop when the run has ended
// and its output is written or out of time.
void RunClient::turn_ended() {
    reporter_.flush();
    const RunOptions& run = options_.run;
    const Results& results = run_.results();
    SummaryParts& printed = outcome_.summary_parts;
    if (run.session.listens() && !is_complete_)
        while (printed.printed_failures < results.failures.size())
            print_error(results.failures[printed.printed_failures++].text);
    if (!is_load() && !printed.is_problem_printed && !results.reply_problem_sentence.empty()) {
        printed.is_problem_printed = true;
        print_error(results.reply_problem_sentence);
    }
    if (run.length && run_.is_over() && !limit_timer_) {
        limit_timer_ = ev::Timer(loop_, [] {});
        limit_timer_.start(time_after_sending());
    }
    const Output& output = reporter_.output();
    const bool is_out_of_time = limit_timer_ && !limit_timer_.pending();
    if (!is_complete_ && (output.error() != 0 || (is_out_of_time && run.length))) run_.close();
    const bool must_pause =
        output.pending() > (is_paused_ ? pipe_high_water / 4 : pipe_high_water);
    if (must_pause != is_paused_) run_.pause(must_pause);
    is_paused_ = must_pause;
    if (run_.has_ended() && !is_complete_) complete();
    if (page_) page_->turn_ended();
    if (is_complete_ && !page_ && (outcome_.signo != 0 || output.is_done() || is_out_of_time))
        loop_.stop();
}

// Returns how long replies, closing the connections and our output may take after the run's
// time.
ev::Duration RunClient::time_after_sending() const {
    const Session::Options& session = options_.run.session;
    const ev::Duration rest = session.reply_timeout + session.close_timeout + grace_time;
    return options_.run.is_probe ? rest + session.connect_timeout : rest;
}

// --- The end.

// Completes the journal first, because its errors affect the status in the end object.
void RunClient::complete() {
    is_complete_ = true;
    interval_timer_ = {};
    progress_timer_ = {};
    diagnostics().clear_temporary();
    if (was_interrupted_ || outcome_.signo != 0) page_.reset();
    if (const std::string trouble = reporter_.finish_output(); !trouble.empty())
        outcome_.troubles.push_back({output_failed, trouble});
    JsonObject end = outcome().json();
    if (reporter_.refused_certificate())
        end.object("tls", tls_object(*reporter_.refused_certificate()));
    reporter_.add_end(end.str());
}

Outcome RunClient::outcome() {
    Outcome outcome = outcome_;
    outcome.verdicts = judge(run_.results(), options_.report.required);
    const Output& output = reporter_.output();
    if (output.error() != 0)
        outcome.troubles.push_back({output_failed, "standard output: " + output.error_text()});
    return outcome;
}

int RunClient::report() {
    page_.reset();
    const RunOptions& run = options_.run;
    const auto& certificate = reporter_.refused_certificate();
    if (options_.report.is_verbose && certificate)
        print_error("the certificate: " + certificate->subject + ", issued by " +
                    certificate->issuer + ", valid until " + certificate->not_after + ", " +
                    certificate->pin);
    Outcome outcome = this->outcome();
    const bool is_unread = outcome.signo == 0 && !reporter_.output().is_done();
    if (is_unread && outcome.status() != timed_out)
        outcome.troubles.push_back(
            {timed_out, "standard output was not read " +
                            (run.length ? "in time after --max-time"
                                        : "within " + duration_text(*run.session.max_time) +
                                              " (--max-time)")});
    outcome.print();
    if (options_.report.is_quiet) return outcome.status();
    if (run.generates() && has_unread_input())
        print_error(
            "standard input was not read; yodel-load --messages - sends its lines instead "
            "of generated messages");
    const RunResults& results = run_.results();
    const bool ran_to_end =
        outcome.signo == 0 && outcome.troubles.empty() && results.failures.empty();
    if (is_load() && run.from == From::input && results.sent == 0 && ran_to_end)
        print_error("standard input has no lines to send; -m 10s sends generated messages");
    return outcome.status();
}

// --- The sandbox.

SandboxRules rules_to_connect(const bufio::Endpoint& endpoint) {
    constexpr std::uint16_t dns_port = 53;  // long answers arrive over TCP
    SandboxRules rules{.connect_ports = {dns_port}};
    if (endpoint.is_udp || !endpoint.path.empty()) return rules;
    rules.connect_ports.push_back(tcp_port(endpoint.dialed().service));
    const bool is_any_port = endpoint.source_port.empty();
    if (!is_any_port || !endpoint.source_host.empty())
        rules.bind_ports = {is_any_port ? std::uint16_t{0} : tcp_port(endpoint.source_port)};
    return rules;
}

}  // namespace yodel
