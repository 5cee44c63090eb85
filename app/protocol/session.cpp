#include "app/protocol/session.hpp"

#include "app/text/units.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace yodel {

using bufio::End;
using bufio::Reason;

namespace {

// How long replies may pause, once all is sent, before our end is announced. Some services
// answer only then; others drop what they still had to send.
constexpr ev::Duration quiet_time = std::chrono::milliseconds(500);

// The least time in which a peer must take some of what is written.
constexpr ev::Duration least_write_timeout = std::chrono::seconds(1);

constexpr std::size_t alert_size = 7;  // bytes of an alert of TLS, its record included

// A server that speaks TLS sends an alert, and nothing else, to a client that does not.
bool is_tls_alert(std::string_view bytes) {
    return bytes.size() == alert_size && bytes.starts_with("\x15\x03") && bytes[2] <= '\x04' &&
           bytes[3] == '\0' && bytes[4] == '\x02' && (bytes[5] == '\x01' || bytes[5] == '\x02');
}

ReplyMatcher::Options reply_matching(const Session::Options& options) {
    ReplyMatcher::Options to;
    to.framing = options.framing;
    to.max_frame = options.max_frame;
    to.expect = options.expect;
    to.coalesce = options.coalesce;
    to.foreseen = options.foreseen;
    return to;
}

}  // namespace

Session::Session(ev::Loop& loop, Options options, User& user)
    : Session(loop, std::make_shared<const Options>(std::move(options)), user) {}

Session::Session(ev::Loop& loop, std::shared_ptr<const Options> options, User& user)
    : loop_(loop),
      options_(std::move(options)),
      user_(user),
      matcher_(reply_matching(this->options())),
      backoff_(this->options().retry_delay, this->options().retry_seed),
      changed_(loop, [this] { advance(); }),
      reply_(loop, [this] { replies_late(); }) {}

template <auto due>
void Session::start(ev::Timer& timer, ev::Time at) {
    if (!timer) timer = ev::Timer(loop_, [this] { (this->*due)(); });
    timer.start_at(at);
}

// --- Calls of the user.

void Session::connect() {
    backoff_.reset();
    if (options().max_time && !runs(max_time_))
        start<&Session::time_up>(max_time_, loop_.after(*options().max_time - options().spent));
    dial();
    changed_.start(ev::Duration::zero());
}

void Session::disconnect() {
    if (state_ == State::idle || state_ == State::closed) return;
    // Giving up the wait for another try leaves the failure of the last one as the end.
    close(state_ == State::waiting ? std::move(end_) : End{Reason::aborted, "disconnected"});
    changed_.start(ev::Duration::zero());
}

void Session::finish() {
    if (state_ != State::open) return;
    flush();
    if (state_ != State::open) return;
    finished_at_ = loop_.now();
    longest_stop_ = {};
    set_state(State::finishing);
    release(closed_early_);
    changed_.start(ev::Duration::zero());
}

Queued Session::send(std::string_view payload, ev::Time planned,
                     std::optional<std::string_view> reply) {
    if (state_ != State::open) return {};
    if (!sendable(*options().framing, options().max_frame, payload)) return {};
    return matcher_.messages().queue(payload, planned, reply);
}

Queued Session::send_reserved(std::size_t size) {
    if (state_ != State::open || size == 0 || size > options().max_frame) return {};
    return matcher_.messages().queue_reserved(size);
}

void Session::flush() {
    if (!stream_ || messages().flushed()) return;
    const ev::Time now = loop_.read_clock();
    flushed_at_ = now;
    // A server that has not greeted by now does not begin with the next message.
    const bool greeting_due = now - since_ <= options().greeting_time;
    if (state_ == State::open && !greeting_due && !matcher_.greeting_possible())
        matcher_.rule_out_greeting();
    const bool taken = stream_->write(matcher_.messages().flush(now));
    if (!taken && !stream_->end()) {  // else the stream is about to report its end
        ended({Reason::limit, "the peer takes nothing, and too much is waiting for it"});
        return changed_.start(ev::Duration::zero());
    }
    if (messages().count() == 0) matcher_.messages().release_removed();
    matcher_.messages().record_written(stream_->bytes_written(), now);
    watch_idleness();
    watch_writing();
    watch_replies();
}

void Session::pause(bool paused) {
    if (paused == paused_) return;
    paused_ = paused;
    if (paused) paused_at_ = loop_.now();
    if (!paused) resume_limits();
    if (!stream_) return;
    stream_->pause_reading(paused);
    watch_all();
    if (!paused) changed_.start(ev::Duration::zero());
}

