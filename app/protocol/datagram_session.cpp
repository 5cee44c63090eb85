#include "app/protocol/datagram_session.hpp"

#include "app/text/units.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace yodel {

using bufio::End;
using bufio::Reason;

namespace {

// How long late and repeated replies have to come after the last one that was awaited: some of
// the longest round trips, within these limits and that of -q.
constexpr ev::Duration least_linger = std::chrono::milliseconds(100);
constexpr ev::Duration most_linger = std::chrono::seconds(1);
constexpr int lingering_round_trips = 4;

// Messages that are sent again to another address must fit into its socket's queue.
constexpr std::size_t most_sent_again = 4096;
constexpr std::size_t most_bytes_sent_again = 2 * 1024 * 1024;

DatagramMatcher::Options datagram_matching(const AnySession::Options& options) {
    DatagramMatcher::Options to;
    to.expect = options.expect;
    to.numbered = options.numbered;
    to.foreseen = options.foreseen;
    return to;
}

}  // namespace

DatagramSession::DatagramSession(ev::Loop& loop, Options options, User& user)
    : loop_(loop),
      options_(std::move(options)),
      user_(user),
      matcher_(datagram_matching(options_)),
      backoff_(options_.retry_delay, options_.retry_seed),
      changed_(loop, [this] { report_changes(); }),
      connecting_(loop,
                  [this] {
                      fail({Reason::timeout, "no connection to " + options_.endpoint.text() +
                                                 " within " +
                                                 duration_text(options_.connect_timeout) +
                                                 ": still " + phase()});
                  }),
      retry_(loop,
             [this] {
                 dial();
                 report_changes();
             }),
      max_time_(loop,
                [this] {
                    out_of_time_ = true;
                    if (state_ != State::closed)
                        drop_socket({Reason::timeout, "not done within " +
                                                          duration_text(*options_.max_time) +
                                                          " (--max-time)"});
                    report_changes();
                }),
      idle_(loop,
            [this] {
                fail({Reason::timeout,
                      "nothing sent or received for " + duration_text(*options_.idle_timeout)});
            }),
      reply_(loop, [this] { replies_late(); }),
      lingering_(loop, [this] { fail(end_in_order()); }) {}

// --- Calls of the user.

void DatagramSession::connect() {
    backoff_.reset();
    refusal_ = {};
    if (options_.max_time && !max_time_.pending())
        max_time_.start_at(loop_.after(*options_.max_time - options_.spent));
    dial();
    change_soon();
}

void DatagramSession::disconnect() {
    if (state_ == State::idle || state_ == State::closed) return;
    // Giving up the wait for another try leaves the failure of the last one as the end; so does
    // closing a socket on which nothing has come since.
    const bool failed = state_ == State::waiting || (socket_ && refusal_);
    drop_socket(failed ? End(end_) : End{Reason::aborted, "disconnected"});
    change_soon();
}

void DatagramSession::finish() {
    if (state_ != State::open) return;
    flush();
    finished_at_ = loop_.now();
    longest_stop_ = {};
    answered_at_ = {};
    set_state(State::finishing);
    watch_end();
    change_soon();
}

Queued DatagramSession::send(std::string_view payload, ev::Time planned,
                             std::optional<std::string_view> reply) {
    const std::size_t longest = std::min(options_.framing->longest(), options_.max_frame);
    if (state_ != State::open || payload.size() > longest || !socket_->send(payload)) return {};
    remember(payload);
    return matcher_.queue(payload, planned, loop_.now(), reply);
}

// The clock is read before the system takes the messages, as a reply may be under way before
// the call returns.
void DatagramSession::flush() {
    if (!socket_ || socket_->pending() == 0) return;
    flushed_at_ = loop_.read_clock();
    socket_->flush();
    matcher_.record_written(socket_->written(), flushed_at_);
    watch_idleness();
    watch_replies();
}

void DatagramSession::pause(bool paused) {
    if (paused == paused_) return;
    paused_ = paused;
    if (paused) paused_at_ = loop_.now();
    if (!paused) resume_limits();
    if (!socket_) return;
    socket_->pause_reading(paused);
    watch_all();
}

// Limits go on with what they had left; the end is put off by the longest stop alone.
void DatagramSession::resume_limits() {
    resumed_at_ = loop_.now();
    awaited_since_ += resumed_at_ - std::max(awaited_since_, paused_at_);
    longest_stop_ = std::max(longest_stop_, resumed_at_ - std::max(finished_at_, paused_at_));
}

std::string DatagramSession::phase() const {
    return dialer_ ? dialer_->phase() : "connecting " + address_.text();
}

// --- The way to a socket.

