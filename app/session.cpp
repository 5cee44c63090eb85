#include "app/session.hpp"

#include "app/units.hpp"

#include <algorithm>
#include <random>
#include <utility>

namespace yodel {

using bufio::End;
using bufio::Reason;

namespace {

// How long replies may pause, once all is sent, before the service is told that it was all.
// Some services answer only then; others drop what they still had to send.
constexpr ev::Duration quiet_time = std::chrono::milliseconds(500);

// Room for a frame around the longest payload.
constexpr std::size_t frame_overhead = 64;

// Whether these are the first bytes of a TLS alert: what a server that speaks TLS says to those
// who don't.
bool is_tls_alert(std::string_view bytes) {
    return bytes.size() >= 3 && bytes[0] == '\x15' && bytes[1] == '\x03' && bytes[2] <= '\x04';
}

std::optional<ev::Duration> round_trip(const Message& message, ev::Time read_at) {
    if (message.voided) return std::nullopt;
    return read_at - message.sent;
}

std::size_t first_difference(std::string_view a, std::string_view b) {
    const std::size_t size = std::min(a.size(), b.size());
    if (a.substr(0, size) == b.substr(0, size))
        return size;  // much the fastest way to see that
    const auto end = a.begin() + static_cast<std::ptrdiff_t>(size);
    return static_cast<std::size_t>(std::mismatch(a.begin(), end, b.begin()).first - a.begin());
}

}  // namespace

Session::Session(ev::Loop& loop, Options options, User& user)
    : loop_(loop),
      options_(std::move(options)),
      user_(user),
      decoder_(*options_.framing, options_.max_frame),
      outstanding_(*options_.framing, options_.expect != Expect::none, options_.together),
      backoff_(options_.retry_delay, std::random_device()()),
      deadline_(loop, [this] { timed_out(); }),
      max_time_(loop, [this] { time_over(); }),
      reply_(loop, [this] { replies_late(); }),
      quiet_(loop, [this] { stream_->finish(); }),
      closing_(loop, [this] {
          ended({Reason::timeout, "the peer has not closed in time"});
      }) {}

void Session::connect() {
    backoff_.reset();
    if (options_.max_time && !max_time_.pending()) max_time_.start(*options_.max_time);
    dial();
}

void Session::dial() {
    end_ = {};
    facts_.reset();
    decoder_ = Decoder(*options_.framing, options_.max_frame);
    greeted_ = false;
    deadline_.start(options_.connect_timeout);
    dialer_.emplace(loop_, options_.endpoint,
                    [this](bufio::Dialed result) { dialed(std::move(result)); });
    enter(State::dialing);
}

void Session::disconnect() {
    if (state_ == State::idle || state_ == State::closed) return;
    // Giving up the wait for another try leaves the failure of the last one as the end.
    close(state_ == State::waiting ? std::move(end_) : End{Reason::aborted, "disconnected"});
}

void Session::finish() {
    if (state_ != State::open) return;
    flush();
    if (state_ != State::open) return;
    enter(State::finishing);
    watch_end();
}

std::uint64_t Session::send(std::string_view payload) {
    if (state_ != State::open) return 0;
    const std::size_t shortest = options_.framing->replies_framed() ? 0 : 1;
    const std::size_t longest = std::min(options_.framing->longest(), options_.max_frame);
    if (shortest > 0 || payload.size() > longest)
        for (const std::string_view piece : pieces(*options_.framing, payload))
            if (piece.size() < shortest || piece.size() > longest) return 0;
    outstanding_.queue(payload);
    return last_id();
}

std::uint64_t Session::send_reserved(std::size_t size) {
    if (state_ != State::open || size == 0 || size > options_.max_frame) return 0;
    outstanding_.queue_reserved(size);
    return last_id();
}

void Session::flush() {
    if (!stream_ || outstanding_.flushed()) return;
    const ev::Time now = ev::Clock::now();
    const bool taken = stream_->write(outstanding_.flush(now));
    if (!taken && !stream_->end())  // else it will tell so
        return ended({Reason::limit, "the peer takes nothing, and too much is waiting for it"});
    if (outstanding_.count() == 0) outstanding_.forget_taken();
    outstanding_.stamp(stream_->bytes_written(), now);
    watch_replies();
}

// What comes meanwhile is neither late nor missing: no time runs but that of -m, and each
// begins anew afterwards.
void Session::hold(bool held) {
    if (held_ && !held) {
        held_until_ = loop_.now();
        void_round_trips();
    }
    held_ = held;
    if (!stream_) return;
    if (!held) return stream_changed(*stream_);
    watch_idleness();
    watch_replies();
    watch_end();
}

std::string Session::phase() const {
    if (dialer_) return dialer_->phase();
    return "TLS handshake with " + address_.text();
}

void Session::enter(State state) {
    state_ = state;
    since_ = loop_.now();
    user_.session_changed();
}

void Session::dialed(bufio::Dialed result) {
    dialer_.reset();
    address_ = result.address;
    phases_ = {result.lookup_time, result.connect_time, {}};
    if (!result.socket) return ended(std::move(result.end));
    since_ = loop_.now();  // of the handshake, which may be done at once
    auto transport =
        options_.tls ? options_.tls->connect(std::move(result.socket), options_.endpoint.host)
                     : bufio::make_plain_transport(std::move(result.socket));
    bufio::Stream::Limits limits;
    limits.output = options_.max_frame + std::max(options_.max_frame, limits.output);
    bufio::Stream::User& user = *this;
    stream_ = std::make_unique<bufio::Stream>(loop_, std::move(transport), user, limits);
    if (options_.framing->replies_framed())
        stream_->need_input(options_.max_frame + frame_overhead);
    if (stream_->open()) return opened();
    enter(State::handshaking);
}

void Session::opened() {
    learn();
    if (options_.tls) phases_.tls = ev::Clock::now() - since_;
    deadline_.cancel();
    watch_idleness();
    enter(State::open);
    flush();
}

void Session::learn() {
    if (stream_->tls()) facts_ = *stream_->tls();
}

void Session::stream_changed(bufio::Stream&) {
    read_at_ = ev::Clock::now();
    if (stream_->bytes_read() > 0 && stream_->open()) backoff_.reset();
    if (state_ == State::handshaking && stream_->open()) opened();
    if (!stream_) return;
    watch_idleness();
    outstanding_.stamp(stream_->bytes_written(), read_at_);
    receive();
    if (!stream_) return;
    if (stream_->end() && !held_) return ended(stream_->end());
    if (stream_->input_ended() && !held_) lose_outstanding();
    watch_replies();
    if (options_.expect != Expect::echo) begin_end_anew();  // what comes may be what is wanted
    watch_end();
    user_.session_changed();
}

void Session::receive() {
    const std::string_view received = stream_->received();
    if (!options_.tls && stream_->bytes_read() == received.size() && is_tls_alert(received) &&
        !outstanding_.frames().starts_with(received))  // which would be an echo
        return ended({Reason::tls, "the server speaks TLS: --tls"});
    if (!held_ && !take_greeting()) return;
    while (!held_) {
        receive_echoes();
        if (!stream_ || held_ || stream_->received().size() == same_) break;
        const Decoder::Cut cut = decoder_.next(stream_->received());
        if (cut.kind == Decoder::Cut::Kind::error) return ended({Reason::limit, cut.error});
        if (cut.kind == Decoder::Cut::Kind::incomplete) break;
        receive_message(cut.payload);
        if (!stream_) return;
        stream_->consume(cut.used);
        same_ = 0;
    }
    if (!stream_ || held_ || !stream_->input_ended() || stream_->received().empty()) return;
    const std::string rest(stream_->received());
    stream_->consume(rest.size());
    user_.session_unasked(rest);
    ended({Reason::truncated, "the peer closed inside a message, after " +
                                  std::to_string(rest.size()) + " bytes of it"});
}

// Takes the replies that equal, byte for byte, what was sent, without looking at each.
void Session::receive_echoes() {
    if (!options_.framing->replies_framed() || options_.expect != Expect::echo) return;
    const std::string_view received = stream_->received();
    const std::string_view frames = outstanding_.frames();
    std::size_t same = same_ + first_difference(received.substr(same_), frames.substr(same_));
    std::size_t used = 0;
    while (stream_ && !held_ && outstanding_.any_within(same - used)) {
        if (!unmatched_.empty()) settle(0);
        const Message message = outstanding_.take_group();
        used += outstanding_.taken_bytes();
        tell(message, {message.payload, round_trip(message, read_at_), true, 0});
    }
    if (!stream_) return;
    same_ = same - used;
    if (used == 0) return;
    outstanding_.forget_taken_but_last();
    decoder_.restart();
    stream_->consume(used);
}

// False while it has not come whole, or when it is another.
bool Session::take_greeting() {
    if (greeted_ || options_.framing->kind != Framing::Kind::caret) return true;
    const std::string_view received = stream_->received();
    if (received.empty()) return false;
    if (!received.starts_with(caret_greeting)) {
        close({Reason::receive, "the server does not greet with " +
                                    std::string(caret_greeting) +
                                    ", as it does with -f caret"});
        return false;
    }
    stream_->consume(caret_greeting.size());
    return greeted_ = true;
}

void Session::receive_message(std::string_view payload) {
    if (!options_.framing->replies_framed()) return receive_unframed(payload);
    if (outstanding_.count() == 0) return user_.session_unasked(payload);
    if (options_.expect == Expect::any) {
        const Message message = take_oldest();
        return answer(message, message.payload, payload, read_at_);
    }
    const std::optional<std::size_t> place = outstanding_.find(payload);
    if (!place) return keep_unmatched(payload);
    settle(*place);
    if (outstanding_.count() == 0) return;
    const Message message = take_oldest();
    answer(message, message.payload, payload, read_at_);
}

// A reply that equals no message is the wrong reply to one, or nobody asked for it. The next
// that does equal one tells; or that there are as many replies as messages. One that equals the
// message before is that one's again.
void Session::keep_unmatched(std::string_view payload) {
    if (outstanding_.taken_last(payload)) return user_.session_unasked(payload);
    unmatched_.push_back({std::string(payload), read_at_});
    if (unmatched_.size() >= awaited()) settle(outstanding_.count());
}

// Has done with the `count` oldest messages: the unmatched replies are theirs, and wrong.
// Replies in surplus were unasked, messages in surplus are lost.
void Session::settle(std::size_t count) {
    auto unmatched = std::exchange(unmatched_, {});
    for (; count > 0 && outstanding_.late() > 0; --count) take_oldest();
    for (; unmatched.size() > count; unmatched.pop_front())
        user_.session_unasked(unmatched.front().payload);
    for (; count > 0 && outstanding_.count() > 0; --count) {
        const Message message = take_oldest();
        if (unmatched.empty()) {
            user_.session_lost(message);
            continue;
        }
        answer(message, message.payload, unmatched.front().payload, unmatched.front().read_at);
        unmatched.pop_front();
    }
}

// Waits for no more replies that would tell whose the unmatched ones are.
void Session::settle_unmatched() {
    const std::size_t count = outstanding_.late() + unmatched_.size();
    if (!unmatched_.empty()) settle(std::min(count, outstanding_.count()));
}

// Without frames, each message is answered by as many bytes as it has.
void Session::receive_unframed(std::string_view bytes) {
    user_.session_received(bytes);
    while (stream_ && !bytes.empty() && outstanding_.count() > 0) {
        const std::string_view expected = expected_unframed();
        const std::size_t open = expected.size() - matched_;
        const std::size_t size =
            options_.expect == Expect::any ? bytes.size() : std::min(bytes.size(), open);
        match_unframed(bytes.substr(0, size), expected);
        bytes.remove_prefix(size);
    }
    if (stream_ && !bytes.empty()) user_.session_unasked(bytes);
}

std::string_view Session::expected_unframed() {
    if (options_.framing->kind != Framing::Kind::caret) return outstanding_.oldest_payload();
    if (changed_.empty()) changed_ = caret_reply(outstanding_.oldest_payload());
    return changed_;
}

void Session::match_unframed(std::string_view part, std::string_view expected) {
    const bool same = wrong_.empty() && expected.substr(matched_).starts_with(part);
    if (!same && wrong_.empty()) wrong_ = expected.substr(0, matched_);
    if (!same) wrong_ += part;
    matched_ += part.size();
    if (options_.expect == Expect::echo && matched_ < expected.size()) return;
    const std::string changed = std::exchange(changed_, {});
    const std::string wrong = std::exchange(wrong_, {});
    matched_ = 0;
    const Message message = take_oldest();
    const std::string_view right = changed.empty() ? message.payload : changed;
    answer(message, right, wrong.empty() ? right : wrong, read_at_);
    outstanding_.forget_taken();
}

void Session::answer(const Message& message, std::string_view expected,
                     std::string_view payload, ev::Time read_at) {
    const bool right = options_.expect == Expect::any || expected == payload;
    const std::size_t difference = right ? 0 : first_difference(expected, payload);
    tell(message, {payload, round_trip(message, read_at), right, difference});
}

void Session::tell(const Message& message, const Reply& reply) {
    user_.session_answered(message, reply);
    if (state_ == State::finishing) begin_end_anew();
}

Message Session::take_oldest() {
    same_ = 0;
    return outstanding_.take();
}

void Session::lose_outstanding() {
    settle_unmatched();
    while (outstanding_.count() > 0) {
        const Message lost = take_oldest();
        if (!lost.late) user_.session_lost(lost);
    }
}

// All but what can go out again.
void Session::lose_sent() {
    settle_unmatched();
    if (options_.framing->kind == Framing::Kind::raw) return lose_outstanding();
    while (!outstanding_.none_sent()) {
        const Message lost = take_oldest();
        if (!lost.late) user_.session_lost(lost);
    }
}

// What is left goes out over another connection.
void Session::count_anew() {
    outstanding_.count_anew();
    same_ = matched_ = 0;
    wrong_.clear();
    changed_.clear();
}

void Session::watch_idleness() {
    if (!options_.idle_timeout || !stream_->open()) return;
    if (held_) return deadline_.cancel();
    deadline_.start(*options_.idle_timeout);
}

void Session::watch_replies() {
    if (awaited() == 0 || held_) return reply_.cancel();
    reply_.start_at(reply_due());
}

// Of the oldest message that is not late.
ev::Time Session::reply_due() const {
    return std::max(outstanding_.awaited_since(), held_until_) + options_.reply_timeout;
}

void Session::replies_late() {
    settle_unmatched();
    while (awaited() > 0 && reply_due() <= loop_.now())
        user_.session_lost(outstanding_.mark_late());
    watch_replies();
    watch_end();
    user_.session_changed();
}

void Session::begin_end_anew() {
    quiet_.cancel();
    closing_.cancel();
}

// Ours, once replies pause or all are in; then the peer's.
void Session::watch_end() {
    if (state_ != State::finishing) return;
    if (held_) {
        begin_end_anew();
    } else if (awaited() > 0) {
        if (!quiet_.pending() && !stream_->finishing()) quiet_.start(quiet_time);
    } else {
        quiet_.cancel();
        stream_->finish();
        if (!closing_.pending()) closing_.start(options_.close_timeout);
    }
}

void Session::timed_out() {
    if (state_ == State::waiting) return dial();
    if (state_ == State::open || state_ == State::finishing)
        return ended({Reason::timeout,
                      "nothing sent or received for " + duration_text(*options_.idle_timeout)});
    ended({Reason::timeout, "no connection to " + options_.endpoint.text() + " within " +
                                duration_text(options_.connect_timeout) + ": still " +
                                phase()});
}

void Session::time_over() {
    out_of_time_ = true;
    close({Reason::timeout,
           "not done within " + duration_text(*options_.max_time) + " (--max-time)"});
}

void Session::ended(End end) {
    if (worth_retrying(end.reason)) return wait_for_retry(std::move(end));
    close(std::move(end));
}

void Session::wait_for_retry(End end) {
    drop_connection(std::move(end));
    lose_sent();
    count_anew();
    deadline_.start(backoff_.next());
    enter(State::waiting);
}

void Session::close(End end) {
    drop_connection(std::move(end));
    lose_outstanding();
    count_anew();
    max_time_.cancel();
    enter(State::closed);
}

void Session::drop_connection(End end) {
    if (stream_) learn();
    end_ = in_order(end) ? End{Reason::clean, "closed"} : std::move(end);
    dialer_.reset();
    stream_.reset();
    deadline_.cancel();
    reply_.cancel();
    begin_end_anew();
}

// Once all is answered, and we have said that we are done, it does not matter how the peer
// goes.
bool Session::in_order(const End& end) const {
    if (end.reason == Reason::clean) return true;
    const bool leaving = end.reason == Reason::timeout || end.reason == Reason::truncated;
    return leaving && state_ == State::finishing && awaited() == 0 && stream_->output_closed();
}

// Not where settings or trust stand in the way, nor where the end was wanted, by us or by the
// peer; nor when nothing is left to be sent.
bool Session::worth_retrying(Reason reason) const {
    if (options_.retries != forever && backoff_.count() >= options_.retries) return false;
    if (state_ == State::finishing && outstanding_.all_sent()) return false;
    switch (reason) {
    case Reason::lookup:
    case Reason::connect:
    case Reason::cut_handshake:
    case Reason::send:
    case Reason::receive:
    case Reason::truncated: return true;
    case Reason::timeout: return state_ == State::dialing || state_ == State::handshaking;
    default: return false;
    }
}

}  // namespace yodel
