#include "app/run/rate_client.hpp"

#include "app/stats/end_object.hpp"
#include "app/stats/histogram.hpp"
#include "app/stats/summary.hpp"
#include "app/text/diagnostics.hpp"
#include "app/text/exit_status.hpp"
#include "app/text/json.hpp"
#include "app/text/units.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>

namespace yodel {

namespace {

constexpr double min_answered = 0.95;

}  // namespace

RateClient::RateClient(ev::Loop& loop, Options options)
    : loop_(loop),
      options_(std::move(options)),
      output_(loop, STDOUT_FILENO, [this] { stop_if_written(); }),
      search_(options_.search),
      files_(options_.report.files),
      progress_(::isatty(STDERR_FILENO) == 1 && !json()) {
    begin_run();
}

// --- The runs.

void RateClient::begin_run() {
    const double rate = *search_.next();
    RunOptions options = options_.run;
    options.pace = Pace::per_second(static_cast<std::uint64_t>(std::llround(rate * 1000)));
    const double messages = search_.brief() ? options_.brief_messages : options_.min_messages;
    const std::chrono::duration<double> needed(messages / rate);
    options.length =
        std::max(options_.min_time, std::chrono::duration_cast<ev::Duration>(needed));
    run_ = std::make_unique<Run>(loop_, std::move(options), [this] { run_over(); });
    if (!progress_) return;
    const auto held = search_.held();
    line_.show("at " + rate_text(rate) +
               (held ? ", " + rate_text(*held) + " held" : std::string()));
}

void RateClient::run_over() {
    last_ = std::make_unique<Results>(run_->results());
    if (mismatch_.empty()) mismatch_ = last_->wrong_sentence;
    if (signo_ != 0) return search_over();
    const std::string trouble = failure_reason(*last_);
    report_run(*last_, trouble);
    const bool proven = trouble.empty() && !search_.brief();
    search_.record(trouble.empty());
    if (proven) best_ = std::make_unique<Results>(*last_);
    if (!trouble.empty()) trouble_ = trouble;
    const bool reachable = last_->opened > 0;
    if (!search_.next() || !reachable || output_.error() != 0) return search_over();
    begin_run();
}

// Returns why the rate did not hold; empty if it held.
std::string RateClient::failure_reason(const Results& result) const {
    if (!result.failures.empty()) return result.failures.front().text;
    const auto& before = options_.report.verdict.before;
    std::string trouble = options_.required.failure(result, before.get());
    const auto sent = static_cast<double>(result.sent);
    const bool answered = static_cast<double>(result.echoed) >= min_answered * sent;
    if (trouble.empty() && (!answered || !result.kept_rate())) trouble = counts_text(result);
    return trouble.empty() ? "" : trouble + own_fault_remarks(result);
}

void RateClient::report_run(const Results& result, const std::string& trouble) {
    const double rate = *search_.next();
    const bool held = trouble.empty();
    line_.clear();
    if (options_.report.verbose)
        print_error("yodel", rate_text(rate) + (search_.brief() ? ", briefly" : "") +
                                 (held ? ": holds" : ": " + trouble));
    if (!json()) return;
    JsonObject object;
    object.text("type", "step").fraction("rate", rate).flag("held", held);
    if (search_.brief()) object.flag("brief", true);
    if (!held) object.text("reason", trouble);
    object.number("sent", result.sent).number("echoed", result.echoed);
    add_percentiles(object, result.round_trips);
    output_.append_line(object.str());
    output_.flush();
}

// --- The end.

void RateClient::quit(int signo) {
    signo_ = signo;
    run_->close();
    if (over_) loop_.stop();
}

void RateClient::search_over() {
    over_ = true;
    line_.clear();
    verdict_ = Verdict::on(reported(), options_.report.verdict);
    files_.finish({.results = reported(),
                   .verdict = verdict_,
                   .target = options_.run.session.endpoint.text(),
                   .failure = best_ ? "" : result_text()},
                  {.signo = signo_}, {.load = true}, troubles_);
    if (json()) {
        JsonObject end = end_object(reported(), result_text(), status(), verdict_);
        if (best_) end.fraction("max_rate", *search_.held());
        output_.append_line(end.str());
    }
    output_.flush();
    stop_if_written();
}

void RateClient::stop_if_written() {
    if (output_.error() != 0 && !over_) run_->close();
    if (over_ && output_.done()) loop_.stop();
}

std::string RateClient::result_text() const {
    const std::string condition = " with " + options_.required.clause();
    if (!best_ && trouble_.empty()) return "no rate" + condition + " so far";
    if (!best_) return "no rate" + condition + ": " + trouble_;
    const std::string start = "highest rate" + condition + ": " + rate_text(*search_.held());
    if (signo_ != 0) return start + " so far";
    if (!search_.failed()) return start + ", the maximum";
    return start + "; at " + rate_text(*search_.failed()) + " " + trouble_;
}

// The search succeeds if any rate held, even if higher rates failed.
int RateClient::status() const {
    if (signo_ != 0) return 128 + signo_;
    if (output_.error() != 0 || !troubles_.empty()) return output_failed;
    const int status = exit_status(reported(), verdict_);
    return status == success && !best_ ? reply_wrong_or_lost : status;
}

int RateClient::report() {
    line_.clear();
    if (!mismatch_.empty()) print_error("yodel", mismatch_);
    if (output_.error() != 0) print_error("yodel", "standard output: " + output_.error_text());
    for (const Trouble& trouble : troubles_) print_error("yodel", trouble.text);
    if (signo_ == 0 || best_) print_error("yodel", result_text());
    const bool any = options_.run.session.expect == Expect::any;
    if (!options_.report.quiet)
        print_error("yodel", summary(reported(), {.answered = any, .load = true}));
    for (const std::string& line : verdict_.lines(!options_.report.quiet))
        print_error("yodel", line);
    return status();
}

}  // namespace yodel
