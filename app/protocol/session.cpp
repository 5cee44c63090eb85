#include "app/protocol/session.hpp"

#include "app/protocol/first_words.hpp"
#include "app/text/units.hpp"
#include "bufio/accept.hpp"
#include "bufio/packets.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace yodel {

using bufio::By;
using bufio::End;
using bufio::Reason;

namespace {

// While finishing, we close our side after this time without a reply. Some services answer only
// once our side is closed; others drop their remaining replies if it closes earlier.
constexpr ev::Duration quiet_time = std::chrono::milliseconds(500);

// Minimum timeout for a peer that accepts no output.
constexpr ev::Duration min_write_timeout = std::chrono::seconds(1);

// With datagrams, the session waits for late and duplicate replies after the last expected
// reply: for lingering_round_trips times the longest round trip, but at least min_linger, at
// most max_linger, and not longer than -q.
constexpr ev::Duration min_linger = std::chrono::milliseconds(100);
constexpr ev::Duration max_linger = std::chrono::seconds(1);
constexpr int lingering_round_trips = 4;

Ledger::Options ledger_options(const SessionOptions& options) {
    return {.framing = options.framing,
            .max_frame = options.max_frame,
            .expect = options.expect,
            .greeted = options.starttls ||
                       (options.framing->takes_turns && !options.on_connect.empty()),
            .coalesce = options.coalesce,
            .numbered = options.numbered,
            .pattern = options.pattern_or_null(),
            .expected_unsolicited = options.expected_unsolicited};
}

// A TLS server answers a client without TLS with nothing but an alert.
bool is_tls_alert(const std::array<char, 7>& bytes) {
    return bytes[0] == '\x15' && bytes[1] == '\x03' && bytes[2] <= '\x04' && bytes[3] == '\0' &&
           bytes[4] == '\x02' && (bytes[5] == '\x01' || bytes[5] == '\x02');
}

}  // namespace

std::string SessionOptions::target() const {
    const char* scheme = tls ? "tls://" : "tcp://";
    if (websocket) scheme = tls ? "wss://" : "ws://";
    if (endpoint.udp) scheme = "udp://";
    if (!endpoint.path.empty()) scheme = "unix:";
    return scheme + endpoint.text() + (websocket ? websocket->path : "");
}

std::string SessionOptions::listening_text() const {
    const std::string pin = tls ? "; clients trust it with --pinnedpubkey " + tls->pin() : "";
    return "listening " + endpoint.acceptor->address().text() + pin;
}

Session::Session(ev::Loop& loop, Options options, Owner& owner)
    : Session(loop, std::make_shared<const Options>(std::move(options)), owner) {}

Session::Session(ev::Loop& loop, std::shared_ptr<const Options> options, Owner& owner)
    : loop_(loop),
      options_(std::move(options)),
      owner_(owner),
      ledger_(ledger_options(*options_)),
      backoff_(options_->retry_delay, options_->retry_seed),
      advance_timer_(loop, [this] { advance(); }),
      reply_timer_(loop, [this] { on_reply_timeout(); }) {}

template <class Due>
void Session::start(ev::Timer& timer, ev::Time at, Due due) {
    if (!timer) timer = ev::Timer(loop_, std::move(due));
    timer.start_at(at);
}

// Leaves a timer that is already due, because restarting it would postpone it to the next turn,
// in which the session may be paused again.
template <class Due>
void Session::start_unless_paused(ev::Timer& timer, ev::Time at, Due due) {
    if (running(timer) && timer.deadline() <= loop_.now()) return;
    if (!paused_at_) return start(timer, at, std::move(due));
    if (timer) timer.cancel();
}

// --- Calls of the owner.

void Session::connect() {
    backoff_.reset();
    refusal_ = {};
    if (options_->max_time && !run_timer_) {
        const auto time_up = [this] {
            if (state_ != State::closed)
                close({Reason::timeout, By::us, "the run did not finish within",
                       duration_text(*options_->max_time) + " (--max-time)"});
            report_changes();
        };
        start(run_timer_, loop_.after(*options_->max_time - options_->time_spent), time_up);
    }
    dial();
    advance_soon();
}