void DatagramSession::dial() {
    retry_.cancel();  // connect() has cut the wait short
    end_ = {};
    connecting_.start(options_.connect_timeout);
    dialer_.emplace(loop_, options_.endpoint,
                    [this](bufio::DialResult result) { on_dialed(std::move(result)); });
    set_state(State::dialing);
}

void DatagramSession::on_dialed(bufio::DialResult result) {
    dialer_.reset();
    connecting_.cancel();
    address_ = result.address;
    phases_ = {result.lookup_time, result.connect_time, {}};
    if (!result.socket) return fail(std::move(result.end));
    untried_ = std::move(result.untried);
    refusals_.clear();
    end_ = refusal_;
    open_socket(std::move(result.socket));
    set_state(State::open);
    watch_all();
    report_changes();
}

void DatagramSession::open_socket(bufio::Fd connected) {
    bufio::DatagramSocket::User& user = *this;
    socket_ = std::make_unique<bufio::DatagramSocket>(loop_, std::move(connected), user);
    socket_->pause_reading(paused_);
    connection_ = std::make_shared<char>();
}

// --- Other addresses of the name.

// The socket is closed first, because the next one may need its port.
bool DatagramSession::try_next_address() {
    if (!can_send_again()) give_up_untried();
    while (!untried_.empty()) {
        socket_.reset();
        address_ = untried_.front();
        untried_.erase(untried_.begin());
        std::string failure;
        bufio::Fd connected = bufio::connect_datagrams(options_.endpoint, address_, failure);
        if (connected) {
            open_socket(std::move(connected));
            send_again();
            return true;
        }
        refusals_.push_back(address_.text() + ": " + failure);
    }
    return false;
}

bool DatagramSession::can_send_again() const {
    return in_flight() <= most_sent_again && in_flight_bytes() <= most_bytes_sent_again;
}

// The time for late replies begins anew, where none are awaited.
void DatagramSession::send_again() {
    for (const std::string_view each : matcher_.take_back()) socket_->send(each);
    for (const std::string& each : sent_) socket_->send(each);
    if (untried_.empty()) give_up_untried();  // nothing is to be sent a third time
    flush();
    lingering_.cancel();
    answered_at_ = {};
    watch_all();
}

void DatagramSession::remember(std::string_view payload) {
    if (untried_.empty() || options_.expect != Expect::none) return;
    sent_.emplace_back(payload);
    sent_bytes_ += payload.size();
    if (sent_.size() > most_sent_again || sent_bytes_ > most_bytes_sent_again)
        give_up_untried();
}

void DatagramSession::give_up_untried() {
    untried_.clear();
    sent_.clear();
    sent_bytes_ = 0;
}

End DatagramSession::all_refused() const {
    std::string text = "cannot connect to ";
    if (refusals_.size() > 1) text += options_.endpoint.text() + ": ";
    for (const std::string& each : refusals_)
        text += (&each == &refusals_.front() ? "" : "; ") + each;
    return {Reason::connect, text};
}

// --- What the socket brings.

void DatagramSession::datagrams_received(std::span<const bufio::Datagram> datagrams) {
    read_at_ = loop_.read_clock();
    backoff_.reset();
    note_peer();
    const std::weak_ptr<void> session = lifetime_;
    const std::weak_ptr<void> connection = connection_;
    const std::uint64_t last_id = matcher_.last_id();
    for (const bufio::Datagram& each : datagrams) {
        if (const auto event = matcher_.match(each.bytes, read_at_, last_id)) report(*event);
        if (!session.expired()) report_resolved();
        if (connection.expired()) break;  // by the user
    }
    if (!connection.expired()) watch_all();
    if (!session.expired()) report_changes();
}

void DatagramSession::note_peer() {
    if (heard_) return;
    give_up_untried();
    heard_ = true;
    refusal_ = {};
    end_ = {};
}

void DatagramSession::datagrams_written() {
    matcher_.record_written(socket_->written(), loop_.read_clock());
    watch_all();
    report_changes();
}

// The messages whose datagrams were refused, or met nobody, are lost.
void DatagramSession::datagrams_ended() {
    const End end = socket_->end();
    if (end.reason != Reason::connect) return fail(end);
    refusals_.push_back(end.text);
    if (try_next_address()) return report_changes();
    refusal_ = all_refused();
    fail(refusal_);
}

void DatagramSession::report_resolved() {
    if (!matcher_.has_resolved()) return;
    const std::weak_ptr<void> session = lifetime_;
    while (!session.expired()) {
        const auto event = matcher_.next_resolved();
        if (!event) break;
        report(*event);
    }
}

