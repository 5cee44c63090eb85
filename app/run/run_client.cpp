#include "app/run/run_client.hpp"

#include "app/process/program.hpp"
#include "app/stats/histogram.hpp"
#include "app/stats/outcome.hpp"
#include "app/text/exit_status.hpp"
#include "app/text/output.hpp"
#include "app/text/units.hpp"

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <limits>
#include <utility>

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

// Interval between updates of the line with the counts.
constexpr ev::Duration line_interval = std::chrono::milliseconds(200);

}  // namespace

RunClient::RunClient(ev::Loop& loop, Options options)
    : loop_(loop),
      start_(loop.now()),
      options_(completed(std::move(options))),
      interval_timer_(loop, [this] { interval_over(); }),
      limit_timer_(loop,
                   [this] {
                       state_.out_of_time = true;
                       if (options_.run.length) run_.close();
                       output_changed();
                   }),
      reporter_(loop, options_.report, options_.run, reports_messages(),
                [this] { output_changed(); }),
      run_(
          loop, options_.run, [this] { run_done(); },
          reports_messages() || options_.report.verbose ? &reporter_ : nullptr),
      line_timer_(loop, [this] { show_line(); }) {
    const bool intervals = load() && !reports_messages() && json() && !options_.report.quiet;
    if (intervals) interval_timer_.start(std::chrono::seconds(1));
    const Session::Options& session = options_.run.session;
    if (!generated()) max_time_ = session.max_time;
    if (max_time_) limit_timer_.start(*max_time_ - session.time_spent);
    // There is no progress line if replies are printed on the same terminal.
    const bool printing = (json() || reports_messages()) && ::isatty(STDOUT_FILENO) == 1;
    if (options_.page) {
        own_descriptors_ = used_descriptors();
        display_ = options_.page(*this);
    } else if (::isatty(STDERR_FILENO) == 1 && !printing && (load() || generated())) {
        line_timer_.start(line_interval);
    }
}

RunClient::~RunClient() = default;

RunClient::Options RunClient::completed(Options options) {
    RunOptions& run = options.run;
    options.report.remarks = !options.page || ::isatty(STDERR_FILENO) != 1;
    if (options.report.load && options.report.form == Reporter::Form::json && !run.probe)
        run.samples_from = start_;
    if (options.start)
        run.start = start_ + std::chrono::duration_cast<ev::Duration>(
                                 *options.start - std::chrono::system_clock::now());
    make_source(options);
    return options;
}

void RunClient::make_source(Options& options) {
    RunOptions& to = options.run;
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
        lines.keep = true;
        kept_input_ =
            std::make_unique<LineSource>(loop_, lines, [this] { run_.sources_changed(); });
        to.source = [&input = *kept_input_](auto&, auto&, auto&) {
            return std::make_unique<KeptSource>(input);
        };
        return;
    }
    to.session.coalesce = can_coalesce(options);
    lines.greeting_wait = greeting_wait(options);
    to.source = [lines](ev::Loop& loop, Session& session, Source::Owner& owner) mutable {
        lines.session = &session;
        return std::make_unique<LineSource>(loop, lines, [&owner] { owner.source_changed(); });
    };
}

// --- Progress.

void RunClient::show_line() {
    const RunProgress now = progress();
    std::string text = load() ? std::to_string(now.open) + " open, " : "";
    if (now.phase == RunProgress::Phase::warming_up) text += "warming up, ";
    diagnostics().show_temporary(text + progress_text(now.results));
    line_timer_.start(line_interval);
}

void RunClient::interval_over() {
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(interval_timer_.deadline() - start_);
    reporter_.output().append_line(interval_object(run_.results(),
                                                   static_cast<std::uint64_t>(seconds.count()),
                                                   run_.open(), recent_.take(run_.results()))
                                       .str());
    interval_timer_.start_at(interval_timer_.deadline() + std::chrono::seconds(1));
    reporter_.flush();
}