// While waiting for the next attempt, keeps the failure of the last attempt as the end.
void Session::disconnect(End end) {
    if (state_ == State::idle || state_ == State::closed) return;
    close(end_ ? End(end_) : std::move(end));
    advance_soon();
}

void Session::finish() {
    if (state_ != State::open) return;
    flush();
    if (state_ != State::open) return;
    max_pause_ = {};
    set_state(State::finishing);
    release(early_close_timer_);
    release(ping_timer_);
    release(stage_timer_);
    watch_end();
    advance_soon();
}

QueuedIds Session::send(std::string_view payload, ev::Time planned,
                        std::optional<std::string_view> reply) {
    if (state_ != State::open || !is_sendable(*options_->framing, options_->max_frame, payload))
        return {};
    return ledger_.queue(payload, planned, reply);
}

QueuedIds Session::send_reserved(std::size_t size) {
    if (state_ != State::open || size == 0 || size > options_->max_frame) return {};
    return ledger_.queue_reserved(size);
}

// Reads the clock before the system accepts the messages, because a reply may come before the
// call returns.
void Session::flush() {
    if (!connected() || ledger_.flushed()) return;
    const ev::Time now = loop_.read_clock();
    flushed_at_ = now;
    // A greeting that has not arrived within its time will not come.
    const bool greeting_may_come = now - state_since_ <= options_->greeting_time;
    if (state_ == State::open && !greeting_may_come && !ledger_.greeting_possible())
        ledger_.rule_out_greeting();
    const bool accepted = stream_->write(ledger_.flush(now));
    if (!accepted && !stream_->end()) {  // an ended stream reports its end
        on_end({Reason::limit, By::peer, "has stopped reading, and the send buffer is full"});
        return advance_soon();
    }
    ledger_.release_idle();
    ledger_.record_written(stream_->bytes_written(), now);
    if (running(early_close_timer_) && options_->listens())
        early_close_timer_.start(options_->answer_time);
    watch_idleness();
    watch_pings();
    watch_writing();
    watch_replies();
}

// After a pause, timeouts continue with their remaining time. -q is extended only by the
// longest pause, so that an owner that pauses again and again cannot keep us from ending.
void Session::pause(bool paused) {
    if (paused == paused_at_.has_value()) return;
    if (paused) {
        paused_at_ = loop_.now();
    } else {
        const ev::Time from = *std::exchange(paused_at_, std::nullopt);
        resumed_at_ = loop_.now();
        reply_timer_from_ += resumed_at_ - std::max(reply_timer_from_, from);
        output_accepted_at_ += resumed_at_ - std::max(output_accepted_at_, from);
        max_pause_ = std::max(max_pause_, resumed_at_ - std::max(state_since_, from));
        void_round_trips();
    }
    if (!connected()) return;
    stream_->pause_reading(paused);
    watch_all();
    if (!paused) advance_soon();
}

std::string Session::phase() const {
    if (dialer_) return dialer_->phase();
    std::string text = "waiting for the greeting from ";
    if (!stream_->handshake_done())
        text = options_->has_handshake()
                   ? "in the " + options_->handshake() + " handshake with "
                   : "waiting for the reply to --on-connect from ";
    return text + address().text();
}

// --- Connecting.

void Session::dial() {
    end_ = {};
    facts_.reset();
    last_traffic_ = last_written_ = reply_count_ = 0;
    pings_ = options_->ping ? std::make_unique<Pings>() : nullptr;
    partial_message_ = false;
    if (!options_->listens()) start_stage(options_->connect_timeout);
    dialer_ = std::make_unique<bufio::Dialer>(
        loop_, options_->endpoint,
        [this](bufio::DialResult result) { on_dialed(std::move(result)); });
    set_state(State::dialing);
}

