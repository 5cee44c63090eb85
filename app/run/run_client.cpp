#include "app/run/run_client.hpp"

#include "app/process/program.hpp"
#include "app/protocol/message_object.hpp"
#include "app/run/event_text.hpp"
#include "app/run/input_source.hpp"
#include "app/run/progress_line.hpp"
#include "app/run/recording_source.hpp"
#include "app/run/sending_limits.hpp"
#include "app/stats/end_object.hpp"
#include "app/stats/figures.hpp"
#include "app/stats/histogram.hpp"
#include "app/stats/history.hpp"
#include "app/text/diagnostics.hpp"
#include "app/text/exit_status.hpp"
#include "app/text/units.hpp"

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <limits>

namespace yodel {

namespace {

using From = RunClient::Options::From;

// Additional time at the end, for late datagrams and for our output.
constexpr ev::Duration grace_time = std::chrono::seconds(2);

// Sends nothing. A source that `stays` is never over. Any other is over after the first call of
// next(), because until then a failed connection is worth a retry.
class NoSource final : public Source {
public:
    explicit NoSource(bool stays) : stays_(stays) {}

    std::optional<Outgoing> next() override {
        over_ = !stays_;
        return std::nullopt;
    }
    bool over() const override { return over_; }

private:
    const bool stays_;
    bool over_ = false;
};

// Returns true if many lines can be sent at once and their echoes copied unchanged, because
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
    const bool recorded = options.report.payloads || options.report.log.recording;
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
      reporter_(loop, options.report, run_options_, reports_messages_, *this) {
    make_runs(options);
    if (reports_intervals()) interval_timer_.start(std::chrono::seconds(1));
    if (max_time_) limit_timer_.start(*max_time_ - options.run.session.time_spent);
    make_display(options);
}

RunClient::~RunClient() = default;

void RunClient::make_runs(const Options& options) {
    RunObserver* const observer = reports_messages_ || options_.verbose ? &reporter_ : nullptr;
    const auto add = [&](const RunOptions& run, unsigned side, std::function<void()> ready) {
        runs_.emplace_back(
            loop_, run, [this, side] { run_done(side); }, observer, std::move(ready));
    };
    running_ = options.second ? 2 : 1;
    reported_times_.resize(running_);
    if (!options.second) return add(run_options_, 0, nullptr);
    pairs_ = std::make_unique<Pairs>(Pairs{.pairing = Pairing(options.mask)});
    RunOptions second = run_options_;
    second.session = second.session.with_target(*options.second);
    second.side = 1;
    make_source(options, second, 1);
    unready_ = 2;
    add(run_options_, 0, [this] { ready(); });
    add(second, 1, [this] { ready(); });
}

// Keeps two runs in step if each message goes to both.
void RunClient::make_turns(const Options& options, RunOptions& to) {
    const bool single = to.connections == 1 && reports_messages_;
    if (!options.second || to.threads > 1 || options.from == From::recording) return;
    if (!to.pace && !single) return;
    turns_ = std::make_shared<Turns>(loop_, [this] { sources_changed(); });
    to.turns = turns_;
}

RunOptions RunClient::run_options(const Options& options) {
    RunOptions to = options.run;
    if (options.second) to.side = 0;
    to.session.mark_retransmitted =
        reports_messages_ && to.connections == 1 &&
        (json() || (options_.form == Reporter::Form::sequence && !options_.quiet));
    if (options_.load && json() && !to.probe) to.samples_from = start_;
    if (options.start)
        to.start = start_ + std::chrono::duration_cast<ev::Duration>(
                                *options.start - std::chrono::system_clock::now());
    make_source(options, to, 0);
    make_turns(options, to);
    return to;
}

void RunClient::make_source(const Options& options, RunOptions& to, unsigned side) {
    if (options.from == From::none) {
        // A server may refuse our certificate, or the lack of one, only after the handshake.
        const ev::Duration longest = to.session.tls ? std::chrono::seconds(1) : ev::Duration();
        to.session.close_timeout = std::min(to.session.close_timeout, longest);
        to.source = [stays = !to.repeat && (to.length || to.lifetime)](auto&, auto&, auto&) {
            return std::make_unique<NoSource>(stays);
        };
    }
    if (options.from == From::recording) {
        const auto& from = side == 0 ? options.recording : options.second_recording;
        RecordingSource::prepare(to.session, *from->framing());
        to.window = std::numeric_limits<unsigned>::max();
        to.source = [recording = from, fast = options.fast](auto& loop, auto& session,
                                                            auto& user) {
            return std::make_unique<RecordingSource>(loop, recording, fast, session, user);
        };
    }
    if (options.from != From::input) return;
    to.session.closed_early_text = "the server closed before the end of the input";
    if (to.connections > 1 || options.second) {
        const bool datagrams = options.second && options.second->endpoint.udp;
        const Framing* const framing = datagrams ? options.second->framing : to.session.framing;
        if (!script_)
            script_ = std::make_unique<Script>(
                loop_,
                Input::Options{.framing = framing,
                               .max_frame = to.session.max_frame,
                               .escapes = options.escapes,
                               .single = options.second != nullptr},
                [this] { sources_changed(); }, to.connections == 1);
        to.source = [&script = *script_](auto&, auto&, auto&) {
            return std::make_unique<ScriptSource>(script);
        };
        return;
    }
    to.session.coalesce = can_coalesce(options);
    to.source = [escapes = options.escapes,
                 wait = greeting_wait(options)](auto& loop, auto& session, auto& user) {
        return std::make_unique<InputSource>(loop, session, user, escapes, wait);
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
        display_ = std::make_unique<ProgressDisplay>(loop_, user);
    }
}

// --- Two targets.

// Both runs begin at the same time.
void RunClient::ready() {
    if (--unready_ > 0) return;
    const ev::Time time = runs_.back().next_begin();
    for (Run& run : runs_) run.begin(time);
}

void RunClient::sources_changed() {
    end_other();
    if (turns_ && script_) script_->forget(turns_->shared());
    for (Run& run : runs_) run.sources_changed();
}

// If one run has ended, ends the other after a failure, or once it has sent the same messages.
void RunClient::end_other() {
    if (!pairs_ || running_ != 1) return;
    const unsigned done = done_[0] ? 0 : 1;
    const Results& results = runs_[done].results();
    const bool failed =
        results.opened == 0 || (results.ended_status != 0 && run_options_.connections == 1);
    const bool level = turns_ && !run_options_.pace && turns_->may_send(done);
    if ((failed || level) && !runs_[1 - done].over()) runs_[1 - done].finish();
}

void RunClient::reported(unsigned side, std::size_t connection, const Message& message,
                         const Reply* reply) {
    if (!reports_messages_) return;
    const std::optional<Pair> pair = pairs_->pairing.add(side, connection, message, reply);
    if (!pair) return;
    pairs_->results.count(pair->difference, pair->delay());
    if (!pair->difference.empty()) reporter_.add_pair_difference(connection, pair->difference);
}

// --- Progress.

void RunClient::add_interval(JsonObject& object, unsigned side) {
    const Run& run = runs_[side];
    object.number("open", run.open());
    add_counts(object, run.results(), run.results().probe);
    add_recent(object, take_recent(side), main_times(run.results()));
}

void RunClient::interval_over() {
    JsonObject object;
    object.text("type", "interval");
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(interval_timer_.deadline() - start_);
    object.number("t", static_cast<std::uint64_t>(seconds.count()));
    if (!pairs_) add_interval(object, 0);
    for (unsigned side = 0; pairs_ && side < 2; ++side) {
        JsonObject counts;
        add_interval(counts, side);
        object.object(side_names[side], counts);
    }
    reporter_.output().append_line(object.str());
    interval_timer_.start_at(interval_timer_.deadline() + std::chrono::seconds(1));
    reporter_.flush();
}

Histogram RunClient::take_recent(unsigned side) {
    const Results& results = runs_[side].results();
    const Histogram& all = results.*main_times(results).times;
    Histogram recent = all.since(reported_times_[side]);
    reported_times_[side] = all;
    return recent;
}

RunProgress RunClient::progress() {
    const Results& results = runs_.front().results();
    const RunOptions& run = run_options_;
    RunProgress now{.results = results, .target = run.session.target()};
    if (pairs_) {
        now.second = &runs_.back().results();
        now.target += " " + runs_.back().options().session.target();
    }
    if (results.warm_up.any()) now.phase = RunProgress::Phase::warming_up;
    if (results.sent + (run.probe ? results.opened : 0) > 0) {
        now.phase = RunProgress::Phase::running;
        now.elapsed = std::max(loop_.now() - *results.first_sent, ev::Duration::zero());
    }
    if (over()) now.phase = RunProgress::Phase::ending;
    now.load = options_.load;
    now.connections = run.connections;
    now.open = runs_.front().open();
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

// Reports the first bad reply at once, because its text may suggest a remedy. After the
// run's time, limits the time for replies, for closing connections, and for our output.
void RunClient::turn_ended() {
    if (display_) display_->turn_ended();
    for (unsigned side = 0; side < runs_.size(); ++side) report_problem(side);
    if (!run_options_.length || !over() || limit_timer_.pending() || out_of_time_) return;
    const Session::Options& session = run_options_.session;
    ev::Duration rest = session.reply_timeout + session.close_timeout + grace_time;
    if (run_options_.probe) rest += session.connect_timeout;
    max_time_ = *run_options_.length + rest;
    limit_timer_.start(rest);
}

void RunClient::report_problem(unsigned side) {
    const std::string& problem = runs_[side].results().reply_problem_sentence;
    if (options_.load || reply_problem_printed_[side] || problem.empty()) return;
    reply_problem_printed_[side] = true;
    prepare_for_line();
    print_error((pairs_ ? side_names[side] + std::string(": ") : "") + problem);
}

void RunClient::continued() {
    void_round_trips();
    if (display_) display_->continued();
}

// Finishes gracefully at the first ^C. The second ^C kills the program.
void RunClient::interrupted() {
    if (interrupted_) std::raise(SIGINT);
    interrupted_ = true;
    finish();
}

// --- The end.

void RunClient::quit(int signo) {
    signo_ = signo;
    close();
    if (over_) loop_.stop();
}

void RunClient::out_of_time() {
    out_of_time_ = true;
    if (run_options_.length) close();
    output_changed();
}

// Pauses the run while standard output is blocked, and closes it if writing failed. Stops the
// loop once the run is over and its output is written.
void RunClient::output_changed() {
    Output& output = reporter_.output();
    if (output.error() != 0 && !over_) close();
    const bool pause = output.pending() > (paused_ ? input_high_water / 4 : input_high_water);
    if (pause != paused_)
        for (Run& run : runs_) run.pause(pause);
    paused_ = pause;
    if (!over_) return;
    const bool unread = signo_ == 0 && !output.done();
    if (unread && !out_of_time_) return;
    if (unread && status() != timed_out)
        troubles_.push_back(
            {timed_out,
             "standard output was not read within " + duration_text(*max_time_) +
                 (run_options_.length ? " (--max-time, -W and -q)" : " (--max-time)")});
    loop_.stop();
}

void RunClient::run_done(unsigned side) {
    done_[side] = true;
    if (--running_ == 0) return all_done();
    end_other();
}

// Completes the journal first, because its errors affect the status in the end object.
void RunClient::all_done() {
    interval_timer_.cancel();
    display_.reset();
    reporter_.close_log();
    const auto add = [this](const Trouble& trouble) {
        if (!trouble.text.empty()) troubles_.push_back(trouble);
    };
    if (script_) add(script_->trouble());
    add({output_failed, reporter_.log_trouble()});
    if (reporter_.needs_end()) {
        JsonObject end = pairs_ ? pair_outcome().json(end_of(0), end_of(1)) : end_of(0);
        if (reporter_.refused_certificate())
            end.object("tls", tls_object(*reporter_.refused_certificate()));
        reporter_.add_end(end.str());
    }
    over_ = true;
    output_changed();
}

JsonObject RunClient::end_of(unsigned side) const {
    JsonObject end = outcome(side).json();
    if (run_options_.samples_from) end.object("samples", runs_[side].samples().json());
    return end;
}

std::vector<Trouble> RunClient::troubles() const {
    std::vector<Trouble> all = troubles_;
    const Output& output = reporter_.output();
    if (output.error() != 0)
        all.push_back({output_failed, "standard output: " + output.error_text()});
    return all;
}

// Includes a summary despite --quiet if there is no other result.
Outcome RunClient::outcome(unsigned side) const {
    const bool summarized = !json() && !reporter_.prints_replies();
    const Results& results = runs_[side].results();
    const Results* const other = pairs_ ? &runs_[1 - side].results() : nullptr;
    const std::optional<Climb> climb = runs_[side].climb();
    return {.results = results,
            .verdict = Verdict::on(results, options_.required, pairs_ ? *side_names[side] : 0,
                                   other, climb ? &*climb : nullptr),
            .troubles = pairs_ ? std::vector<Trouble>() : troubles(),
            .signo = signo_,
            .summary_parts = {.expects_any = run_options_.session.expect == Expect::any,
                              .listens = run_options_.session.listens(),
                              .load = options_.load,
                              .reply_problem_printed = reply_problem_printed_[side],
                              .verbose = options_.verbose && options_.load,
                              .summary = !options_.probe && (!options_.quiet || summarized)}};
}

PairOutcome RunClient::pair_outcome() const {
    return {outcome(0), outcome(1), pairs_->results, troubles()};
}

int RunClient::status() const {
    return pairs_ ? pair_outcome().decided().status : outcome(0).status();
}

int RunClient::report() {
    display_.reset();
    const auto& certificate = reporter_.refused_certificate();
    if (options_.verbose && certificate)
        print_error("the certificate: " + certificate_text(*certificate));
    for (const std::string& line : pairs_ ? pair_outcome().lines() : outcome(0).lines())
        print_error(line);
    if (generated_ && run_options_.generates() && !options_.quiet && has_unread_input())
        print_error(
            "standard input was not read; yodel-load --messages - sends its lines instead "
            "of generated messages");
    return status();
}

}  // namespace yodel