// Limits go on with what they had left. A reader of ours who always stops must not keep us from
// ending: -q grows by the longest stop alone.
void Session::resume_limits() {
    resumed_at_ = loop_.now();
    awaited_since_ += resumed_at_ - std::max(awaited_since_, paused_at_);
    taken_at_ += resumed_at_ - std::max(taken_at_, paused_at_);
    longest_stop_ = std::max(longest_stop_, resumed_at_ - std::max(finished_at_, paused_at_));
    void_round_trips();
}

std::string Session::phase() const {
    if (dialer_) return dialer_->phase();
    return "in the TLS handshake with " + address_.text();
}

// --- The way to an open connection.

void Session::dial() {
    release(retry_);  // connect() has cut the wait short
    end_ = {};
    facts_.reset();
    first_bytes_.clear();
    moved_bytes_ = written_bytes_ = 0;
    partial_message_ = false;
    start<&Session::not_connected>(connecting_, loop_.after(options().connect_timeout));
    dialer_ = std::make_unique<bufio::Dialer>(
        loop_, options().endpoint,
        [this](bufio::DialResult result) { on_dialed(std::move(result)); });
    set_state(State::dialing);
}

void Session::on_dialed(bufio::DialResult result) {
    dialer_.reset();
    address_ = result.address;
    phases_ = {result.lookup_time, result.connect_time, {}};
    if (!result.socket) return fail(result.end.reason, std::move(result.end.text));
    // Not before: messages of the last connection may have been waiting for their report.
    matcher_.restart();
    set_state(State::handshaking);
    auto transport = options().tls ? options().tls->connect(std::move(result.socket),
                                                            options().endpoint.host)
                                   : bufio::make_plain_transport(std::move(result.socket));
    bufio::Stream::Limits limits;
    limits.output = options().max_frame + std::max(options().max_frame, limits.output);
    limits.min_readable = options().max_frame + max_frame_overhead;
    bufio::Stream::User& user = *this;
    stream_ = std::make_unique<bufio::Stream>(loop_, std::move(transport), user, limits);
    stream_->pause_reading(paused_);
    connection_ = std::make_shared<char>();
    advance();
}

void Session::opened() {
    record_facts();
    if (options().tls) phases_.tls = loop_.read_clock() - since_;
    if (options().mark_resent) retransmits_.restart(tcp());
    release(connecting_);
    set_state(State::open);
    flush();
}

void Session::record_facts() {
    if (stream_->tls()) facts_ = std::make_unique<bufio::TlsFacts>(*stream_->tls());
}

std::optional<bufio::TcpFacts> Session::tcp() const {
    return stream_ ? options().tcp_facts(stream_->descriptor()) : tcp_;
}

// A message that got no reply in time is always worth a question.
Message Session::marked(Message message, std::optional<ev::Duration> round_trip, ev::Time now) {
    if (!options().mark_resent) return message;
    const ev::Duration taken = round_trip.value_or(options().reply_timeout);
    if (stream_ && retransmits_.worth_asking(taken, now))
        if (const auto facts = tcp()) retransmits_.update(*facts, now);
    message.resent = retransmits_.hit(message.sent);
    return message;
}

// --- What the connection brings.

void Session::stream_changed(bufio::Stream&) { advance(); }

// Does all that has become possible, and then reports what has changed.
void Session::advance() {
    changed_.cancel();
    read_at_ = loop_.read_clock();
    const std::weak_ptr<void> session = lifetime_;
    if (stream_) advance_stream();
    if (!session.expired()) report_changes();
}

void Session::report_resolved() {
    const std::weak_ptr<void> session = lifetime_;
    while (!session.expired()) {
        const auto event = matcher_.next_resolved();
        if (!event) break;
        report(*event);
    }
}

void Session::report_changes() {
    const std::weak_ptr<void> session = lifetime_;
    report_resolved();
    if (!session.expired()) user_.session_changed();
}

// The user learns that the connection is open before it sees the first reply; replies are read
// before the end, because they have come before it.
void Session::advance_stream() {
    const std::weak_ptr<void> connection = connection_;
    if (state_ == State::handshaking && stream_->open()) {
        opened();
        user_.session_changed();
        if (connection.expired()) return;
    }
    record_progress();
    receive();
    if (connection.expired() || paused_) return;
    if (stream_->input_ended()) input_over();
    if (connection.expired()) return;
    if (stream_->end()) return ended(stream_->end());
    report_resolved();
    if (!connection.expired()) watch_all();
}

void Session::record_progress() {
    if (stream_->bytes_read() > 0 && stream_->open()) backoff_.reset();
    matcher_.messages().record_written(stream_->bytes_written(), read_at_);
}

