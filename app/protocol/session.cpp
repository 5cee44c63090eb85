#include "app/protocol/session.hpp"

#include <algorithm>
#include <utility>

namespace yodel {

using bufio::By;
using bufio::End;
using bufio::Reason;

namespace {

// A TLS server answers a client without TLS with nothing but an alert.
bool is_tls_alert(std::string_view bytes) {
    return bytes.size() == 7 && bytes.starts_with("\x15\x03") && bytes[2] <= '\x04' &&
           bytes[3] == '\0' && bytes[4] == '\x02' && (bytes[5] == '\x01' || bytes[5] == '\x02');
}

}  // namespace

Session::Session(ev::Loop& loop, std::shared_ptr<const Options> options, Owner& owner)
    : loop_(loop),
      options_(std::move(options)),
      owner_(owner),
      ledger_(*options_),
      random_(options_->retry_seed ? *options_->retry_seed : std::random_device()()),
      timer_(loop, [this] { on_timer(); }) {}

// --- Calls of the owner.

void Session::connect() {
    retries_ = 0;
    refusal_ = {};
    if (options_->max_time && state() == State::idle)
        situation_.run = loop_.after(*options_->max_time - options_->time_spent);
    dial();
    wake_by(loop_.now());
}

// While waiting for the next attempt, keeps the failure of the last attempt as the end.
void Session::disconnect(End end) {
    if (state() == State::idle || state() == State::closed) return;
    end_with(end_ ? End(end_) : std::move(end), false);
    wake_by(loop_.now());
}

void Session::finish() {
    if (state() != State::open) return;
    flush();
    if (state() != State::open) return;
    set_state(State::finishing);
    situation_.max_pause = {};
    situation_.heard = loop_.now();
    situation_.peer_ended = {};
    if (may_close()) stream_->finish();
    wake_by(loop_.now());
}

QueuedIds Session::send(std::string_view payload, ev::Time planned,
                        std::optional<std::string_view> reply) {
    if (state() != State::open ||
        !is_sendable(*options_->framing, options_->max_frame, payload))
        return {};
    return ledger_.queue(payload, planned, reply);
}

QueuedIds Session::send_reserved(std::size_t size) {
    if (state() != State::open || size == 0 || size > options_->max_frame) return {};
    return ledger_.queue_reserved(size);
}

// Reads the clock before the system accepts the messages, because a reply may arrive before the
// call returns.
void Session::flush() {
    if (!connected() || ledger_.flushed()) return;
    const ev::Time now = loop_.read_clock();
    flushed_at_ = now;
    const bool greeting_overdue = now - state_since() > options_->greeting_time;
    if (state() == State::open && greeting_overdue && !ledger_.greeting_possible())
        ledger_.rule_out_greeting();
    if (pending() == 0) situation_.accepted = now;
    const bool accepted = stream_->write(ledger_.flush(now));
    if (!accepted && !stream_->end()) {  // an ended stream reports its end
        end_with({Reason::limit, By::peer, "has stopped reading, and the send buffer is full"});
        return wake_by(loop_.now());
    }
    ledger_.record_written(stream_->bytes_written(), now);
    observe_traffic(now);
    if (situation_.peer_ended != ev::Time{} && options_->listens())
        situation_.peer_ended = loop_.now();
    // The deadlines of these messages are not earlier. All other deadlines are now later.
    wake_by(now + options_->reply_timeout);
}

void Session::pause(bool paused) {
    if (paused == this->paused()) return;
    if (connected()) observe();
    if (paused) {
        situation_.paused_at = loop_.now();
    } else {
        situation_.resume(loop_.now());
        void_round_trips();
    }
    if (!connected()) return;
    stream_->pause_reading(paused);
    if (!paused) wake_by(loop_.now());
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
    facts_.tls.reset();
    facts_.websocket.reset();
    set_state(State::dialing);
    situation_.attempt =
        options_->listens() ? ev::Time::max() : loop_.after(options_->connect_timeout);
    dialer_ = std::make_unique<bufio::Dialer>(
        loop_, options_->endpoint,
        [this](bufio::DialResult result) { on_dialed(std::move(result)); });
}

void Session::on_dialed(bufio::DialResult result) {
    dialer_.reset();
    if (!result.socket) {
        end_with(std::move(result.end));
        return settle();
    }
    // Not earlier, because losses of the last connection may not have been reported before.
    ledger_.restart();
    set_state(State::handshaking);
    if (options_->listens()) situation_.attempt = loop_.after(options_->connect_timeout);
    situation_.connected = true;
    situation_.active = loop_.now();
    facts_ = {};
    facts_.address = result.address;
    facts_.phases = {result.lookup_time, result.connect_time, {}};
    if (options_->websocket) facts_.websocket = std::make_unique<websocket::Facts>();
    bufio::Stream::Limits limits;
    limits.output = options_->max_frame + std::max(options_->max_frame, limits.output);
    bufio::Stream::Owner& owner = *this;
    stream_ = std::make_unique<bufio::Stream>(
        loop_, make_transport(*options_, std::move(result.socket), facts_), owner, limits);
    stream_->pause_reading(paused());
    end_ = refusal_;
    advance();
}

// --- Receiving.

// Does everything that is possible now, and reports it.
void Session::advance() {
    read_at_ = loop_.read_clock();
    if (!connected() || advance_connection()) settle();
}

// Reports the results of earlier calls, closes our side once nothing more is awaited, and sets
// the timer for the earliest deadline.
void Session::settle() {
    if (!report_resolved()) return;
    if (state() == State::finishing && may_close()) stream_->finish();
    Deadlines due = observe();
    wake_by(due[due.first()]);
    owner_.session_changed();
}

// Reports the open connection before the first reply, and the replies before the end.
bool Session::advance_connection() {
    if (state() == State::handshaking && stream_->handshake_done() && !advance_handshake())
        return false;
    if (stream_->bytes_read() > 0 && stream_->is_open()) {
        retries_ = 0;
        if (end_) end_ = refusal_ = {};
    }
    ledger_.record_written(stream_->bytes_written(), read_at_);
    if (!match_input()) return false;
    if (ledger_.refusal()) {
        end_with(ledger_.refusal());
        return true;
    }
    if (paused()) return true;
    if (input_ended() && !on_input_ended()) return false;
    if (!connected()) return true;
    const End& end = stream_->end() ? stream_->end() : stream_->rejection();
    if (lossy() && (end.reason == Reason::refused || end.reason == Reason::connect))
        refusal_ = end;
    if (end) end_with(end);
    return true;
}

// Opens the session once the handshake is done and the greeting, if any, has arrived.
bool Session::advance_handshake() {
    if (options_->has_handshake() && !facts_.phases.handshake)
        facts_.phases.handshake = loop_.read_clock() - state_since();
    if (!ledger_.greeted(stream_->received())) return true;
    situation_.attempt = ev::Time::max();
    set_state(State::open);
    situation_.pinged = loop_.now();
    const bufio::Lifetime::Watch connection(lifetime_);
    flush();
    if (connected()) owner_.session_changed();
    return !connection.expired();
}

bool Session::match_input() {
    unprocessed_ = stream_->received();
    if (stream_->bytes_read() == unprocessed_->size())
        began_with_alert_ = is_tls_alert(*unprocessed_);
    while (!paused()) {
        const std::optional<Event> event = ledger_.next(*unprocessed_, read_at_);
        if (!event) break;
        if (!report(*event)) return false;
    }
    const std::size_t left = unprocessed_->size();
    unprocessed_.reset();
    stream_->consume(stream_->received().size() - left);
    // Raises the stream's water marks until the rest of an incomplete message has arrived.
    if (!paused()) stream_->set_min_readable(left + 1);
    return true;
}

std::string_view Session::partial_message() const {
    return stream_ ? unprocessed_.value_or(stream_->received()) : std::string_view();
}

bool Session::report(Event event) {
    situation_.heard = loop_.now();
    if (has_message(event.fate) && has_reply(event.fate)) situation_.replies += event.count;
    event.at = std::max(read_at_, loop_.now());
    std::string why;
    if (event.fate == Fate::lost) {
        const bool up = state() == State::open || state() == State::finishing;
        const bool part = event.message.id == ledger_.oldest_id();  // else of an older reply
        why = loss_text(event.message, part ? partial_message() : "", up,
                        situation_.replies == 0, *options_);
        event.reply.payload = why;
    }
    const bufio::Lifetime::Watch connection(lifetime_);
    owner_.session_event(event);
    return !connection.expired();
}

bool Session::report_resolved() {
    while (const std::optional<Event> event = ledger_.next_resolved())
        if (!report(*event)) return false;
    return true;
}

// Handles the end of the input after all its replies were matched. If no replies are expected,
// the owner may continue to send. While finishing, the end is a failure only if replies are
// missing. A peer has not closed too early if the owner's input ends in the same turn, so
// Deadline::early_close is due in the next one.
bool Session::on_input_ended() {
    const std::string rest(options_->framing->has_frames() ? partial_message() : "");
    if (rest.empty() && state() != State::finishing) {
        const bool ends = options_->ends_with_input() || options_->listens();
        if (ends && situation_.peer_ended == ev::Time{}) situation_.peer_ended = loop_.now();
        return true;
    }
    ledger_.resolve_held();
    if (!report_resolved()) return false;
    if (rest.empty() && in_flight() == 0) return true;
    End end = stream_->end() ? stream_->end() : End{Reason::closed_early};
    if (!rest.empty()) {
        end = partial_end(*options_, rest, situation_.replies == 0 && in_flight() > 0);
        if (!got_tls_alert() && !report(received_event(Fate::unsolicited, rest))) return false;
    }
    end_with(std::move(end));
    return true;
}

// --- Deadlines.

// Only received or sent bytes are activity; our own timeouts are not.
void Session::observe_traffic(ev::Time now) {
    if (std::exchange(situation_.traffic, stream_->traffic()) != stream_->traffic())
        situation_.active = now;
    if (std::exchange(situation_.written, stream_->bytes_written()) != stream_->bytes_written())
        situation_.accepted = now;
}

// Takes from the stream and the ledger what the deadlines depend on.
Deadlines Session::observe() {
    const ev::Time now = loop_.now();
    Situation& s = situation_;
    if (!connected()) return deadlines(s, *options_);
    observe_traffic(now);
    s.unsent = pending() > 0 && !lossy();
    s.in_flight = in_flight();
    s.oldest_id = ledger_.oldest_id();
    s.closing = stream_->finishing();
    s.output_closed = stream_->output_closed();
    s.input_ended = input_ended();
    // Messages that wait for the handshake of a new connection have no timeout yet.
    const ev::Time sent = s.in_flight > 0 ? ledger_.oldest_sent_at() : ev::Time{};
    if (std::exchange(s.oldest_sent, sent) != sent)
        s.awaited = sent == ev::Time{} ? sent : std::max(sent, s.resumed_at);
    if (!ledger_.greeting_possible())
        s.greeted = {};
    else if (s.greeted == ev::Time{})
        s.greeted = now;
    const bool awaited = s.pings > stream_->answered_ping();
    if (std::exchange(s.pong_awaited, awaited) != awaited) s.pinged = now;
    if (s.state == State::finishing && s.in_flight == 0 && s.all_answered == ev::Time{})
        s.all_answered = now;
    s.max_round_trip = ledger_.max_round_trip();
    return deadlines(s, *options_);
}

// Leaves a timer that is due earlier, because most deadlines move to later times before they
// are due. on_timer() then finds no deadline.
void Session::wake_by(ev::Time due) {
    if (due == ev::Time::max() || (timer_.pending() && timer_.deadline() <= due)) return;
    timer_.start_at(due);
}

// Reports what the owner's calls have changed, and serves the earliest deadline if it is due.
// Others that are due as well are served in the next turn.
void Session::on_timer() {
    read_at_ = loop_.read_clock();
    if (connected() && !advance_connection()) return;
    const ev::Time now = loop_.now();
    Deadlines due = observe();
    const Deadline first = due.first();
    if (due[first] > now) return settle();
    switch (first) {
    case Deadline::attempt:
        if (state() != State::waiting) break;
        dial();
        return settle();
    case Deadline::run:
        situation_.run = ev::Time::max();
        if (state() != State::closed) end_with(timeout_end(first, *options_), false);
        return settle();
    case Deadline::ping:
        if (situation_.pong_awaited) break;
        ++situation_.pings;
        stream_->ping();
        return settle();
    case Deadline::reply:
        ledger_.resolve_held();
        while (report_resolved()) {
            if (observe()[Deadline::reply] > now) return settle();
            if (!report(ledger_.expire_oldest())) return;
        }
        return;
    case Deadline::greeting: ledger_.rule_out_greeting(); return settle();
    case Deadline::quiet: stream_->finish(); return settle();
    // A client may close at any time, so this is no failure. Waits until the client has
    // accepted all output.
    case Deadline::early_close:
        if (!options_->listens())
            end_with({Reason::closed_early});
        else if (pending() == 0)
            end_with({Reason::clean});
        else
            situation_.peer_ended = now;
        return settle();
    default: break;
    }
    end_with(
        timeout_end(first, *options_, first == Deadline::attempt ? phase() : "", pending()));
    settle();
}

// --- The end of a connection.

void Session::set_state(State state) {
    situation_.state = state;
    situation_.entered = loop_.now();
}

// Ends the connection, or the attempt to make one. The caller reports it. `may_retry` is false
// if that was decided above the connection.
void Session::end_with(End end, bool may_retry) {
    if (connected()) observe();
    const std::string_view part = partial_message();
    if (may_retry && got_tls_alert())
        end = {Reason::tls, By::peer, "speaks TLS; use --tls"};
    else if (may_retry)
        end = explained_end(std::move(end), situation_, *options_, part, websocket());
    const bool retries = may_retry && worth_retrying(end.reason);
    const bool accepts_next = options_->listens() && state() != State::dialing;
    end_ = final_end(std::move(end), situation_, *options_, end_, !part.empty());
    if (stream_) {
        if (stream_->tls()) facts_.tls = std::make_unique<bufio::TlsFacts>(*stream_->tls());
        facts_.tcp = tcp();
        stream_->close();
        stream_.reset();
        unprocessed_.reset();
    }
    dialer_.reset();
    lifetime_.end();
    timer_.cancel();
    ledger_.lose(retries && options_->framing->has_frames() && !options_->listens());
    situation_ = {.state = retries ? State::waiting : State::closed,
                  .entered = loop_.now(),
                  .run = situation_.run,
                  .paused_at = situation_.paused_at,
                  .resumed_at = situation_.resumed_at};
    if (!retries) return;
    situation_.attempt = loop_.now();
    if (!accepts_next)
        situation_.attempt =
            loop_.after(retry_wait(options_->retry_delay, retries_++, random_));
}

// An alert proves nothing if the server merely echoed our own bytes.
bool Session::got_tls_alert() const {
    return began_with_alert_ && stream_ && stream_->bytes_read() == 7 && !options_->tls &&
           !ledger_.echoed();
}

// Returns true for a failure that may be temporary. Returns false after the last retry, and
// while finishing with nothing left to send.
bool Session::worth_retrying(Reason reason) const {
    if (connected() && ledger_.refusal()) return false;
    if (options_->listens()) return options_->retries == forever && state() != State::finishing;
    if (options_->retries != forever && retries_ >= options_->retries) return false;
    if (state() == State::finishing && !ledger_.has_unwritten()) return false;
    if (reason == Reason::timeout)
        return state() == State::dialing || state() == State::handshaking;
    using enum Reason;
    constexpr Reason temporary[] = {lookup, refused, connect,   handshake_interrupted, send,
                                    reset,  receive, truncated, closed_early};
    return std::find(std::begin(temporary), std::end(temporary), reason) != std::end(temporary);
}

}  // namespace yodel