void Session::on_dialed(bufio::DialResult result) {
    dialer_.reset();
    phases_ = {result.lookup_time, result.connect_time, {}};
    if (!result.socket) return fail(std::move(result.end));
    // Not earlier, because losses of the last connection may not have been reported before.
    ledger_.restart();
    set_state(State::handshaking);
    if (options_->listens()) start_stage(options_->connect_timeout);
    address_ = result.address;
    if (options_->has_handshake()) facts_ = std::make_unique<Facts>();
    bufio::Stream::Limits limits;
    limits.output = options_->max_frame + std::max(options_->max_frame, limits.output);
    bufio::Stream::Owner& owner = *this;
    stream_ = std::make_unique<bufio::Stream>(loop_, make_transport(std::move(result.socket)),
                                              owner, limits);
    stream_->pause_reading(paused_at_.has_value());
    linger_start_ = {};
    end_ = refusal_;
    advance();
}

std::unique_ptr<bufio::Transport> Session::make_transport(bufio::Fd socket) {
    opening_notes_.clear();
    auto below = make_transport_below(std::move(socket));
    if (options_->on_connect.empty()) return below;
    return say_first(std::move(below), *options_->framing, options_->starttls != nullptr,
                     options_->on_connect, opening_notes_);
}

std::unique_ptr<bufio::Transport> Session::make_transport_below(bufio::Fd socket) {
    const bool listens = options_->listens();
    const std::string& host = options_->endpoint.host;
    if (lossy()) return bufio::make_packet_transport(std::move(socket), address_, !listens);
    if (options_->starttls)
        return connect_starttls(*options_->starttls, std::move(socket), *options_->tls, host,
                                opening_notes_);
    auto below = !options_->tls ? bufio::make_plain_transport(std::move(socket))
                 : listens      ? options_->tls->accept(std::move(socket))
                                : options_->tls->connect(std::move(socket), host);
    if (!options_->websocket) return below;
    if (listens) return websocket::accept(std::move(below), options_->max_frame);
    return websocket::connect(std::move(below), *options_->websocket, options_->max_frame,
                              facts_->websocket);
}

void Session::record_facts() {
    if (stream_->tls()) facts_->tls = *stream_->tls();
}

// --- Receiving.

// Does everything that is possible now, then reports the changes.
void Session::advance() {
    advance_timer_.cancel();
    read_at_ = loop_.read_clock();
    const std::weak_ptr<void> session = lifetime_.watch();
    if (connected()) advance_connection();
    if (!session.expired()) report_changes();
}

// Reports the open connection before the first reply, and the replies before the end.
void Session::advance_connection() {
    const std::weak_ptr<void> connection = connection_lifetime_.watch();
    if (state_ == State::handshaking && stream_->handshake_done()) advance_handshake();
    if (connection.expired()) return;
    if (stream_->bytes_read() > 0 && stream_->is_open()) {
        backoff_.reset();
        if (end_) end_ = refusal_ = {};
    }
    ledger_.record_written(stream_->bytes_written(), read_at_);
    if (!match_input() || paused_at_) return;
    if (input_ended()) on_input_ended();
    if (connection.expired()) return;
    const End& end = stream_->end() ? stream_->end() : stream_->rejection();
    if (end) {
        if (lossy() && (end.reason == Reason::refused || end.reason == Reason::connect))
            refusal_ = end;
        return on_end(end);
    }
    report_resolved();
    if (!connection.expired()) watch_all();
}

// Returns false if the connection has ended meanwhile.
bool Session::match_input() {
    const std::weak_ptr<void> connection = connection_lifetime_.watch();
    unprocessed_ = stream_->received();
    if (stream_->bytes_read() == unprocessed_->size())
        unprocessed_->copy(first_bytes_.data(), first_bytes_.size());
    while (!paused_at_) {
        const std::optional<Event> event = ledger_.next(*unprocessed_, read_at_);
        if (!event) break;
        report(*event);
        if (connection.expired()) return false;  // ended by the owner
    }
    if (ledger_.refusal()) close(explained(ledger_.refusal()));
    if (connection.expired()) return false;
    const std::size_t left = unprocessed_->size();
    unprocessed_.reset();
    stream_->consume(stream_->received().size() - left);
    // Raises the stream's water marks until the rest of an incomplete message has arrived.
    if (!paused_at_) stream_->set_min_readable(left + 1);
    return true;
}

