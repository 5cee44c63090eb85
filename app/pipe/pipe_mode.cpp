#include "app/pipe/pipe_mode.hpp"

#include "app/text/units.hpp"

namespace yodel {

using State = AnySession::State;

namespace {

// In flight to a server that has answered nothing in time: enough to fill the system's buffers
// soon.
constexpr std::size_t silent_window = 64 * 1024;  // messages, where each is kept by itself
constexpr std::size_t silent_window_bytes = 4 * 1024 * 1024;

// Datagrams in flight, as payload and as what the system reckons for each beside it: what fits
// into a socket's usual buffer.
constexpr std::size_t way_bytes = 128 * 1024;
constexpr std::size_t datagram_overhead = 1024;

AnySession::Options session_options(const PipeMode::Options& options) {
    AnySession::Options to = options.session;
    to.mark_resent = Reporter::reports_messages(options.report);
    return to;
}

}  // namespace

PipeMode::PipeMode(ev::Loop& loop, const Options& options, std::size_t high_water)
    : loop_(loop),
      high_water_(high_water),
      own_session_(make_session(loop, session_options(options), *this)),
      session_(*own_session_),
      reporter_(loop, options.report, session_, [this] { output_changed(); }) {
    session_.connect();
}

void PipeMode::leave(int signo) {
    leaving_ = true;
    reporter_.leave(signo);
    session_.disconnect();
    if (reported_state_ == State::closed) loop_.stop();
}

int PipeMode::report() {
    before_report();
    return reporter_.finish();
}

// Output that can't be written ends the session; output that its reader does not take pauses
// it.
void PipeMode::session_changed() {
    if (reported_state_ != session_.state()) state_changed(reported_state_ = session_.state());
    reporter_.flush();
    if (session_.state() != State::closed && session_.state() != State::idle) send();
    output_changed();
}

void PipeMode::state_changed(State state) {
    if (state == State::dialing || state == State::handshaking) reporter_.connecting();
    if (state == State::open) {
        reporter_.connected();
        connected();
    }
    if (state == State::waiting) reporter_.retrying();
    if (state == State::waiting || state == State::closed) disconnected();
    if (state == State::closed) reporter_.ended();
}

void PipeMode::output_changed() {
    if (reporter_.output_failed()) session_.disconnect();
    if (reporter_.pending() > high_water_) session_.pause(true);
    if (reporter_.pending() < high_water_ / 4) session_.pause(false);
    if (session_.state() != State::closed || reported_state_ != State::closed) return;
    const bool done = leaving_ || reporter_.output_done();
    if (!done && !out_of_time()) return;
    if (!done) reporter_.output_unread(limit_text());
    loop_.stop();
}

std::string PipeMode::limit_text() const {
    return duration_text(*session_.options().max_time) + " (--max-time)";
}

bool PipeMode::window_lifted() const {
    const bool few = session_.options().coalesce || session_.in_flight() < silent_window;
    return silent_ && few && session_.has_back_pressure() &&
           session_.in_flight_bytes() < silent_window_bytes;
}

bool PipeMode::way_full() const {
    const std::size_t count = session_.in_flight();
    const std::size_t bytes = session_.in_flight_bytes() + count * datagram_overhead;
    return !session_.has_back_pressure() && count > 0 && bytes >= way_bytes;
}

void PipeMode::session_answered(const Message& message, const Reply& reply) {
    silent_ = false;
    if (!message.late) left_flight(message);
    Reply counted = reply;
    if (counted.round_trip) *counted.round_trip += overdue(message.planned, message.sent);
    reporter_.answered(message, counted, reply.round_trip);
}

void PipeMode::session_echoed(const Batch& batch, std::optional<ev::Duration> round_trip) {
    silent_ = false;
    reporter_.echoed(batch, round_trip);
}

// Where a user leaves early, the messages in flight do not count as lost.
void PipeMode::session_lost(const Message& message) {
    silent_ = message.late;
    left_flight(message);
    if (!leaving_) reporter_.lost(message);
}

void PipeMode::session_unsolicited(std::string_view payload) { unsolicited(payload); }

void PipeMode::session_repeated(std::string_view payload) { reporter_.repeated(payload); }

void PipeMode::session_received(std::string_view bytes) { reporter_.received(bytes); }

}  // namespace yodel
