#include "app/pipe/replay.hpp"

#include "app/pipe/sending_limits.hpp"
#include "app/text/exit_status.hpp"

#include <cstddef>

namespace yodel {

namespace {

Reporter::Options report_options(const Replay::Options& options) {
    Reporter::Options to = options.report;
    to.replay = true;
    return to;
}

}  // namespace

Replay::Replay(ev::Loop& loop, const Options& options)
    : PipeMode(loop, {session_options(options, *this), report_options(options)},
               output_high_water),
      replayer_(
          loop,
          {.recording = options.recording, .fast = options.fast, .window = options.window},
          session(), *this) {}

AnySession::Options Replay::session_options(const Options& options, Replay& replay) {
    AnySession::Options to = options.session;
    Replayer::prepare(to, *options.recording->framing(), [&replay](std::string_view payload) {
        return replay.replayer_.foreseen(payload);
    });
    return to;
}

void Replay::disconnected() {
    if (leaving()) replayer_.stop();
    replayer_.disconnected();
}

void Replay::replay_said(std::string_view payload, Queued queued, ev::Time planned) {
    reporter().sent(payload, queued, planned);
}

void Replay::replay_written(ev::Duration late) { reporter().record_lateness(late); }

// One that is missing is found out by a timer, after which nothing else may happen.
void Replay::replay_unsolicited(Replayer::Unsolicited kind, std::string_view payload) {
    using enum Replayer::Unsolicited;
    if (kind == as_before) reporter().came_again(payload);
    if (kind == unrecorded) reporter().unrecorded(payload);
    if (kind != missing) return;
    reporter().missing(payload);
    reporter().flush();
}

void Replay::replay_failed(const std::string& trouble) {
    reporter().record({usage_error, trouble});
}

}  // namespace yodel