// Opens the session once the handshake is done and the greeting, if any, has come.
void Session::advance_handshake() {
    record_facts();
    if (options_->has_handshake() && !phases_.handshake)
        phases_.handshake = loop_.read_clock() - state_since_;
    if (!ledger_.greeted(stream_->received())) return;
    release(stage_timer_);
    set_state(State::open);
    flush();
    owner_.session_changed();
}

std::string Session::partial_message() const {
    return stream_ ? std::string(unprocessed_.value_or(stream_->received())) : "";
}

// Returns false if a callback has destroyed the session.
bool Session::report_resolved() {
    const std::weak_ptr<void> session = lifetime_.watch();
    while (!session.expired()) {
        const auto event = ledger_.next_resolved();
        if (!event) return true;
        report(*event);
    }
    return false;
}

void Session::report_changes() {
    if (report_resolved()) owner_.session_changed();
}

void Session::report(Event event) {
    if (state_ == State::finishing && !stream_->finishing()) release(stage_timer_);
    if (has_message(event.fate) && has_reply(event.fate)) reply_count_ += event.count;
    event.at = std::max(read_at_, loop_.now());
    std::string why;
    if (event.fate == Fate::lost) event.reply.payload = why = loss_text(event.message);
    owner_.session_event(event);
}

std::string Session::loss_text(const Message& message) const {
    const bool up = state_ == State::open || state_ == State::finishing;
    if (!message.late)
        return up ? "; a later message was answered" : " before the connection ended";
    const std::string part = partial_reply_text(message);
    return " within " + duration_text(options_->reply_timeout) +
           (part.empty() ? "" : "; " + part);
}

std::string Session::partial_reply_text(const Message& message) const {
    if (message.id != ledger_.oldest_id()) return {};  // an older reply is arriving
    const std::string part = partial_message();
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
    if (reply_count_ == 0 && framing.prefix > 0)
        hint = length_hint(framing, part, options_->max_frame);
    else if (reply_count_ == 0 && differs)
        hint = reply_hint(framing, right, {.payload = begun, .difference = at});
    return text + (hint.empty() ? "" : "; " + hint);
}

// Handles the end of the input after all its replies were matched. If no replies are expected,
// the owner may continue to send. While finishing, the end is a failure only if replies are
// missing.
void Session::on_input_ended() {
    const Framing& framing = *options_->framing;
    const std::string rest = framing.has_frames() ? partial_message() : "";
    const bool partial = !rest.empty() && !partial_message_;
    if (!partial && state_ != State::finishing) return watch_early_close();
    if (partial) partial_message_ = true;
    const std::weak_ptr<void> connection = connection_lifetime_.watch();
    ledger_.resolve_held();
    report_resolved();
    if (connection.expired()) return;
    if (!partial) {
        if (in_flight() > 0)
            on_end(stream_->end()
                       ? stream_->end()
                       : End{Reason::closed_early, By::peer, "closed the connection"});
        return;
    }
    const bool first = reply_count_ == 0 && in_flight() > 0;
    End end = end_inside_message(framing, rest);
    const std::string hint = first ? length_hint(framing, rest, options_->max_frame) : "";
    if (!hint.empty()) end.detail += "; " + hint;
    if (!got_tls_alert()) report(received_event(Fate::unsolicited, rest));
    if (!connection.expired()) on_end(std::move(end));
}

// Fails after this turn. If the owner's input also ends in this turn, the peer has not closed
// too early. A client that has half-closed the connection can still be answered for a while.
void Session::watch_early_close() {
    const bool listens = options_->listens();
    if ((!ends_with_input() && !listens) || running(early_close_timer_)) return;
    const bool answers = listens && !options_->websocket;
    start(early_close_timer_,
          loop_.after(answers ? options_->answer_time : ev::Duration::zero()),
          [this] { on_early_close(); });
}

