#include "app/protocol/session.hpp"

#include "app/text/units.hpp"
#include "bufio/packets.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace yodel {

using bufio::By;
using bufio::End;
using bufio::Reason;

namespace {

// While finishing, we close our side after this time without events or traffic. Some services
// answer only once our side is closed; others drop their remaining replies if we close too
// early.
constexpr ev::Duration quiet_time = std::chrono::milliseconds(500);

// A retry has succeeded once its session was open for this long, or a right reply has arrived.
// Received bytes prove less, because a server may greet each client and then close.
constexpr ev::Duration proven_time = std::chrono::seconds(30);

// Minimum timeout for a peer that accepts no output.
constexpr ev::Duration min_write_timeout = std::chrono::seconds(1);

// With datagrams, the session waits for late and duplicate replies after the last expected
// reply: for lingering_round_trips times the longest round trip, but at least min_linger, at
// most max_linger, and not longer than -q.
constexpr ev::Duration min_linger = std::chrono::milliseconds(100);
constexpr ev::Duration max_linger = std::chrono::seconds(1);
constexpr int lingering_round_trips = 4;

// A TLS server answers a client without TLS by an alert, and nothing else.
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
        run_ends_at_ = loop_.after(*options_->max_time - options_->time_spent);
    dial();
    wake_by(loop_.now());
}

void Session::disconnect(End end) {
    if (state() == State::idle || state() == State::closed) return;
    if (!end) end = end_ ? end_ : End{Reason::aborted, By::us, "disconnected"};
    end_with(std::move(end), false);
    wake_by(loop_.now());
}

void Session::finish() {
    if (state() != State::open) return;
    flush();
    if (state() != State::open) return;
    set_state(State::finishing);
    progress_.max_pause = {};
    progress_.event_at = loop_.now();
    progress_.early_close_wait_at = {};
    if (may_close()) stream_->finish();
    wake_by(loop_.now());
}

QueuedIds Session::send(std::string_view payload, ev::Time planned_at,
                        std::optional<std::string_view> reply) {
    if (state() != State::open ||
        !is_sendable(*options_->framing, options_->max_frame, payload))
        return {};
    return ledger_.queue(payload, planned_at, reply);
}

QueuedIds Session::send_reserved(std::size_t size) {
    if (state() != State::open || size == 0 || size > options_->max_frame) return {};
    return ledger_.queue_reserved(size);
}

// Reads the clock before the system accepts the messages, because a reply may arrive before the
// call returns.
void Session::flush() {
    if (!is_connected() || dialogue_ || ledger_.is_flushed()) return;
    const ev::Time now = loop_.read_clock();
    flushed_at_ = now;
    const bool is_overdue = now - state_began_at() > options_->greeting_time;
    if (state() == State::open && is_overdue && !ledger_.has_possible_greeting())
        ledger_.rule_out_greeting();
    if (pending() == 0) progress_.accepted_at = now;
    const bool is_accepted = stream_->write(ledger_.flush(now));
    if (!is_accepted && !stream_->end()) {  // an ended stream reports its end
        end_with({Reason::limit, By::peer, "has stopped reading, and the send buffer is full"});
        return wake_by(loop_.now());
    }
    ledger_.record_written(stream_->bytes_written() - progress_.opening_bytes, now);
    observe_traffic(now);
    if (progress_.early_close_wait_at != ev::Time{} && options_->listens())
        progress_.early_close_wait_at = loop_.now();
    // These messages have no earlier deadline, and all other deadlines are later than before.
    wake_by(now + options_->reply_timeout);
}

void Session::pause(bool pauses) {
    if (pauses == is_paused()) return;
    if (is_connected()) observe();
    const ev::Time now = loop_.now();
    if (pauses) {
        paused_at_ = now;
    } else {  // waits continue with their remaining time
        const ev::Time began_at = *std::exchange(paused_at_, std::nullopt);
        resumed_at_ = now;
        Progress& p = progress_;
        p.max_pause = std::max(p.max_pause, now - std::max(entered_at_, began_at));
        for (ev::Time* const start : {&p.active_at, &p.pinged_at, &p.accepted_at, &p.awaited_at,
                                      &p.greeted_at, &p.event_at, &p.early_close_wait_at})
            if (*start != ev::Time{}) *start += now - std::max(*start, began_at);
        void_round_trips();
    }
    if (!is_connected()) return;
    stream_->pause_reading(pauses && !dialogue_);
    if (!pauses) wake_by(loop_.now());
}