RunProgress RunClient::progress() {
    const RunResults& results = run_.results();
    const RunOptions& run = options_.run;
    RunProgress now{.results = results, .target = run.session.target()};
    if (results.warm_up.any()) now.phase = RunProgress::Phase::warming_up;
    if (results.sent + (run.probe ? results.opened : 0) > 0) {
        now.phase = RunProgress::Phase::running;
        now.elapsed = std::max(loop_.now() - *results.first_sent, ev::Duration::zero());
    }
    if (run_.over()) now.phase = RunProgress::Phase::ending;
    if (state_.over) now.phase = RunProgress::Phase::ended;
    if (state_.over) now.elapsed = std::chrono::round<std::chrono::seconds>(results.elapsed());
    now.connections = run.connections;
    now.open = run_.open();
    now.length = run.length;
    now.count = run.count;
    now.required = judge(results, options_.report.required);
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
    const RunOptions& run = options_.run;
    const Results& results = run_.results();
    const bool each = run.session.listens() && !state_.over;
    while (each && printed_.failures < results.failures.size())
        print_error(results.failures[printed_.failures++].text);
    if (!load() && !printed_.reply_problem && !results.reply_problem_sentence.empty()) {
        printed_.reply_problem = true;
        print_error(results.reply_problem_sentence);
    }
    if (!run.length || !run_.over() || limit_timer_.pending() || state_.out_of_time) return;
    const Session::Options& session = run.session;
    ev::Duration rest = session.reply_timeout + session.close_timeout + grace_time;
    if (run.probe) rest += session.connect_timeout;
    max_time_ = *run.length + rest;
    limit_timer_.start(rest);
}

void RunClient::continued() {
    run_.void_round_trips();
    if (display_) display_->continued();
}

// Finishes gracefully at the first ^C. The second ^C kills the program.
void RunClient::interrupted() {
    if (state_.over) return loop_.stop();
    if (std::exchange(state_.interrupted, true)) std::raise(SIGINT);
    if (options_.run.session.stays_open) return run_.close();
    run_.finish();
}

// --- The end.

void RunClient::quit(int signo) {
    state_.signo = signo;
    run_.close();
    if (state_.over) loop_.stop();
}

// Pauses the run while standard output is blocked, and closes it if writing failed. Stops the
// loop once the run is over and its output is written.
void RunClient::output_changed() {
    Output& output = reporter_.output();
    auto& [interrupted, paused, out_of_time, over, signo] = state_;
    if (output.error() != 0 && !over) run_.close();
    const bool pause = output.pending() > (paused ? input_high_water / 4 : input_high_water);
    if (pause != paused) run_.pause(pause);
    paused = pause;
    if (!over) return;
    const bool unread = signo == 0 && !output.done();
    if (unread && !out_of_time) return;
    if (unread && outcome().status() != timed_out)
        troubles_.push_back(
            {timed_out,
             "standard output was not read within " + duration_text(*max_time_) +
                 (options_.run.length ? " (--max-time, -W and -q)" : " (--max-time)")});
    if (!display_) loop_.stop();
}

// Completes the journal first, because its errors affect the status in the end object.
void RunClient::run_done() {
    interval_timer_.cancel();
    const bool stays =
        display_ && display_->stays() && !state_.interrupted && state_.signo == 0;
    if (!stays) display_.reset();
    line_timer_.cancel();
    diagnostics().clear_temporary();
    reporter_.close_log();
    const auto add = [this](const Trouble& trouble) {
        if (!trouble.text.empty()) troubles_.push_back(trouble);
    };
    if (kept_input_) add(kept_input_->trouble());
    add({output_failed, reporter_.log_trouble()});
    if (reporter_.needs_end()) {
        JsonObject end = outcome().json();
        if (reporter_.refused_certificate())
            end.object("tls", tls_object(*reporter_.refused_certificate()));
        reporter_.add_end(end.str());
    }
    state_.over = true;
    output_changed();
}

// Includes a summary despite --quiet if there is no other result.
Outcome RunClient::outcome() const {
    const Reporter::Options& report = options_.report;
    const Session::Options& session = options_.run.session;
    const bool summarized = !json() && !reporter_.prints_replies();
    Outcome outcome{
        .results = run_.results(),
        .required = judge(run_.results(), report.required),
        .troubles = troubles_,
        .signo = state_.signo,
        .summary_parts = {.expects_any = session.expect == Expect::any,
                          .listens = session.listens(),
                          .load = load(),
                          .reply_problem_printed = printed_.reply_problem,
                          .failures_printed = printed_.failures,
                          .verbose = report.verbose,
                          .summary = !report.probe && (!report.quiet || summarized)}};
    const Output& output = reporter_.output();
    if (output.error() != 0)
        outcome.troubles.push_back({output_failed, "standard output: " + output.error_text()});
    return outcome;
}

int RunClient::report() {
    display_.reset();
    const auto& certificate = reporter_.refused_certificate();
    if (options_.report.verbose && certificate)
        print_error("the certificate: " + certificate->subject + ", issued by " +
                    certificate->issuer + ", valid until " + certificate->not_after + ", " +
                    certificate->pin);
    const Outcome outcome = this->outcome();
    outcome.print();
    const bool quiet = options_.report.quiet;
    if (generated() && options_.run.generates() && !quiet && has_unread_input())
        print_error(
            "standard input was not read; yodel-load --messages - sends its lines instead "
            "of generated messages");
    return outcome.status();
}

// --- Beside the run.

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

}  // namespace yodel