void Session::receive() {
    std::string_view received = stream_->received();
    if (stream_->bytes_read() == received.size()) first_bytes_ = received.substr(0, alert_size);
    const std::size_t before = received.size();
    const std::weak_ptr<void> connection = connection_;
    while (!paused_) {
        const auto event = matcher_.next(received, read_at_);
        if (!event) break;
        report(*event);
        if (connection.expired()) return;  // by the event, or by the user
    }
    stream_->consume(before - received.size());
    // A message that is longer than the water marks needs them raised, but only while it comes.
    if (!paused_) stream_->set_min_readable(received.size() + 1);
}

void Session::report(const ReplyMatcher::Event& event) {
    if (state_ == State::finishing) release(quiet_);
    std::visit([this](const auto& kind) { report(kind); }, event);
}

void Session::report(const ReplyMatcher::Answered& event) {
    user_.session_answered(marked(event.message, event.reply.round_trip, read_at_),
                           event.reply);
}

void Session::report(const ReplyMatcher::Echoed& event) {
    user_.session_echoed(event.batch, event.round_trip);
}

void Session::report(const ReplyMatcher::Lost& event) {
    user_.session_lost(marked(event.message, {}, read_at_));
}

void Session::report(const ReplyMatcher::Unsolicited& event) {
    user_.session_unsolicited(event.payload);
}

void Session::report(const ReplyMatcher::Arrived& event) {
    user_.session_received(event.bytes);
}

void Session::report(const ReplyMatcher::Refused& event) { close(explained(event.end)); }

// The peer has closed its side, and all of its messages have been matched. Where nothing is
// awaited the user may go on to send; where it has announced its own end, only replies are
// lost.
void Session::input_over() {
    if (const std::string rest(stream_->received()); !rest.empty()) {
        const std::weak_ptr<void> connection = connection_;
        stream_->consume(rest.size());
        partial_message_ = true;
        matcher_.resolve_unmatched();
        report_resolved();
        if (connection.expired()) return;
        user_.session_unsolicited(rest);
        if (connection.expired()) return;
        return ended({Reason::truncated, "the peer closed inside a message, after " +
                                             bytes_text(rest.size()) + " of it"});
    }
    if (state_ == State::finishing) return matcher_.lose(false);
    // The end of our own input may be seen in the same turn, and then is in time.
    if (options().expect != Expect::none && !runs(closed_early_))
        start<&Session::closed_too_early>(closed_early_, loop_.after(ev::Duration::zero()));
}

// --- Time-outs. Each of these functions decides whether its timer runs, and until when.

void Session::watch_all() {
    watch_idleness();
    watch_writing();
    watch_replies();
    watch_greeting();
    watch_end();
}

// Only bytes that came or went renew it: our own time-outs are no activity.
void Session::watch_idleness() {
    if (!options().idle_timeout || !stream_->open() || paused_) return release(idle_);
    const std::uint64_t moved = stream_->bytes_read() + stream_->bytes_written();
    if (runs(idle_) && moved == moved_bytes_) return;
    moved_bytes_ = moved;
    start<&Session::idle_too_long>(idle_, loop_.after(*options().idle_timeout));
}

// A peer that takes nothing, while we would take what it sends.
void Session::watch_writing() {
    if (pending() == 0) return release(stalled_);
    const std::uint64_t written = stream_->bytes_written();
    if (!stalled_ || written != written_bytes_) taken_at_ = loop_.now();
    written_bytes_ = written;
    const ev::Time due = taken_at_ + std::max(options().reply_timeout, least_write_timeout);
    watch_while_reading<&Session::nothing_taken>(stalled_, due);
}

void Session::watch_replies() {
    if (in_flight() == 0) return reply_.cancel();
    watch_while_reading<&Session::replies_late>(reply_, reply_due());
}

// A message that becomes the oldest has waited for our reading since the last stop at most.
ev::Time Session::reply_due() {
    const ev::Time sent = messages().oldest_sent();
    if (sent != awaited_) awaited_since_ = std::max(sent, resumed_at_);
    awaited_ = sent;
    return awaited_since_ + options().reply_timeout;
}

void Session::replies_late() {
    if (reply_due() > loop_.now()) return watch_replies();
    const std::weak_ptr<void> session = lifetime_;
    const std::weak_ptr<void> connection = connection_;
    matcher_.resolve_unmatched();
    report_resolved();
    while (!connection.expired() && in_flight() > 0 && reply_due() <= loop_.now())
        user_.session_lost(marked(matcher_.mark_late(), {}, loop_.now()));
    if (!connection.expired()) watch_all();
    if (!session.expired()) report_changes();
}

void Session::watch_greeting() {
    if (paused_ || state_ != State::open || !matcher_.greeting_possible())
        return release(greeting_);
    if (!runs(greeting_))
        start<&Session::no_greeting>(greeting_, loop_.after(options().greeting_time));
}