std::string Session::phase() const {
    if (dialer_) return dialer_->phase();
    if (!stream_) return "waiting to retry";
    std::string text = "waiting for the greeting from ";
    if (dialogue_ || !stream_->handshake_done())
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
    attempt_at_ =
        options_->listens() ? ev::Time::max() : loop_.after(options_->connect_timeout);
    dialer_ = std::make_unique<bufio::Dialer>(
        loop_, options_->endpoint,
        [this](bufio::DialResult result) { on_dialed(std::move(result)); });
}

void Session::on_dialed(bufio::DialResult result) {
    dialer_.reset();
    if (!result.socket) {
        end_with(std::move(result.end));
        return report_changes();
    }
    // The ledger restarts only now, because the messages lost with the last connection had to
    // be reported first.
    ledger_.restart();
    set_state(State::handshaking);
    if (options_->listens()) attempt_at_ = loop_.after(options_->connect_timeout);
    progress_ = {.active_at = loop_.now()};
    facts_ = {};
    facts_.address = result.address;
    facts_.phases = {result.lookup_time, result.connect_time, {}};
    if (options_->websocket) facts_.websocket = std::make_unique<websocket::Facts>();
    open_stream(std::move(result.socket), options_->starttls != nullptr);
    end_ = refusal_;
    advance();
}

// With `is_plaintext`, the service has not yet agreed to TLS.
void Session::open_stream(bufio::Fd socket, bool is_plaintext) {
    const Options& o = *options_;
    const bool listens = o.listens();
    auto transport =
        is_udp() ? bufio::make_packet_transport(std::move(socket), facts_.address, !listens)
        : is_plaintext || !o.tls ? bufio::make_plain_transport(std::move(socket))
        : listens                ? o.tls->accept(std::move(socket))
                                 : o.tls->connect(std::move(socket), o.endpoint.host);
    if (o.websocket && !is_plaintext)
        transport = listens ? websocket::accept(std::move(transport), o.max_frame)
                            : websocket::connect(std::move(transport), *o.websocket,
                                                 o.max_frame, *facts_.websocket);
    bufio::Stream::Limits limits;
    limits.output = o.max_frame + std::max(o.max_frame, limits.output);
    bufio::Stream::Owner& owner = *this;
    stream_ = std::make_unique<bufio::Stream>(loop_, std::move(transport), owner, limits);
    dialogue_.reset();
    if (is_plaintext)
        dialogue_ = std::make_unique<Dialogue>(*o.starttls, facts_.opening_notes);
    else if (!o.on_connect.empty() && !is_udp())
        dialogue_ = std::make_unique<Dialogue>(*o.framing, o.starttls != nullptr, o.on_connect,
                                               facts_.opening_notes);
    stream_->pause_reading(is_paused() && !dialogue_);
}

// Returns true once the opening lines are sent and answered. Returns false if more bytes are
// needed, if a TLS handshake follows, or if the connection has ended.
bool Session::advance_dialogue() {
    std::string_view received = stream_->received();
    stream_->write(dialogue_->advance(received));
    stream_->consume(stream_->received().size() - received.size());
    End end = dialogue_->failure() ? dialogue_->failure() : stream_->end();
    if (!end) end = stream_->rejection();
    const bool is_done = !end && dialogue_->is_done() && pending() == 0;
    if (is_done && (!options_->starttls || stream_->tls())) {
        dialogue_.reset();
        progress_.opening_bytes = stream_->bytes_written();
        stream_->pause_reading(is_paused());
        return true;
    }
    if (is_done) {
        bufio::Fd copy(::fcntl(stream_->descriptor(), F_DUPFD_CLOEXEC, 0));
        if (!copy) end = bufio::system_end(Reason::tls, "copying the socket:", errno);
        if (copy) open_stream(std::move(copy), false);
    } else if (!end && stream_->input_ended()) {
        end = dialogue_->early_end();
    }
    if (end) end_with(std::move(end));
    return false;
}

// --- Receiving.

// Advances the connection as far as possible now, and reports the results.
void Session::advance() {
    read_at_ = loop_.read_clock();
    if (!is_connected() || advance_connection()) report_changes();
}