// A client may close at any time, so this is no failure. Waits until the client has accepted
// all output.
void Session::on_early_close() {
    if (!options_->listens()) return fail({Reason::closed_early});
    if (pending() > 0) return early_close_timer_.start(options_->answer_time);
    fail({Reason::clean});
}

// If no replies are expected, the end of the input ends the connection only if its sides close
// together.
bool Session::ends_with_input() const {
    return options_->expect != Expect::none || options_->websocket;
}

// --- Timeouts. Each of these functions starts its timer, restarts it, or stops it.

void Session::watch_all() {
    watch_idleness();
    watch_pings();
    watch_writing();
    watch_replies();
    watch_greeting();
    watch_end();
}

// Only received or sent bytes restart the idle timeout; our own timeouts do not.
void Session::watch_idleness() {
    if (!options_->idle_timeout || paused_at_) return release(idle_timer_);
    const std::uint64_t traffic = stream_->traffic();
    if (running(idle_timer_) && traffic == last_traffic_) return;
    last_traffic_ = traffic;
    start(idle_timer_, loop_.after(*options_->idle_timeout), [this] {
        fail({Reason::timeout, By::us, "nothing was sent or received for",
              duration_text(*options_->idle_timeout) + " (--idle-timeout)"});
    });
}

// Traffic postpones the next ping, but not the limit for a pong. After a pause, both begin
// again.
void Session::watch_pings() {
    if (!pings_ || state_ != State::open) return;
    const std::uint64_t answered = stream_->answered_ping();
    if (std::exchange(pings_->answered, answered) != answered) release(ping_timer_);
    if (paused_at_) return release(ping_timer_);
    const bool awaited = pings_->sent > pings_->answered;
    const std::uint64_t traffic = stream_->traffic();
    if (running(ping_timer_) && (awaited || traffic == pings_->traffic)) return;
    pings_->traffic = traffic;
    const ev::Duration limit = awaited ? options_->reply_timeout : *options_->ping;
    start(ping_timer_, loop_.after(limit), [this] { on_ping_due(); });
}

void Session::on_ping_due() {
    if (pings_->sent > pings_->answered)
        return fail({Reason::timeout, By::peer, "did not answer a ping within",
                     duration_text(options_->reply_timeout) + " (-W)"});
    ++pings_->sent;
    stream_->ping();
    watch_pings();
}

// Detects a peer that accepts no output while we read its input.
void Session::watch_writing() {
    if (pending() == 0 || !has_back_pressure()) return release(write_timer_);
    const std::uint64_t written = stream_->bytes_written();
    if (!write_timer_ || written != last_written_) output_accepted_at_ = loop_.now();
    last_written_ = written;
    const auto due = output_accepted_at_ + std::max(options_->reply_timeout, min_write_timeout);
    start_unless_paused(write_timer_, due, [this] {
        fail({Reason::timeout, By::peer,
              "has stopped reading; unsent:", bytes_text(pending()) + " (-W)"});
    });
}

void Session::watch_replies() {
    const ev::Time due = in_flight() > 0 ? reply_due() : ev::Time::max();
    if (due == ev::Time::max()) return reply_timer_.cancel();
    start_unless_paused(reply_timer_, due, [this] { on_reply_timeout(); });
}

// The reply timeout begins when the oldest message was sent or, if later, at the end of the
// last pause. Messages that wait for the handshake of a new connection have no timeout yet.
ev::Time Session::reply_due() {
    const ev::Time sent = ledger_.oldest_sent_at();
    if (sent == ev::Time{}) return ev::Time::max();
    if (sent != oldest_sent_at_) reply_timer_from_ = std::max(sent, resumed_at_);
    oldest_sent_at_ = sent;
    return reply_timer_from_ + options_->reply_timeout;
}