void DatagramSession::report(const DatagramMatcher::Event& event) {
    if (const auto* const answered = std::get_if<DatagramMatcher::Answered>(&event)) {
        const auto time = answered->reply.round_trip.value_or(ev::Duration::zero());
        longest_round_trip_ = std::max(longest_round_trip_, time);
        user_.session_answered(answered->message, answered->reply);
    } else if (const auto* const lost = std::get_if<DatagramMatcher::Lost>(&event)) {
        user_.session_lost(lost->message);
    } else if (const auto* const repeated = std::get_if<DatagramMatcher::Repeated>(&event)) {
        user_.session_repeated(repeated->payload);
    } else {
        user_.session_unsolicited(std::get<DatagramMatcher::Unsolicited>(event).payload);
    }
}

void DatagramSession::report_changes() {
    changed_.cancel();
    if (matcher_.has_resolved()) {
        const std::weak_ptr<void> session = lifetime_;
        report_resolved();
        if (session.expired()) return;
    }
    user_.session_changed();
}

// --- Time-outs. Each of these functions decides whether its timer runs, and until when.

void DatagramSession::watch_all() {
    watch_idleness();
    watch_replies();
    watch_end();
}

// A flush and a datagram that comes begin the time anew.
void DatagramSession::watch_idleness() {
    if (!options_.idle_timeout || paused_) return idle_.cancel();
    const ev::Time since = std::max({flushed_at_, read_at_, since_, resumed_at_});
    idle_.start_at(since + *options_.idle_timeout);
}

void DatagramSession::watch_replies() {
    if (in_flight() == 0) return reply_.cancel();
    watch_while_reading(reply_, reply_due());
}

// A message that becomes the oldest has waited for our reading since the last stop at most.
ev::Time DatagramSession::reply_due() {
    const ev::Time sent = matcher_.oldest_sent();
    if (sent != awaited_) awaited_since_ = std::max(sent, resumed_at_);
    awaited_ = sent;
    return awaited_since_ + options_.reply_timeout;
}

// Each datagram renews the time to linger, but a server that goes on talking only within -q.
void DatagramSession::watch_end() {
    if (state_ != State::finishing || in_flight() > 0) return lingering_.cancel();
    if (answered_at_ == ev::Time{}) answered_at_ = loop_.now();
    const ev::Duration wanted = lingering_round_trips * longest_round_trip_;
    const ev::Duration linger =
        std::min(std::clamp(wanted, least_linger, most_linger), options_.close_timeout);
    const ev::Time last =
        std::max(answered_at_ + linger, finished_at_ + options_.close_timeout) + longest_stop_;
    const ev::Time since = std::max({answered_at_, read_at_, resumed_at_});
    watch_while_reading(lingering_, std::min(since + linger, last));
}

// A timer that is due stays so: what is started in a turn waits for the next one, which may
// bring more, or pause again.
void DatagramSession::watch_while_reading(ev::Timer& timer, ev::Time at) {
    if (timer.pending() && timer.deadline() <= loop_.now()) return;
    if (paused_) return timer.cancel();
    timer.start_at(at);
}

void DatagramSession::replies_late() {
    const std::weak_ptr<void> session = lifetime_;
    const std::weak_ptr<void> connection = connection_;
    while (!connection.expired() && in_flight() > 0 && reply_due() <= loop_.now()) {
        matcher_.mark_late();
        report_resolved();
    }
    if (!connection.expired()) watch_all();
    if (!session.expired()) report_changes();
}

// --- The end. These functions change the state; only fail() reports that.

End DatagramSession::end_in_order() const {
    return refusal_ ? refusal_ : End{Reason::clean, "closed"};
}

void DatagramSession::set_state(State state) {
    state_ = state;
    since_ = loop_.now();
}

void DatagramSession::fail(End end) {
    ended(std::move(end));
    report_changes();
}

void DatagramSession::ended(End end) {
    const bool again = worth_retrying(end.reason);
    drop_socket(std::move(end));
    if (!again) return;
    retry_.start(backoff_.next());
    set_state(State::waiting);
}

void DatagramSession::drop_socket(End end) {
    end_ = std::move(end);
    dialer_.reset();
    socket_.reset();
    connection_.reset();
    heard_ = false;
    give_up_untried();
    matcher_.restart();
    for (ev::Timer* timer : {&connecting_, &retry_, &idle_, &reply_, &lingering_})
        timer->cancel();
    set_state(State::closed);
}

// What is lost with the socket is not sent again; so once all is sent there is nothing to try
// again for.
bool DatagramSession::worth_retrying(Reason reason) const {
    if (options_.retries != forever && backoff_.count() >= options_.retries) return false;
    if (state_ == State::finishing) return false;
    switch (reason) {
    case Reason::lookup:
    case Reason::connect:
    case Reason::send:
    case Reason::receive: return true;
    case Reason::timeout: return state_ == State::dialing;
    default: return false;
    }
}

}  // namespace yodel