// Reports the results of earlier calls, closes our side once nothing more is awaited, sets the
// timer for the earliest deadline, and calls session_changed().
void Session::report_changes() {
    if (!report_resolved()) return;
    if (state() == State::finishing && may_close()) stream_->finish();
    observe();
    wake_by(first_due().at);
    owner_.session_changed();
}

// Reports the open connection before the first reply, and the replies before the end.
bool Session::advance_connection() {
    if (state() == State::handshaking && stream_->handshake_done()) {
        if (dialogue_ && !advance_dialogue()) return true;
        if (!advance_handshake()) return false;
    }
    if (end_ && !stream_->received().empty() && stream_->is_open()) end_ = refusal_ = {};
    ledger_.record_written(stream_->bytes_written() - progress_.opening_bytes, read_at_);
    if (!match_input()) return false;
    if (ledger_.refusal()) {
        end_with(ledger_.refusal());
        return true;
    }
    if (is_paused()) return true;
    if (input_ended() && !on_input_ended()) return false;
    if (!is_connected()) return true;
    const End& end = stream_->end() ? stream_->end() : stream_->rejection();
    if (end && is_udp()) refusal_ = end;
    if (end) end_with(end);
    return true;
}

// Opens the session once the handshake is done and the greeting, if any, has arrived.
bool Session::advance_handshake() {
    if (options_->has_handshake() && !facts_.phases.handshake)
        facts_.phases.handshake = loop_.read_clock() - state_began_at();
    if (!ledger_.may_send(stream_->received())) return true;
    attempt_at_ = ev::Time::max();
    set_state(State::open);
    progress_.pinged_at = loop_.now();
    const bufio::Lifetime::Watch connection(lifetime_);
    flush();
    if (is_connected()) owner_.session_changed();
    return !connection.expired();
}

bool Session::match_input() {
    unprocessed_ = stream_->received();
    if (stream_->bytes_read() == unprocessed_->size())
        began_with_alert_ = is_tls_alert(*unprocessed_);
    while (!is_paused()) {
        const std::optional<Event> event = ledger_.next(*unprocessed_, read_at_);
        if (!event) break;
        if (!report(*event)) return false;
    }
    const std::size_t left = unprocessed_->size();
    unprocessed_.reset();
    stream_->consume(stream_->received().size() - left);
    // Raises the stream's water marks until the rest of an incomplete message has arrived.
    if (!is_paused()) stream_->set_min_readable(left + 1);
    return true;
}

std::string_view Session::partial_message() const {
    return stream_ && !dialogue_ ? unprocessed_.value_or(stream_->received())
                                 : std::string_view();
}

