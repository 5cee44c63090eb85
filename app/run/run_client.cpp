#include "app/run/run_client.hpp"

#include "app/process/program.hpp"
#include "app/stats/histogram.hpp"
#include "app/stats/outcome.hpp"
#include "app/text/diagnostics.hpp"
#include "app/text/exit_status.hpp"
#include "app/text/units.hpp"

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace yodel {

namespace {

using From = RunClient::Options::From;

// Additional time at the end, for late datagrams and for our output.
constexpr ev::Duration grace_time = std::chrono::seconds(2);

// Returns true if many lines can be sent together and their echoes copied unchanged, because
// nothing depends on a single echo.
bool can_coalesce(const RunClient::Options& options) {
    const RunOptions& run = options.run;
    return run.session.framing->is_lines() && !run.window && !options.escapes &&
           run.session.max_frame >= default_window_bytes &&
           options.report.form == Reporter::Form::payload && options.report.log.empty() &&
           ::isatty(STDOUT_FILENO) == 0;
}

// Returns how long a recorded run with Expect::any waits for a greeting. Without the wait,
// a late greeting could be recorded as the first reply, and a replay, which waits for the
// greeting, would fail.
ev::Duration greeting_wait(const RunClient::Options& options) {
    const bool recorded =
        prints_recording(options.report, options.run) || options.report.log.recording;
    const Session::Options& session = options.run.session;
    const bool waits =
        recorded && session.expect == Expect::any && !session.framing->in_datagrams;
    return waits ? session.greeting_time : ev::Duration::zero();
}

// Returns true if standard input contains data, which the user probably meant to send.
bool has_unread_input() {
    struct stat input {};
    int count = 0;
    if (::fstat(STDIN_FILENO, &input) != 0) return false;
    if (S_ISREG(input.st_mode)) count = ::lseek(STDIN_FILENO, 0, SEEK_CUR) < input.st_size;
    if (S_ISFIFO(input.st_mode)) ::ioctl(STDIN_FILENO, FIONREAD, &count);
    return count > 0;
}

constexpr ev::Duration period = std::chrono::milliseconds(200);

// Returns the width of the terminal on standard error, or 80 if it is unknown.
std::size_t columns() {
    winsize size{};
    ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
    return size.ws_col > 0 ? size.ws_col : 80;
}

// A background job leaves the terminal to the foreground program.
bool in_background() {
    const pid_t owner = ::tcgetpgrp(STDERR_FILENO);
    return owner > 0 && owner != ::getpgrp();
}

// Shows the counts of a run on one line.
class ProgressDisplay final : public RunDisplay {
public:
    ProgressDisplay(ev::Loop& loop, User& user)
        : user_(user), timer_(loop, [this] { show(); }) {
        timer_.start(period);
    }

    void turn_ended() override {}
    bool prepare_for_line() override {
        line_.clear();
        return true;
    }

private:
    void show() {
        timer_.start(period);
        const RunProgress progress = user_.progress();
        std::string text = progress.load ? std::to_string(progress.open) + " open, " : "";
        if (progress.phase == RunProgress::Phase::warming_up) text += "warming up, ";
        line_.show(text + progress_text(progress.results));
    }

    User& user_;
    TemporaryLine line_;
    ev::Timer timer_;
};

}  // namespace

RunClient::RunClient(ev::Loop& loop, const Options& options)
    : loop_(loop),
      options_(options.report),
      generated_(options.from == From::generator),
      reports_messages_(!options_.load || (!generated_ && options.from != From::none)),
      start_(loop.now()),
      max_time_(generated_ ? std::nullopt : options.run.session.max_time),
      interval_timer_(loop, [this] { interval_over(); }),
      limit_timer_(loop, [this] { out_of_time(); }),
      run_options_(run_options(options)),
      reporter_(loop, options.report, run_options_, reports_messages_, *this),
      run_(
          loop, run_options_, [this] { run_done(); },
          reports_messages_ || options_.verbose ? &reporter_ : nullptr) {
    if (reports_intervals()) interval_timer_.start(std::chrono::seconds(1));
    if (max_time_) limit_timer_.start(*max_time_ - options.run.session.time_spent);
    make_display(options);
}

RunClient::~RunClient() = default;

RunOptions RunClient::run_options(const Options& options) {
    RunOptions to = options.run;
    if (options_.load && json() && !to.probe) to.samples_from = start_;
    if (options.start)
        to.start = start_ + std::chrono::duration_cast<ev::Duration>(
                                *options.start - std::chrono::system_clock::now());
    make_source(options, to);
    return to;
}

void RunClient::make_source(const Options& options, RunOptions& to) {
    if (options.from == From::none) {
        // A server may refuse our certificate, or the lack of one, only after the handshake.
        const ev::Duration longest = to.session.tls ? std::chrono::seconds(1) : ev::Duration();
        to.session.close_timeout = std::min(to.session.close_timeout, longest);
        to.source = [stays = !to.repeat && (to.length || to.lifetime)](auto&, auto&, auto&) {
            return std::make_unique<NoSource>(stays);
        };
    }
    if (options.from == From::recording) {
        to.session.framing = options.recording->framing;
        to.session.expect = Expect::given;
        to.session.early_close = "closed before the end of the recording";
        to.window = std::numeric_limits<unsigned>::max();
        to.source = [recording = options.recording,
                     fast = options.fast](auto& loop, auto& session, auto& owner) {
            return std::make_unique<Replay>(loop, recording, fast, session, owner);
        };
    }
    if (options.from != From::input) return;
    to.session.early_close = "closed before the end of the input";
    LineSource::Options lines{.framing = to.session.framing,
                              .max_frame = to.session.max_frame,
                              .escapes = options.escapes};
    if (to.connections > 1) {
        script_ = std::make_unique<Script>(loop_, lines, [this] { run_.sources_changed(); });
        to.source = [&script = *script_](auto&, auto&, auto&) {
            return std::make_unique<KeptSource>(script);
        };
        return;
    }
    to.session.coalesce = can_coalesce(options);
    lines.lines = to.session.framing->has_frames();
    lines.greeting_wait = greeting_wait(options);
    to.source = [lines](ev::Loop& loop, Session& session, Source::Owner& owner) {
        LineSource::Options own = lines;
        own.session = &session;
        // The bytes are read directly into the session's queue.
        if (!own.lines && !own.escapes)
            own.reserve = [&session](std::size_t size) {
                return session.state() == Session::State::open ? session.reserve(size)
                                                               : nullptr;
            };
        return std::make_unique<LineSource>(loop, own, [&owner] { owner.source_changed(); });
    };
}

// Shows no progress line if replies are printed on the same terminal.
void RunClient::make_display(const Options& options) {
    if (options.page) own_descriptors_ = used_descriptors();
    const bool printing = (json() || reports_messages_) && ::isatty(STDOUT_FILENO) == 1;
    RunDisplay::User& user = *this;
    if (options.page) {
        display_ = options.page(user);
    } else if (::isatty(STDERR_FILENO) == 1 && !printing && (options_.load || generated_)) {
        display_ = make_progress_line(loop_, user);
    }
}

// --- Progress.

void RunClient::interval_over() {
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(interval_timer_.deadline() - start_);
    reporter_.output().append_line(interval_object(run_.results(),
                                                   static_cast<std::uint64_t>(seconds.count()),
                                                   run_.open(), take_recent())
                                       .str());
    interval_timer_.start_at(interval_timer_.deadline() + std::chrono::seconds(1));
    reporter_.flush();
}

Histogram RunClient::take_recent() {
    const Results& results = run_.results();
    const Histogram& all = results.*main_times(results).times;
    Histogram recent = all.since(reported_times_);
    reported_times_ = all;
    return recent;
}

RunProgress RunClient::progress() {
    const RunResults& results = run_.results();
    const RunOptions& run = run_options_;
    RunProgress now{.results = results, .target = run.session.target()};
    if (results.warm_up.any()) now.phase = RunProgress::Phase::warming_up;
    if (results.sent + (run.probe ? results.opened : 0) > 0) {
        now.phase = RunProgress::Phase::running;
        now.elapsed = std::max(loop_.now() - *results.first_sent, ev::Duration::zero());
    }
    if (run_.over()) now.phase = RunProgress::Phase::ending;
    now.load = options_.load;
    now.connections = run.connections;
    now.open = run_.open();
    now.length = run.length;
    if (run.pace) {
        constexpr ev::Duration recent = RecentRate::span;
        const ev::Duration time = std::min(now.elapsed, run.length.value_or(now.elapsed));
        now.planned_rate = run.pace->rate(time - std::min(time, recent) / 2);
        if (run.pace->climbs()) now.last_rate = run.pace->rate(*run.length);
    }
    if (run.start && *run.start > loop_.now()) now.until_start = *run.start - loop_.now();
    const std::uint64_t connecting =
        results.attempts - std::min(results.attempts, results.opened + results.failed);
    now.descriptors = own_descriptors_ + now.open + static_cast<std::size_t>(connecting);
    now.descriptor_limit = descriptor_limit();
    return now;
}

// Reports the first bad reply immediately, because its text may suggest a remedy. After the
// run's time, limits the time for replies, for closing connections, and for our output.
void RunClient::turn_ended() {
    if (display_) display_->turn_ended();
    report_problem();
    if (!run_options_.length || !run_.over() || limit_timer_.pending() || out_of_time_) return;
    const Session::Options& session = run_options_.session;
    ev::Duration rest = session.reply_timeout + session.close_timeout + grace_time;
    if (run_options_.probe) rest += session.connect_timeout;
    max_time_ = *run_options_.length + rest;
    limit_timer_.start(rest);
}

void RunClient::report_problem() {
    const auto& failures = run_.results().failures;
    while (run_options_.session.listens() && !over_ && failures_printed_ < failures.size()) {
        prepare_for_line();
        print_error(failures[failures_printed_++].text);
    }
    const std::string& problem = run_.results().reply_problem_sentence;
    if (options_.load || reply_problem_printed_ || problem.empty()) return;
    reply_problem_printed_ = true;
    prepare_for_line();
    print_error(problem);
}

void RunClient::continued() {
    run_.void_round_trips();
    if (display_) display_->continued();
}

// Finishes gracefully at the first ^C. The second ^C kills the program.
void RunClient::interrupted() {
    if (interrupted_) std::raise(SIGINT);
    interrupted_ = true;
    if (run_options_.session.stays_open) return run_.close();
    run_.finish();
}

// --- The end.

void RunClient::quit(int signo) {
    signo_ = signo;
    run_.close();
    if (over_) loop_.stop();
}

void RunClient::out_of_time() {
    out_of_time_ = true;
    if (run_options_.length) run_.close();
    output_changed();
}

// Pauses the run while standard output is blocked, and closes it if writing failed. Stops the
// loop once the run is over and its output is written.
void RunClient::output_changed() {
    Output& output = reporter_.output();
    if (output.error() != 0 && !over_) run_.close();
    const bool pause = output.pending() > (paused_ ? input_high_water / 4 : input_high_water);
    if (pause != paused_) run_.pause(pause);
    paused_ = pause;
    if (!over_) return;
    const bool unread = signo_ == 0 && !output.done();
    if (unread && !out_of_time_) return;
    if (unread && outcome().status() != timed_out)
        troubles_.push_back(
            {timed_out,
             "standard output was not read within " + duration_text(*max_time_) +
                 (run_options_.length ? " (--max-time, -W and -q)" : " (--max-time)")});
    loop_.stop();
}

// Completes the journal first, because its errors affect the status in the end object.
void RunClient::run_done() {
    interval_timer_.cancel();
    display_.reset();
    reporter_.close_log();
    const auto add = [this](const Trouble& trouble) {
        if (!trouble.text.empty()) troubles_.push_back(trouble);
    };
    if (script_) add(script_->trouble());
    add({output_failed, reporter_.log_trouble()});
    if (reporter_.needs_end()) {
        JsonObject end = outcome().json();
        if (reporter_.refused_certificate())
            end.object("tls", tls_object(*reporter_.refused_certificate()));
        reporter_.add_end(end.str());
    }
    over_ = true;
    output_changed();
}

std::vector<Trouble> RunClient::troubles() const {
    std::vector<Trouble> all = troubles_;
    const Output& output = reporter_.output();
    if (output.error() != 0)
        all.push_back({output_failed, "standard output: " + output.error_text()});
    return all;
}

// Includes a summary despite --quiet if there is no other result.
Outcome RunClient::outcome() const {
    const bool summarized = !json() && !reporter_.prints_replies();
    return {.results = run_.results(),
            .verdict = Verdict::on(run_.results(), options_.required),
            .troubles = troubles(),
            .signo = signo_,
            .summary_parts = {.expects_any = run_options_.session.expect == Expect::any,
                              .listens = run_options_.session.listens(),
                              .load = options_.load,
                              .reply_problem_printed = reply_problem_printed_,
                              .failures_printed = failures_printed_,
                              .verbose = options_.verbose,
                              .summary = !options_.probe && (!options_.quiet || summarized)}};
}

int RunClient::report() {
    display_.reset();
    const auto& certificate = reporter_.refused_certificate();
    if (options_.verbose && certificate)
        print_error("the certificate: " + certificate->subject + ", issued by " +
                    certificate->issuer + ", valid until " + certificate->not_after + ", " +
                    certificate->pin);
    const Outcome outcome = this->outcome();
    outcome.print();
    if (generated_ && run_options_.generates() && !options_.quiet && has_unread_input())
        print_error(
            "standard input was not read; yodel-load --messages - sends its lines instead "
            "of generated messages");
    return outcome.status();
}

// --- Beside the run.

std::unique_ptr<RunDisplay> make_progress_line(ev::Loop& loop, RunDisplay::User& user) {
    return std::make_unique<ProgressDisplay>(loop, user);
}

SandboxRules rules_to_connect(const bufio::Endpoint& endpoint) {
    constexpr std::uint16_t dns_port = 53;  // long answers arrive over TCP
    SandboxRules rules{.connect_ports = {dns_port}};
    if (endpoint.udp || !endpoint.path.empty()) return rules;
    rules.connect_ports.push_back(tcp_port(endpoint.dialed().service));
    const bool any_port = endpoint.source_port.empty();
    if (!any_port || !endpoint.source_host.empty())
        rules.bind_ports = {any_port ? std::uint16_t{0} : tcp_port(endpoint.source_port)};
    return rules;
}

void TemporaryLine::show(std::string text) {
    clear();
    if (in_background()) return;
    text.resize(
        std::min(text.size(), columns() - 1));  // some terminals wrap after the last column
    diagnostics().write_temporary(text);
    width_ = text.size();
}

void TemporaryLine::clear() {
    if (width_ == 0) return;
    diagnostics().write_temporary("\r" + std::string(width_, ' ') + "\r");
    width_ = 0;
}

}  // namespace yodel
