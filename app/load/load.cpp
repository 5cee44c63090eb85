#include "app/load/load.hpp"

#include "app/load/own_messages.hpp"
#include "app/text/exit_status.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace yodel {

namespace {

using From = RunClient::Options::From;

// Returns the source of the messages. If no option asks for generated messages, a load without
// a length sends the lines of standard input unless it is a terminal.
From source_of(const LoadPlan& plan, const RunOptions& run) {
    if (run.probe) return From::none;
    const bool unread = run.session.max_time || ::isatty(STDIN_FILENO) == 1;
    return plan.generated || unread ? From::generator : From::input;
}

// Returns the pace. A climb needs a length.
std::optional<Pace> pace(const LoadPlan& plan, std::optional<ev::Duration> length) {
    if (!plan.rate_thousandths) return std::nullopt;
    const Pace first = Pace::per_second(*plan.rate_thousandths);
    if (!plan.last_rate_thousandths) return first;
    return first.climbing_to(static_cast<double>(*plan.last_rate_thousandths) / 1000, *length);
}

void plan_messages(const LoadPlan& plan, bool escapes, RunOptions& to) {
    const Session::Options& session = to.session;
    if (plan.messages_file.empty()) return;
    if (plan.reads_lines())
        return void(to.lines = {session.framing, session.max_frame, escapes, true, true});
    to.messages =
        read_own_messages(plan.messages_file, *session.framing, session.max_frame, escapes);
    for (const std::string& each : *to.messages) to.size = std::max(to.size, each.size());
}

// Uses at most one thread per connection. Throws UsageError if the user asked for several
// threads and standard input is sent, because only one thread can read it.
void check_threads(const LoadPlan& plan, From from, RunOptions& to) {
    const bool one = from == From::input || plan.reads_lines();
    if (one && to.threads > 1 && !plan.threads_auto)
        throw UsageError("--threads needs generated messages (-c, --size, --rate or -m), "
                         "because a single thread reads standard input");
    to.threads = one ? 1 : std::min(to.threads, to.connections);
}

}  // namespace

void plan_load(const LoadPlan& plan, std::optional<std::size_t> size,
               RunClient::Options& load) {
    RunOptions& to = load.run;
    load.report.load = !to.repeat;
    load.from = source_of(plan, to);
    check_threads(plan, load.from, to);
    to.window = plan.window;
    if (to.probe && !to.repeat) {
        to.length = std::exchange(to.session.max_time, std::nullopt);
        to.session.early_close = "closed before the end of the run";
    }
    if (load.from != From::generator) return;
    to.pace = pace(plan, to.session.max_time);
    if (plan.random_arrivals) to.seed = plan.seed.value_or(1);
    to.length = to.session.max_time;
    to.size = size.value_or(std::min(to.size, to.session.max_frame));
    plan_messages(plan, load.escapes, to);
}

}  // namespace yodel