bool Session::report(Event event) {
    progress_.event_at = loop_.now();
    if (has_message(event.fate) && has_reply(event.fate)) progress_.replies += event.count;
    if (event.reply.is_right) retries_ = 0;
    event.at = std::max(read_at_, loop_.now());
    std::string why;
    if (event.fate == Fate::lost) {
        const bool was_open = state() == State::open || state() == State::finishing;
        // If false, the incomplete reply belongs to an older message.
        const bool has_part = event.message.id == ledger_.oldest_id();
        why = loss_text(event.message, has_part ? partial_message() : "", was_open,
                        progress_.replies == 0, *options_);
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

// Handles the peer's EOF after all received replies were matched. An incomplete reply is a
// failure. While finishing, a missing reply is also a failure. Otherwise, if EOF ends the
// connection, starts only the wait for Deadline::early_close. It lasts at least until the next
// turn, so that the owner may still call finish() in this one.
bool Session::on_input_ended() {
    const std::string rest(options_->framing->has_frames() ? partial_message() : "");
    if (rest.empty() && state() != State::finishing) {
        const bool ends_connection = options_->ends_with_input() || options_->listens();
        if (ends_connection && progress_.early_close_wait_at == ev::Time{})
            progress_.early_close_wait_at = loop_.now();
        return true;
    }
    ledger_.resolve_held();
    if (!report_resolved()) return false;
    if (rest.empty() && in_flight() == 0) return true;
    End end = stream_->end() ? stream_->end() : End{Reason::closed_early};
    if (!rest.empty()) {
        end = end_inside_message(*options_->framing, rest);
        if (progress_.replies == 0 && in_flight() > 0) {
            const std::string hint = length_hint(*options_->framing, rest, options_->max_frame);
            if (!hint.empty()) end.detail += "; " + hint;
        }
        if (!got_tls_alert() && !report(received_event(Fate::unsolicited, rest))) return false;
    }
    end_with(std::move(end));
    return true;
}

// --- Deadlines.

// Only received or sent bytes are activity; our own timeouts are not.
void Session::observe_traffic(ev::Time now) {
    if (std::exchange(progress_.traffic, stream_->traffic()) != stream_->traffic())
        progress_.active_at = now;
    if (std::exchange(progress_.written, stream_->bytes_written()) != stream_->bytes_written())
        progress_.accepted_at = now;
}

// Notes when waits of this connection begin.
void Session::observe() {
    if (!is_connected()) return;
    const ev::Time now = loop_.now();
    Progress& p = progress_;
    observe_traffic(now);
    // Messages that wait for the handshake of a new connection have no timeout yet.
    const ev::Time sent_at = in_flight() > 0 ? ledger_.oldest_sent_at() : ev::Time{};
    if (std::exchange(p.oldest_sent_at, sent_at) != sent_at)
        p.awaited_at = sent_at == ev::Time{} ? sent_at : std::max(sent_at, resumed_at_);
    if (!ledger_.has_possible_greeting())
        p.greeted_at = {};
    else if (p.greeted_at == ev::Time{})
        p.greeted_at = now;
    const bool awaits_pong = p.pings > stream_->answered_ping();
    if (std::exchange(p.awaits_pong, awaits_pong) != awaits_pong) p.pinged_at = now;
    if (state() == State::finishing && in_flight() == 0 && p.all_resolved_at == ev::Time{})
        p.all_resolved_at = now;
}

// Returns the earliest deadline. While paused, deadlines after the beginning of the pause do
// not count, except Deadline::attempt and Deadline::run.
Session::Due Session::first_due() const {
    Due first{Deadline::attempt, attempt_at_};
    if (run_ends_at_ < first.at) first = {Deadline::run, run_ends_at_};
    if (!is_connected()) return first;
    const auto add = [&](Deadline which, ev::Time start_at, ev::Duration limit) {
        if (start_at == ev::Time{}) return;
        const ev::Time at = start_at + std::min(limit, ev::Time::max() - start_at);
        if (at < first.at && (!is_paused() || at <= *paused_at_)) first = {which, at};
    };
    const Options& options = *options_;
    const Progress& p = progress_;
    const bool is_open = state() == State::open;
    const bool is_finishing = state() == State::finishing;
    if (options.idle_timeout) add(Deadline::idle, p.active_at, *options.idle_timeout);
    if (is_open && p.awaits_pong)
        add(Deadline::ping, p.pinged_at, options.reply_timeout);
    else if (is_open && options.ping)
        add(Deadline::ping, std::max(p.pinged_at, p.active_at), *options.ping);
    if (has_unsent())
        add(Deadline::output, p.accepted_at,
            std::max(options.reply_timeout, min_write_timeout));
    add(Deadline::reply, p.awaited_at, options.reply_timeout);
    if (is_open) add(Deadline::greeting, p.greeted_at, options.greeting_time);
    if (is_finishing && in_flight() > 0 && !stream_->is_finishing() && !options.stays_open)
        add(Deadline::quiet, std::max(p.event_at, p.active_at), quiet_time);
    if (is_finishing && in_flight() == 0) add(Deadline::end, end_deadline(), {});
    const bool may_answer = options.listens() && (!options.websocket || has_unsent());
    add(Deadline::early_close, p.early_close_wait_at,
        may_answer ? options.answer_time : ev::Duration());
    return first;
}

// Returns when the session stops waiting for the peer to close: after -q, or with datagrams at
// the end of the linger time. Each received datagram restarts the linger time, but does not
// extend it beyond -q. Only the longest pause extends -q, so that an owner that pauses again
// and again cannot keep us from ending. When listening with datagrams, only answer_time counts.
ev::Time Session::end_deadline() const {
    const ev::Duration wait = options_->close_timeout + progress_.max_pause;
    const ev::Time limit_at = entered_at_ + std::min(wait, ev::Time::max() - entered_at_);
    if (!is_udp()) return limit_at;
    const ev::Time resolved_at = progress_.all_resolved_at;
    const ev::Time idle_at = std::max({resolved_at, progress_.active_at, resumed_at_});
    if (options_->listens()) return idle_at + options_->answer_time;
    const ev::Duration wanted = lingering_round_trips * ledger_.max_round_trip();
    const ev::Duration linger =
        std::min(std::clamp(wanted, min_linger, max_linger), options_->close_timeout);
    return std::min(idle_at + linger, std::max(resolved_at + linger, limit_at));
}

// Keeps a timer that is due earlier, because most deadlines move to later times before they
// are due. on_timer() then finds no deadline.
void Session::wake_by(ev::Time due_at) {
    if (due_at == ev::Time::max() || (timer_.pending() && timer_.deadline() <= due_at)) return;
    timer_.start_at(due_at);
}

// Reports what the owner's calls have changed, and serves the earliest deadline if it is due.
// Others that are due as well are served in the next turn.
void Session::on_timer() {
    read_at_ = loop_.read_clock();
    if (is_connected() && !advance_connection()) return;
    const ev::Time now = loop_.now();
    observe();
    const Due due = first_due();
    if (due.at > now) return report_changes();
    const Options& o = *options_;
    const auto time_out = [this](By by, const char* what, ev::Duration limit,
                                 const char* option, bool may_retry = true) {
        end_with({Reason::timeout, by, what, duration_text(limit) + " (" + option + ")"},
                 may_retry);
    };
    switch (due.which) {
    case Deadline::attempt:
        if (state() == State::waiting)
            dial();
        else
            end_with({Reason::timeout, By::us, "no connection to",
                      o.endpoint.text() + " within " + duration_text(o.connect_timeout) +
                          " (-w): still " + phase()});
        break;
    case Deadline::run:
        run_ends_at_ = ev::Time::max();
        if (state() != State::closed)
            time_out(By::us, "the run did not finish within", *o.max_time, "--max-time", false);
        break;
    case Deadline::idle:
        time_out(By::us, "nothing was sent or received for", *o.idle_timeout, "--idle-timeout");
        break;
    case Deadline::ping:
        if (progress_.awaits_pong) {
            time_out(By::peer, "did not answer a ping within", o.reply_timeout, "-W");
        } else {
            ++progress_.pings;
            stream_->ping();
        }
        break;
    case Deadline::output:
        end_with({Reason::timeout, By::peer,
                  "has stopped reading; unsent:", bytes_text(pending()) + " (-W)"});
        break;
    case Deadline::reply:
        ledger_.resolve_held();
        while (report_resolved()) {
            observe();
            const Due next = first_due();
            if (next.which != Deadline::reply || next.at > now) return report_changes();
            if (!report(ledger_.expire_oldest())) return;
        }
        return;
    case Deadline::greeting: ledger_.rule_out_greeting(); break;
    case Deadline::quiet: stream_->finish(); break;
    case Deadline::end:
        time_out(By::peer, "did not close within", o.close_timeout, "-q");
        break;
    // When listening, this is no failure, because a client may close at any time. Waits until
    // the client has accepted all output.
    case Deadline::early_close:
        if (!o.listens())
            end_with({Reason::closed_early});
        else if (pending() == 0)
            end_with({Reason::clean});
        else
            progress_.early_close_wait_at = now;
        break;
    }
    report_changes();
}

// --- The end of a connection.

void Session::set_state(State state) {
    state_ = state;
    entered_at_ = loop_.now();
}

// Ends the connection, or the attempt to make one. The caller reports the end. `may_retry` is
// false if the owner or --max-time is the cause.
void Session::end_with(End end, bool may_retry) {
    const bool is_proven =
        state() == State::open && is_peer_known() && loop_.now() - entered_at_ >= proven_time;
    if (is_proven) retries_ = 0;
    if (may_retry && got_tls_alert()) end = {Reason::tls, By::peer, "speaks TLS; use --tls"};
    if (may_retry) end = explained_end(std::move(end));
    const bool will_retry = may_retry && is_worth_retrying(end.reason);
    const bool accepts_next = options_->listens() && state() != State::dialing;
    if (state() == State::finishing && in_flight() == 0) end = finished_end(std::move(end));
    if (end.reason != Reason::clean || !end_) end_ = std::move(end);
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
    ledger_.lose(will_retry && options_->framing->has_frames() && !options_->listens());
    set_state(will_retry ? State::waiting : State::closed);
    attempt_at_ = ev::Time::max();
    if (!will_retry) return;
    attempt_at_ = loop_.now();
    if (!accepts_next)
        attempt_at_ = loop_.after(retry_wait(options_->retry_delay, retries_++, random_));
}

// Adds what the stream does not know: the messages in flight, and whether the peer may close.
// An early end with a detail is already explained. If a server closes its side and sending
// fails later, the server has ended the connection.
End Session::explained_end(End end) const {
    const std::uint64_t oldest = ledger_.oldest_id();
    const std::string_view part = partial_message();
    if (end.reason == Reason::reset && oldest > 0 && !part.empty())
        return {Reason::reset, By::peer,
                "reset the connection in the middle of the reply to message",
                std::to_string(oldest) + ", " + options_->framing->fragment_text(part)};
    const bool listens = options_->listens();
    const bool is_open = state() == State::open;
    const bool has_closed_first = is_open && end.reason == Reason::send && input_ended();
    const bool is_early = end.reason == Reason::closed_early && end.detail.empty();
    const bool has_client_left = listens && is_open && end.reason == Reason::clean;
    const bool ends_connection = listens || options_->ends_with_input();
    if (!has_client_left && !(ends_connection && (is_early || has_closed_first))) return end;
    const std::size_t replies = progress_.replies;
    const bool has_answered_all = is_open && replies > 0 && oldest == 0;
    const bool is_clean =
        has_client_left || (has_answered_all && !options_->may_retry_after_answers);
    end = {is_clean ? Reason::clean : Reason::closed_early, By::peer, "closed the connection"};
    if (listens) return end;
    if (in_flight() == 0)
        end.what = options_->early_close;
    else
        end.detail = "after " + std::to_string(replies) + " of " +
                     std::to_string(replies + in_flight()) + " replies";
    if (websocket() && websocket()->closure)
        end.detail += (end.detail.empty() ? "(" : " (") + websocket()->closure->text() + ")";
    return end;
}

// Returns the end to report if no message is in flight. The peer may then close early. Once
// our side is closed, a peer that does not close in time is `unclosed`, except with UDP or if
// close_timeout is 0. If the right replies are known, a missing close_notify is no failure
// after a whole message, but a missing WebSocket close frame is a failure.
End Session::finished_end(End end) const {
    const End clean{Reason::clean, By::us, "closed"};
    if (end.reason == Reason::closed_early) return clean;
    if (!stream_->output_closed()) return end;
    if (end.reason == Reason::timeout) {
        if (options_->close_timeout == ev::Duration::zero() || is_udp()) return clean;
        end.reason = Reason::unclosed;
    }
    const bool is_known = options_->expect == Expect::echo || options_->expect == Expect::given;
    const bool is_whole = is_known && partial_message().empty() && !options_->websocket;
    return end.reason == Reason::truncated && is_whole ? clean : end;
}

// An alert proves nothing if the server merely echoed our own bytes.
bool Session::got_tls_alert() const {
    return began_with_alert_ && stream_ && stream_->bytes_read() == 7 && !options_->tls &&
           !ledger_.has_echoed();
}

// Returns true for a failure that may be temporary. Returns false after the last retry, and
// while finishing with nothing left to send, unless we stay open to receive. When listening,
// the reason does not matter.
bool Session::is_worth_retrying(Reason reason) const {
    if (is_connected() && ledger_.refusal()) return false;
    if (options_->listens()) return options_->retries == forever && state() != State::finishing;
    if (options_->retries != forever && retries_ >= options_->retries) return false;
    const bool is_done = state() == State::finishing && !options_->stays_open;
    if (is_done && !ledger_.has_unwritten()) return false;
    if (reason == Reason::timeout)
        return state() == State::dialing || state() == State::handshaking;
    using enum Reason;
    constexpr Reason temporary[] = {lookup, refused, connect,   handshake_interrupted, send,
                                    reset,  receive, truncated, closed_early};
    return std::find(std::begin(temporary), std::end(temporary), reason) != std::end(temporary);
}

}  // namespace yodel