void Session::on_reply_timeout() {
    if (reply_due() > loop_.now()) return watch_replies();
    const std::weak_ptr<void> session = lifetime_.watch();
    const std::weak_ptr<void> connection = connection_lifetime_.watch();
    read_at_ = loop_.now();
    ledger_.resolve_held();
    report_resolved();
    while (!connection.expired() && in_flight() > 0 && reply_due() <= loop_.now()) {
        report(ledger_.expire_oldest());
        if (!connection.expired()) report_resolved();
    }
    if (!connection.expired()) watch_all();
    if (!session.expired()) report_changes();
}

void Session::watch_greeting() {
    if (state_ != State::open) return;
    if (paused_at_ || !ledger_.greeting_possible()) return release(stage_timer_);
    if (!running(stage_timer_)) start_stage(options_->greeting_time);
}

// Closes our side once all replies have come, or when none has come for a while. Then waits for
// the peer to close.
void Session::watch_end() {
    if (state_ != State::finishing) return;
    const bool quiet = !stream_->finishing();
    if (quiet && (paused_at_ || in_flight() == 0)) release(stage_timer_);
    if (in_flight() == 0) {
        if (!paused_at_) stream_->finish();
        start_unless_paused(stage_timer_, end_deadline(), [this] { on_stage_timeout(); });
    } else if (quiet && !paused_at_ && !running(stage_timer_)) {
        start_stage(quiet_time);
    }
}

// Returns when the session stops waiting for the peer to close: after -q, or with datagrams at
// the end of the linger time. Each received datagram restarts the linger time, but does not
// extend it beyond -q.
ev::Time Session::end_deadline() {
    const ev::Time limit = state_since_ + options_->close_timeout + max_pause_;
    if (!lossy()) return limit;
    if (linger_start_ == ev::Time{}) linger_start_ = loop_.now();
    const ev::Time from = std::max({linger_start_, read_at_, resumed_at_});
    if (options_->listens()) return from + options_->answer_time;
    const ev::Duration wanted = lingering_round_trips * ledger_.max_round_trip();
    const ev::Duration linger =
        std::min(std::clamp(wanted, min_linger, max_linger), options_->close_timeout);
    return std::min(from + linger, std::max(linger_start_ + linger, limit));
}

void Session::start_stage(ev::Duration limit) {
    start(stage_timer_, loop_.after(limit), [this] { on_stage_timeout(); });
}

void Session::on_stage_timeout() {
    switch (state_) {
    case State::waiting: dial(); return report_changes();
    case State::open: ledger_.rule_out_greeting(); return advance();
    case State::finishing:
        if (in_flight() > 0) return stream_->finish();
        return fail({Reason::timeout, By::peer, "did not close within",
                     duration_text(options_->close_timeout) + " (-q)"});
    default:
        fail({Reason::timeout, By::us, "no connection to",
              options_->endpoint.text() + " within " +
                  duration_text(options_->connect_timeout) + " (-w): still " + phase()});
    }
}

// --- The end of a connection. These functions change the state; their callers report it.

void Session::fail(End end) {
    on_end(std::move(end));
    report_changes();
}

void Session::set_state(State state) {
    state_ = state;
    state_since_ = loop_.now();
}

void Session::on_end(End end) {
    end = explained(std::move(end));
    const bool announced = end.reason == Reason::closed_early && state_ == State::open &&
                           reply_count_ > 0 && ledger_.oldest_id() == 0;
    if (announced && !options_->retry_after_answers) end.reason = Reason::clean;
    if (!worth_retrying(end.reason)) return close(std::move(end));
    drop_connection(std::move(end));
    ledger_.lose(options_->framing->has_frames() && !options_->listens());
    const bool accepts_next = options_->listens() && state_ != State::dialing;
    start_stage(accepts_next ? ev::Duration::zero() : backoff_.next());
    set_state(State::waiting);
}

// An alert proves nothing if the server merely echoed our own bytes.
bool Session::got_tls_alert() const {
    return stream_ && !options_->tls && stream_->bytes_read() == first_bytes_.size() &&
           is_tls_alert(first_bytes_) && !ledger_.echoed();
}