// First our end is announced, once replies pause or all are in; then the peer's is awaited.
void Session::watch_end() {
    if (state_ != State::finishing) return;
    if (paused_ || in_flight() == 0) release(quiet_);
    if (in_flight() == 0) {
        if (!paused_) stream_->finish();
        const ev::Time due = finished_at_ + options().close_timeout + longest_stop_;
        watch_while_reading<&Session::not_closed>(closing_, due);
    } else if (!paused_ && !runs(quiet_) && !stream_->finishing()) {
        start<&Session::replies_pause>(quiet_, loop_.after(quiet_time));
    }
}

// A timer that is due stays so: what is started in a turn waits for the next one, which may
// pause again.
template <auto due>
void Session::watch_while_reading(ev::Timer& timer, ev::Time at) {
    if (runs(timer) && timer.deadline() <= loop_.now()) return;
    if (!paused_) return start<due>(timer, at);
    if (timer) timer.cancel();
}

// The calls of the timers.

void Session::not_connected() {
    fail(Reason::timeout, "no connection to " + options().endpoint.text() + " within " +
                              duration_text(options().connect_timeout) + ": still " + phase());
}

void Session::try_again() {
    dial();
    report_changes();
}

void Session::time_up() {
    out_of_time_ = true;
    if (state_ != State::closed)
        close({Reason::timeout,
               "not done within " + duration_text(*options().max_time) + " (--max-time)"});
    report_changes();
}

void Session::idle_too_long() {
    fail(Reason::timeout,
         "nothing sent or received for " + duration_text(*options().idle_timeout));
}

void Session::nothing_taken() {
    fail(Reason::timeout,
         "the server takes nothing; unsent: " + bytes_text(pending()) + " (-W)");
}

void Session::no_greeting() {
    matcher_.rule_out_greeting();
    advance();
}

void Session::replies_pause() { stream_->finish(); }

void Session::not_closed() { fail(Reason::timeout, "the peer has not closed in time"); }

void Session::closed_too_early() { fail(Reason::closed_early, options().closed_early); }

void Session::fail(Reason reason, std::string text) {
    ended({reason, std::move(text)});
    report_changes();
}

// --- The end of a connection. These functions change the state and leave it to their callers
// to report that.

void Session::set_state(State state) {
    state_ = state;
    since_ = loop_.now();
}

void Session::ended(End end) {
    end = explained(std::move(end));
    if (worth_retrying(end.reason)) return wait_for_retry(std::move(end));
    close(std::move(end));
}

// An alert that we have sent ourselves is an echo. A server that has closed its side, and then
// takes nothing more either, has ended the conversation with the first of the two.
End Session::explained(End end) const {
    const bool alert = stream_ && !options().tls && stream_->bytes_read() == alert_size &&
                       is_tls_alert(first_bytes_) && !matcher_.echoed();
    if (alert) return {Reason::tls, "the server speaks TLS: --tls"};
    const bool closed_first = end.reason == Reason::send && input_ended();
    if (closed_first && state_ == State::open && options().expect != Expect::none)
        return {Reason::closed_early, options().closed_early};
    return end;
}

void Session::wait_for_retry(End end) {
    drop_connection(std::move(end));
    matcher_.lose(options().framing->has_frames());
    start<&Session::try_again>(retry_, loop_.after(backoff_.next()));
    set_state(State::waiting);
}

void Session::close(End end) {
    drop_connection(std::move(end));
    matcher_.lose(false);
    set_state(State::closed);
}

// The order counts: the stream still knows its facts, and how it stands with its end; and a
// connection that is dropped in order takes leave of its peer.
void Session::drop_connection(End end) {
    if (stream_) {
        record_facts();
        tcp_ = tcp();
    }
    end_ = in_order(end) ? End{Reason::clean, "closed"} : std::move(end);
    if (stream_) stream_->close();
    dialer_.reset();
    stream_.reset();
    connection_.reset();
    reply_.cancel();
    for (ev::Timer* timer : {&connecting_, &retry_, &idle_, &stalled_, &greeting_, &quiet_,
                             &closing_, &closed_early_})
        release(*timer);
}

// Once all is answered, and our end was announced, the peer may stay; and where every reply was
// known beforehand, it may go without a word.
bool Session::in_order(const End& end) const {
    if (end.reason == Reason::clean) return true;
    if (state_ != State::finishing || in_flight() > 0 || !stream_->output_closed())
        return false;
    if (end.reason == Reason::timeout) return true;
    const bool known = options().expect == Expect::echo || options().expect == Expect::given;
    return end.reason == Reason::truncated && known && !partial_message_;
}

// Not where settings or trust stand in the way, nor where the end was wanted, by us or by the
// peer; nor when nothing is left to be sent.
bool Session::worth_retrying(Reason reason) const {
    if (options().retries != forever && backoff_.count() >= options().retries) return false;
    if (state_ == State::finishing && messages().all_written()) return false;
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
