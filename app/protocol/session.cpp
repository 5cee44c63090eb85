#include "app/protocol/session.hpp"

#include "app/text/units.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>
#include <variant>

namespace yodel {

using bufio::End;
using bufio::Reason;

namespace {

// Pause between replies after which we close our side while finishing. Some services answer
// only then; others drop their remaining replies.
constexpr ev::Duration quiet_time = std::chrono::milliseconds(500);

// Minimum time for a peer to accept some of the output.
constexpr ev::Duration min_write_timeout = std::chrono::seconds(1);

}  // namespace

std::string SessionOptions::target() const {
    const char* scheme = tls ? "tls://" : "tcp://";
    if (websocket) scheme = tls ? "wss://" : "ws://";
    if (endpoint.datagrams) scheme = "udp://";
    if (!endpoint.path.empty()) scheme = "unix:";
    return scheme + endpoint.text() + (websocket ? websocket->path : "");
}

Session::Session(ev::Loop& loop, Options options, User& user)
    : Session(loop, std::make_shared<const Options>(std::move(options)), user) {}

Session::Session(ev::Loop& loop, std::shared_ptr<const Options> options, User& user)
    : loop_(loop),
      options_(std::move(options)),
      user_(user),
      link_(options_->endpoint.datagrams ? make_datagram_link(loop, *options_, *this)
                                         : make_stream_link(loop, *options_, *this)),
      matcher_(link_->matcher()),
      backoff_(options_->retry_delay, options_->retry_seed),
      advance_timer_(loop, [this] { advance(); }),
      reply_timer_(loop, [this] { on_reply_timeout(); }) {}

template <class Due>
void Session::start(ev::Timer& timer, ev::Time at, Due due) {
    if (!timer) timer = ev::Timer(loop_, std::move(due));
    timer.start_at(at);
}

// Does not restart a timer that is due, which would then wait for the next turn. That turn may
// pause again.
template <class Due>
void Session::start_reading_limit(ev::Timer& timer, ev::Time at, Due due) {
    if (running(timer) && timer.deadline() <= loop_.now()) return;
    if (!paused_at_) return start(timer, at, std::move(due));
    if (timer) timer.cancel();
}

// --- Calls of the user.

void Session::connect() {
    backoff_.reset();
    link_->reset_refusal();
    if (options_->max_time && !run_timer_) {
        const auto time_up = [this] {
            if (state_ != State::closed)
                close({Reason::timeout, "not finished within " +
                                            duration_text(*options_->max_time) +
                                            " (--max-time)"});
            report_changes();
        };
        start(run_timer_, loop_.after(*options_->max_time - options_->spent), time_up);
    }
    dial();
    advance_soon();
}

// While waiting for the next attempt, keeps the failure of the last attempt as the end.
void Session::disconnect() {
    if (state_ == State::idle || state_ == State::closed) return;
    close(end_ ? End(end_) : End{Reason::aborted, "disconnected"});
    advance_soon();
}

void Session::finish() {
    if (state_ != State::open) return;
    flush();
    if (state_ != State::open) return;
    longest_pause_ = {};
    set_state(State::finishing);
    release(close_timer_);
    release(stage_timer_);
    watch_end();
    advance_soon();
}

Queued Session::send(std::string_view payload, ev::Time planned,
                     std::optional<std::string_view> reply) {
    return state_ == State::open ? link_->send(payload, planned, reply) : Queued{};
}

Queued Session::send_reserved(std::size_t size) {
    return state_ == State::open ? link_->send_reserved(size) : Queued{};
}

// Reads the clock before the system accepts the messages, because a reply may come before the
// call returns.
void Session::flush() {
    if (!connected() || link_->flushed()) return;
    const ev::Time now = loop_.read_clock();
    flushed_at_ = now;
    // If no greeting has arrived by now, none will come.
    const bool greeting_due = now - since_ <= options_->greeting_time;
    if (state_ == State::open && !greeting_due && !matcher_.greeting_possible())
        matcher_.rule_out_greeting();
    if (!link_->flush(now)) {
        on_end({Reason::limit, "the server has stopped reading, and the send buffer is full"});
        return advance_soon();
    }
    watch_idleness();
    watch_writing();
    watch_replies();
}

// After a pause, timeouts continue with their remaining time. -q grows only by the longest
// pause, so that a reader that stalls again and again cannot keep us from ending.
void Session::pause(bool paused) {
    if (paused == paused_at_.has_value()) return;
    if (paused) {
        paused_at_ = loop_.now();
    } else {
        const ev::Time from = *std::exchange(paused_at_, std::nullopt);
        resumed_at_ = loop_.now();
        reply_timer_from_ += resumed_at_ - std::max(reply_timer_from_, from);
        accepted_at_ += resumed_at_ - std::max(accepted_at_, from);
        longest_pause_ = std::max(longest_pause_, resumed_at_ - std::max(since_, from));
        void_round_trips();
    }
    link_->pause(paused);
    if (!connected()) return;
    watch_all();
    if (!paused) advance_soon();
}

std::string Session::phase() const {
    if (dialer_) return dialer_->phase();
    return (link_->ready() ? "waiting for the greeting of "
                           : "in the " + options_->handshake() + " handshake with ") +
           address().text();
}

// --- Connecting.

void Session::dial() {
    end_ = {};
    link_->reset_facts();
    traffic_ = written_ = replies_ = 0;
    partial_message_ = false;
    start_stage(options_->connect_timeout);
    dialer_ = std::make_unique<bufio::Dialer>(
        loop_, options_->endpoint,
        [this](bufio::DialResult result) { on_dialed(std::move(result)); });
    set_state(State::dialing);
}

void Session::on_dialed(bufio::DialResult result) {
    dialer_.reset();
    phases_ = {result.lookup_time, result.connect_time, {}};
    if (!result.socket) return fail(result.end.reason, std::move(result.end.text));
    // Do this only now, because losses of the last connection may have been unreported until
    // here.
    matcher_.restart();
    set_state(State::handshaking);
    link_->open(std::move(result));
    end_ = link_->refusal();
    advance();
}

// --- Receiving.

// Does all that is possible now, and then reports the changes.
void Session::advance() {
    advance_timer_.cancel();
    read_at_ = loop_.read_clock();
    const std::weak_ptr<void> session = lifetime_.watch();
    if (connected()) advance_connection();
    if (!session.expired()) report_changes();
}

// Reports the open connection before the first reply, and the replies before the end.
void Session::advance_connection() {
    const std::weak_ptr<void> connection = connection_.watch();
    const bool handshaken = state_ == State::handshaking && link_->ready();
    if (handshaken) {
        link_->opened();
        if (options_->has_handshake() && !phases_.handshake)
            phases_.handshake = loop_.read_clock() - since_;
    }
    if (handshaken && link_->greeted()) {
        release(stage_timer_);
        set_state(State::open);
        flush();
        user_.session_changed();
        if (connection.expired()) return;
    }
    if (link_->has_received()) {
        backoff_.reset();
        if (end_) end_ = {};
    }
    link_->record_written(read_at_);
    while (const auto event = link_->next(read_at_)) {
        report(*event);
        if (connection.expired()) return;  // ended by the event or by the user
    }
    link_->done();
    if (paused_at_) return;
    if (link_->input_ended()) on_input_ended();
    if (connection.expired()) return;
    if (link_->end()) return on_end(link_->end());
    report_resolved();
    if (!connection.expired()) watch_all();
}

// Returns false if a callback has destroyed the session.
bool Session::report_resolved() {
    const std::weak_ptr<void> session = lifetime_.watch();
    while (!session.expired()) {
        const auto event = matcher_.next_resolved();
        if (!event) return true;
        report(*event);
    }
    return false;
}

void Session::report_changes() {
    if (report_resolved()) user_.session_changed();
}

void Session::report(const Matcher::Event& event) {
    if (state_ == State::finishing && !link_->finishing()) release(stage_timer_);
    if (const auto* echoed = std::get_if<Matcher::Echoed>(&event)) {
        replies_ += echoed->batch.count;
        return user_.session_echoed(echoed->batch, echoed->round_trip);
    }
    if (const auto* answered = std::get_if<Matcher::Answered>(&event)) {
        ++replies_;
        return user_.session_answered(marked(answered->message, answered->reply.round_trip),
                                      answered->reply);
    }
    if (const auto* arrived = std::get_if<Matcher::Arrived>(&event))
        return user_.session_received(arrived->bytes);
    if (const auto* unsolicited = std::get_if<Matcher::Unsolicited>(&event))
        return user_.session_unsolicited(unsolicited->payload);
    if (const auto* stale = std::get_if<Matcher::Stale>(&event))
        return user_.session_stale(stale->payload);
    if (const auto* differing = std::get_if<Matcher::Differing>(&event))
        return user_.session_differing("message " + std::to_string(differing->message.id) +
                                       ": " + partial_text(differing->message));
    if (const auto* duplicate = std::get_if<Matcher::Duplicate>(&event))
        return user_.session_duplicate(duplicate->payload);
    if (const auto* lost = std::get_if<Matcher::Lost>(&event))
        return user_.session_lost(marked(lost->message, {}));
    close(explained(std::get<Matcher::Refused>(event).end));
}

// Passes the reply timeout if there is no round trip, because a query is then worthwhile.
Message Session::marked(Message message, std::optional<ev::Duration> round_trip) {
    if (options_->mark_resent)
        link_->mark_resent(message, round_trip.value_or(options_->reply_timeout), read_at_);
    return message;
}

std::string Session::partial_text(const Message& message) const {
    if (message.id != matcher_.oldest_id()) return {};  // an older reply is arriving
    const std::string part = link_->partial_message();
    if (part.empty()) return {};
    const Framing& framing = *options_->framing;
    const bool framed = framing.replies_framed();
    const std::string_view begun = framed ? framing.partial_payload(part) : part;
    std::string right(message.expected.value_or(message.payload));
    if (framing.reply && !message.expected) right = framing.reply(right);
    const bool compared = options_->expect == Expect::echo || options_->expect == Expect::given;
    const std::size_t size = framing.payload_size(part).value_or(right.size());
    const std::size_t at = first_difference(begun, right + std::string(framing.delimiter));
    const bool differs =
        compared && !options_->pattern && (at < begun.size() || size != right.size());
    std::string text = differs ? "the reply differs at byte " + std::to_string(at) + "; " : "";
    const bool known = compared || framing.payload_size(part);
    text += known && begun.size() <= size
                ? std::to_string(begun.size()) + " of " + bytes_text(size)
                : bytes_text(begun.size());
    text += " received";
    if (message.late && framed && framing.can_echo() && !framing.delimiter.empty())
        text += ", without " + framing.delimiter_name();
    std::string hint;
    if (replies_ == 0 && framing.prefix > 0)
        hint = length_hint(framing, part, options_->max_frame);
    else if (replies_ == 0 && differs)
        hint = reply_hint(framing, right, {.payload = begun, .difference = at});
    return text + (hint.empty() ? "" : "; " + hint);
}

// Handles the end of the input after all its replies were matched. If no replies are expected,
// the user may continue to send. While finishing, only awaited replies can be lost.
void Session::on_input_ended() {
    const std::string rest = options_->framing->has_frames() ? link_->partial_message() : "";
    const bool partial = !rest.empty() && !partial_message_;
    const std::weak_ptr<void> connection = connection_.watch();
    if (partial || state_ == State::finishing) {
        partial_message_ = partial_message_ || partial;
        matcher_.resolve_unmatched();
        report_resolved();
        if (connection.expired()) return;
    }
    if (partial) {
        End end = explained(truncated(rest));
        if (end.reason != Reason::tls) user_.session_unsolicited(rest);  // not an alert
        if (connection.expired()) return;
        return on_end(std::move(end));
    }
    if (state_ == State::finishing) {
        if (in_flight() > 0) on_end(link_->end() ? link_->end() : closed_early());
        return;
    }
    // Fail after this turn: if our own input ends in it, the peer has not closed too early.
    if (ends_with_input() && !running(close_timer_))
        start(close_timer_, loop_.after(ev::Duration::zero()),
              [this] { fail(Reason::closed_early, {}); });
}

// Without expected replies, the end of the input ends only a connection whose sides close
// together.
bool Session::ends_with_input() const {
    return options_->expect != Expect::none || !link_->closes_halves();
}

// --- Timeouts. Each of these functions starts its timer, restarts it, or stops it.

void Session::watch_all() {
    watch_idleness();
    watch_writing();
    watch_replies();
    watch_greeting();
    watch_end();
}

// Only received or sent bytes restart the idle timeout; our own timeouts do not.
void Session::watch_idleness() {
    if (!options_->idle_timeout || paused_at_) return release(idle_timer_);
    const std::uint64_t traffic = link_->traffic();
    if (running(idle_timer_) && traffic == traffic_) return;
    traffic_ = traffic;
    start(idle_timer_, loop_.after(*options_->idle_timeout), [this] {
        fail(Reason::timeout,
             "nothing sent or received for " + duration_text(*options_->idle_timeout));
    });
}

// Detects a peer that accepts no output while we read its input.
void Session::watch_writing() {
    if (pending() == 0 || !has_back_pressure()) return release(write_timer_);
    const std::uint64_t written = link_->written();
    if (!write_timer_ || written != written_) accepted_at_ = loop_.now();
    written_ = written;
    const auto due = accepted_at_ + std::max(options_->reply_timeout, min_write_timeout);
    start_reading_limit(write_timer_, due, [this] {
        fail(Reason::timeout,
             "the server has stopped reading; unsent: " + bytes_text(pending()) + " (-W)");
    });
}

void Session::watch_replies() {
    if (in_flight() == 0) return reply_timer_.cancel();
    start_reading_limit(reply_timer_, reply_due(), [this] { on_reply_timeout(); });
}

// The reply timeout begins when the oldest message was sent or, if later, at the end of the
// last pause.
ev::Time Session::reply_due() {
    const ev::Time sent = matcher_.oldest_sent_at();
    if (sent != oldest_sent_at_) reply_timer_from_ = std::max(sent, resumed_at_);
    oldest_sent_at_ = sent;
    return reply_timer_from_ + options_->reply_timeout;
}

void Session::on_reply_timeout() {
    if (reply_due() > loop_.now()) return watch_replies();
    const std::weak_ptr<void> session = lifetime_.watch();
    const std::weak_ptr<void> connection = connection_.watch();
    read_at_ = loop_.now();
    matcher_.resolve_unmatched();
    report_resolved();
    while (!connection.expired() && in_flight() > 0 && reply_due() <= loop_.now()) {
        matcher_.mark_late();
        report_resolved();
    }
    if (!connection.expired()) watch_all();
    if (!session.expired()) report_changes();
}

void Session::watch_greeting() {
    if (state_ != State::open) return;
    if (paused_at_ || !matcher_.greeting_possible()) return release(stage_timer_);
    if (!running(stage_timer_)) start_stage(options_->greeting_time);
}

// Closes our side once all replies have come or pause, and then waits for the peer's end.
void Session::watch_end() {
    if (state_ != State::finishing) return;
    const bool quiet = !link_->finishing();
    if (quiet && (paused_at_ || in_flight() == 0)) release(stage_timer_);
    if (in_flight() == 0) {
        if (!paused_at_) link_->finish();
        const ev::Time limit = since_ + options_->close_timeout + longest_pause_;
        const ev::Time due = link_->end_due(limit, std::max(read_at_, resumed_at_));
        start_reading_limit(stage_timer_, due, [this] { on_stage_timeout(); });
    } else if (quiet && !paused_at_ && !running(stage_timer_)) {
        start_stage(quiet_time);
    }
}

void Session::start_stage(ev::Duration limit) {
    start(stage_timer_, loop_.after(limit), [this] { on_stage_timeout(); });
}

void Session::on_stage_timeout() {
    switch (state_) {
    case State::waiting: dial(); return report_changes();
    case State::open: matcher_.rule_out_greeting(); return advance();
    case State::finishing:
        if (in_flight() > 0) return link_->finish();
        return fail(Reason::timeout, "the server did not close within " +
                                         duration_text(options_->close_timeout) + " (-q)");
    default:
        fail(Reason::timeout, "no connection to " + options_->endpoint.text() + " within " +
                                  duration_text(options_->connect_timeout) + ": still " +
                                  phase());
    }
}

// --- The end of a connection. These functions change the state; their callers report it.

void Session::fail(Reason reason, std::string text) {
    on_end({reason, std::move(text)});
    report_changes();
}

void Session::set_state(State state) {
    state_ = state;
    since_ = loop_.now();
}

void Session::on_end(End end) {
    end = explained(std::move(end));
    if (!worth_retrying(end.reason)) return close(std::move(end));
    drop_connection(std::move(end));
    matcher_.lose(options_->framing->has_frames());
    start_stage(backoff_.next());
    set_state(State::waiting);
}

// If a server closes its side and sending fails later, reports that the server closed. Replaces
// "the peer", the word of the libraries below, by "the server".
End Session::explained(End end) const {
    const bool closed_first = end.reason == Reason::send && input_ended();
    const bool early = end.reason == Reason::closed_early;
    if ((early || (closed_first && state_ == State::open)) && ends_with_input())
        end = closed_early();
    const std::uint64_t id = matcher_.oldest_id();
    const std::string part = id > 0 ? link_->partial_message() : "";
    const End reset = bufio::system_end(Reason::receive, "receiving", ECONNRESET);
    if (!part.empty() && end.reason == reset.reason && end.text == reset.text)
        end.text = "reset inside message " + std::to_string(id) + ", " + fragment_text(part);
    constexpr std::string_view peer = "the peer ";
    if (end.text.starts_with(peer)) end.text.replace(0, peer.size(), "the server ");
    return link_->explained(std::move(end));
}

std::string Session::fragment_text(std::string_view part) const {
    const Framing& framing = *options_->framing;
    return framing.replies_framed() ? framing.fragment_text(part)
                                    : "after " + bytes_text(part.size());
}

End Session::closed_early() const {
    const std::uint64_t sent = replies_ + in_flight();
    if (in_flight() == 0) return {Reason::closed_early, options_->closed_early};
    return {Reason::closed_early, "the server closed the connection after " +
                                      std::to_string(replies_) + " of " + std::to_string(sent) +
                                      " replies"};
}

End Session::truncated(std::string_view part) const {
    std::string text = "the server closed inside a message, " + fragment_text(part);
    const bool first = replies_ == 0 && in_flight() > 0;
    const std::string hint =
        first ? length_hint(*options_->framing, part, options_->max_frame) : "";
    if (!hint.empty()) text += "; " + hint;
    return {Reason::truncated, text};
}

void Session::close(End end) {
    drop_connection(std::move(end));
    matcher_.lose(false);
    set_state(State::closed);
}

// Calls final_end() first, because it queries the open link.
void Session::drop_connection(End end) {
    end_ = final_end(std::move(end));
    link_->close();
    dialer_.reset();
    connection_.end();
    reply_timer_.cancel();
    for (ev::Timer* timer : {&stage_timer_, &idle_timer_, &write_timer_, &close_timer_})
        release(*timer);
}

// Returns the end to report. Once all messages are answered and our side is closed, the peer
// need not close its side. If the expected replies are known, it may also close without
// close_notify, but not without a WebSocket close frame.
End Session::final_end(End end) const {
    const End clean = end_ ? end_ : End{Reason::clean, "closed"};
    if (end.reason == Reason::clean) return clean;
    if (state_ != State::finishing || in_flight() > 0) return end;
    if (end.reason == Reason::closed_early) return clean;
    if (!link_->output_closed()) return end;
    if (end.reason == Reason::timeout) {
        const bool awaited = options_->close_timeout > ev::Duration::zero();
        if (!awaited || !link_->peer_closes()) return clean;
        const char* const fact = running(stage_timer_) ? "the server did not close; " : "";
        return {Reason::unclosed, fact + end.text};
    }
    const bool known = options_->expect == Expect::echo || options_->expect == Expect::given;
    const bool whole = known && !partial_message_ && link_->closes_halves();
    return end.reason == Reason::truncated && whole ? clean : end;
}

// Returns false for errors of settings or trust, for an intended end, and when finishing with
// nothing left to send.
bool Session::worth_retrying(Reason reason) const {
    if (options_->retries != forever && backoff_.count() >= options_->retries) return false;
    if (state_ == State::finishing && !matcher_.has_unwritten()) return false;
    switch (reason) {
    case Reason::lookup:
    case Reason::connect:
    case Reason::handshake_interrupted:
    case Reason::send:
    case Reason::receive:
    case Reason::truncated:
    case Reason::closed_early: return true;
    case Reason::timeout: return state_ == State::dialing || state_ == State::handshaking;
    default: return false;
    }
}

}  // namespace yodel