// Adds what the stream does not know: the messages in flight, and whether the peer may close.
// If a server closes its side and sending fails later, the server has ended the connection.
End Session::explained(End end) const {
    if (got_tls_alert()) return {Reason::tls, By::peer, "speaks TLS; use --tls"};
    const std::uint64_t id = ledger_.oldest_id();
    const std::string part = id > 0 ? partial_message() : "";
    if (end.reason == Reason::reset && !part.empty())
        return {Reason::reset, By::peer, "reset the connection inside the reply to message",
                std::to_string(id) + ", " + options_->framing->fragment_text(part)};
    const bool listens = options_->listens();
    const bool open = state_ == State::open;
    if (listens && open && end.reason == Reason::clean)
        return {Reason::clean, By::peer, "closed the connection"};
    const bool closed_first = open && end.reason == Reason::send && input_ended();
    const bool early = end.reason == Reason::closed_early || closed_first;
    if (!early || !(listens || ends_with_input())) return end;
    end = {Reason::closed_early, By::peer, "closed the connection"};
    if (!listens && in_flight() == 0) end.what = options_->early_close;
    if (!listens && in_flight() > 0)
        end.detail = "after " + std::to_string(reply_count_) + " of " +
                     std::to_string(reply_count_ + in_flight()) + " replies";
    if (websocket() && websocket()->closure)
        end.detail += (end.detail.empty() ? "(" : " (") + websocket()->closure->text() + ")";
    return end;
}

void Session::close(End end) {
    drop_connection(std::move(end));
    ledger_.lose(false);
    set_state(State::closed);
}

// Calls final_end() first, because it queries the stream.
void Session::drop_connection(End end) {
    end_ = final_end(std::move(end));
    if (stream_) {
        record_facts();
        tcp_ = tcp();
        stream_->close();
        stream_.reset();
        unprocessed_.reset();
    }
    dialer_.reset();
    connection_lifetime_.end();
    reply_timer_.cancel();
    for (ev::Timer* timer :
         {&stage_timer_, &idle_timer_, &ping_timer_, &write_timer_, &early_close_timer_})
        release(*timer);
}

// Returns the end to report. Once all messages are answered, the peer may close early. Once our
// side is closed, a peer that does not close in time is `unclosed`, unless nobody waits for it.
// If the expected replies are known, it may also close without close_notify, but not without a
// WebSocket close frame.
End Session::final_end(End end) const {
    if (end.reason == Reason::clean) return end_ ? end_ : end;
    const End clean = end_ ? end_ : End{Reason::clean, By::us, "closed"};
    if (state_ != State::finishing || in_flight() > 0) return end;
    if (end.reason == Reason::closed_early) return clean;
    if (!stream_->output_closed()) return end;
    if (end.reason == Reason::timeout) {
        const bool awaited = options_->close_timeout > ev::Duration::zero();
        if (!awaited || lossy()) return clean;
        end.reason = Reason::unclosed;
        return end;
    }
    const bool known = options_->expect == Expect::echo || options_->expect == Expect::given;
    const bool whole = known && !partial_message_ && !options_->websocket;
    return end.reason == Reason::truncated && whole ? clean : end;
}

// Returns true for a failure that may be temporary. Returns false after the last retry, and
// while finishing with nothing left to send.
bool Session::worth_retrying(Reason reason) const {
    if (options_->listens()) return options_->retries == forever && state_ != State::finishing;
    if (options_->retries != forever && backoff_.count() >= options_->retries) return false;
    if (state_ == State::finishing && !ledger_.has_unwritten()) return false;
    if (reason == Reason::timeout)
        return state_ == State::dialing || state_ == State::handshaking;
    using enum Reason;
    constexpr Reason temporary[] = {lookup, refused, connect,   handshake_interrupted, send,
                                    reset,  receive, truncated, closed_early};
    return std::find(std::begin(temporary), std::end(temporary), reason) != std::end(temporary);
}

}  // namespace yodel
