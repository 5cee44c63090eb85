#include "app/pipe/unattended.hpp"

#include "app/pipe/sending_limits.hpp"
#include "app/text/diagnostics.hpp"
#include "app/text/exit_status.hpp"
#include "app/text/units.hpp"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>

namespace yodel {

namespace {

// Messages that a turn sends which begins late, before it looks at the replies.
constexpr unsigned most_at_once = 64;

// After the last reply and the end of the connection: for late datagrams, and for our output.
constexpr ev::Duration last_moment = std::chrono::seconds(2);

constexpr ev::Duration progress_time = std::chrono::milliseconds(200);

Unattended::Options completed(Unattended::Options options) {
    options.session.closed_early = "the server closed before the end of the run";
    options.session.greeting_time = generated_greeting_time;
    options.session.max_time.reset();
    options.session.numbered = options.size >= GeneratedText::least_checked_size;
    return options;
}

}  // namespace

Unattended::Unattended(ev::Loop& loop, Options options)
    : PipeMode(loop, {completed(options).session, options.report}, output_high_water),
      loop_(loop),
      options_(std::move(options)),
      length_(options_.session.max_time),
      text_(options_.size),
      progress_(::isatty(STDERR_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 0),
      due_(loop, [this] { send_due(); }),
      time_up_(loop, [this] { time_up(); }),
      limit_(loop, [this] { leave_now(); }),
      progress_due_(loop, [this] { show_progress(); }) {
    if (progress_) progress_due_.start(progress_time);
    if (length_) time_up_.start(*length_);
}

void Unattended::continued() {
    PipeMode::continued();
    resumed_at_ = loop_.now();
}

void Unattended::before_report() { line_.clear(); }

void Unattended::connected() {
    if (reporter().results().sent > 0) return;
    if (length_) time_up_.start(*length_);
    if (scheduled()) due_.start(ev::Duration::zero());
}

void Unattended::disconnected() {
    line_.clear();
    if (session().state() == AnySession::State::closed) due_.cancel();
}

// The round trip counts from the planned time, not from when the peer took the message.
ev::Duration Unattended::overdue(ev::Time planned, ev::Time sent) const {
    return sent - planned;
}

void Unattended::send() {
    if (!scheduled()) {
        while (!all_sent() && session().state() == AnySession::State::open && has_space())
            send_one({});
        session().flush();
    }
    finish_if_done();
}

bool Unattended::has_space() const {
    if (!options_.window && way_full()) return false;
    const bool lifted = !options_.window && window_lifted();
    return (lifted || session().in_flight() < options_.window.value_or(usual_window)) &&
           peer_takes();
}

bool Unattended::peer_takes() const {
    return session().pending() < peer_high_water &&
           session().in_flight_bytes() < most_bytes_in_flight;
}

void Unattended::send_due() {
    if (!schedule_) begin();
    for (unsigned i = 0; i < most_at_once; ++i) {
        const auto message = schedule_->next(loop_.now());
        if (!message) break;
        send_scheduled(message->planned);
    }
    if (!schedule_->over()) return due_.start_at(schedule_->next_time());
    over_ = true;
    finish_if_done();
}

// Planned times count from the time that the timer was to fire, not from that of its call.
void Unattended::begin() {
    schedule_.emplace(Schedule::Options{.pace = Pace(1, options_.interval),
                                        .count = options_.count,
                                        .length = length_},
                      due_.deadline());
}

// A message that was due while the program was stopped is not timed, like those that were in
// flight then.
void Unattended::send_scheduled(ev::Time planned) {
    if (!send_one(planned)) return;
    session().flush();
    reporter().record_lateness(session().flushed_at() - planned);
    if (planned < resumed_at_) session().void_round_trips();
}

// Without a schedule the planned time is none.
bool Unattended::send_one(ev::Time planned) {
    const std::string_view message = text_.text(reporter().results().sent + 1);
    Queued queued;
    if (peer_takes()) queued = session().send(message, planned);
    if (queued) {
        reporter().sent(message, queued, planned);
    } else {
        reporter().missed(message, session().reserve_id(), planned);
    }
    return static_cast<bool>(queued);
}

bool Unattended::all_sent() const {
    if (over_) return true;
    return options_.count != 0 && reporter().results().sent >= options_.count;
}

// Another try would find nothing to send.
void Unattended::finish_if_done() {
    if (!all_sent() || session().in_flight() > 0) return;
    if (session().state() == AnySession::State::waiting) return session().disconnect();
    session().finish();
}

// A schedule leaves out by itself what is planned for later, and may be late with the rest.
void Unattended::time_up() {
    limit_.start(limit() - *length_);
    if (!scheduled()) over_ = true;
    const AnySession::State state = session().state();
    const bool connecting =
        state == AnySession::State::dialing || state == AnySession::State::handshaking;
    if (connecting) return give_up();
    if (state == AnySession::State::waiting) return session().disconnect();
    finish_if_done();
}

// All that may take its time after the length: replies, the end of the connection, our output.
ev::Duration Unattended::limit() const {
    const AnySession::Options& session = options_.session;
    return *length_ + session.reply_timeout + session.close_timeout + last_moment;
}

void Unattended::give_up() {
    reporter().record({timed_out, "no connection within " + duration_text(*length_) +
                                      " (--max-time): still " + session().phase()});
    session().disconnect();
}

void Unattended::leave_now() {
    out_of_time_ = true;
    session().disconnect();
    output_changed();
}

std::string Unattended::limit_text() const {
    return duration_text(limit()) + " (--max-time, -W and -q)";
}

void Unattended::show_progress() {
    line_.show(progress_text(reporter().results()));
    progress_due_.start(progress_time);
}

}  // namespace yodel
