#include "app/pipe/crowd.hpp"

#include "app/pipe/connection_report.hpp"
#include "app/pipe/sending_limits.hpp"
#include "app/text/exit_status.hpp"
#include "app/text/units.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace yodel {

using State = AnySession::State;

namespace {

// Bytes that await their replies on all connections.
constexpr std::size_t most_in_flight_of_all = 256 * 1024 * 1024;

// One turn of the loop makes and sends no more than this, so that replies are read in between.
constexpr unsigned connections_a_turn = 64;
constexpr unsigned messages_a_turn = 256;

Crowd::Options completed(Crowd::Options options) {
    if (options.recording) return options;
    options.session.closed_early = options.script
                                       ? "the server closed before the end of the input"
                                       : "the server closed before the end of the run";
    options.session.greeting_time = generated_greeting_time;
    options.session.numbered =
        !options.script && options.size >= GeneratedText::least_checked_size;
    options.session.max_time.reset();
    return options;
}

}  // namespace

class Crowd::Connection final : public AnySession::User, public Replayer::User {
public:
    Connection(Crowd& crowd, std::size_t its_number)
        : number(its_number),
          own_session(crowd.session_of(*this)),
          session(*own_session),
          replayer(crowd.replayer_of(*this)),
          crowd_(crowd) {}

    const std::size_t number;  // from 1
    const std::unique_ptr<AnySession> own_session;
    AnySession& session;
    const std::unique_ptr<Replayer> replayer;  // of a recording; null: none is said
    Jitter jitter;                             // of datagrams
    std::uint64_t sent = 0;                    // messages, over the present connection
    std::size_t line = 0;                      // of the script, the next one to be said
    State reported = State::idle;
    bool opened = false;     // the present connection was open
    bool settled = false;    // was open at least once, or has failed
    bool withdrawn = false;  // the present connection is not needed any more
    bool replacing = false;  // worn out; or in its place, and in its first try

    bool present() const { return reported != State::closed; }
    bool worn_out() const { return crowd_.options_.churn > 0 && sent >= crowd_.options_.churn; }
    // No message can be sent on it now, but soon one can, unless connecting fails.
    bool being_replaced() const { return replacing && present(); }

private:
    void session_changed() override { crowd_.changed(*this); }
    void session_answered(const Message& message, const Reply& reply) override {
        crowd_.answered(*this, message, reply);
    }
    void session_lost(const Message& message) override { crowd_.lost(*this, message); }
    void session_unsolicited(std::string_view payload) override {
        if (replayer) return replayer->unsolicited(payload);
        crowd_.unsolicited(*this, payload);
    }
    void session_repeated(std::string_view) override { crowd_.result_->count_repeated(); }

    void replay_said(std::string_view, Queued queued, ev::Time) override {
        crowd_.said_again(*this, queued);
    }
    void replay_written(ev::Duration late) override { crowd_.result_->record_lateness(late); }
    void replay_unsolicited(Replayer::Unsolicited kind, std::string_view payload) override {
        crowd_.compared(*this, kind, payload);
    }
    void replay_failed(const std::string& trouble) override {
        crowd_.recording_failed(trouble);
    }

    Crowd& crowd_;
};

Crowd::Crowd(ev::Loop& loop, Options options, std::function<void()> done, Observer* observer)
    : loop_(loop),
      options_(completed(std::move(options))),
      share_{options_.thread, options_.threads, options_.connections},
      own_connections_(share_.own_connections()),
      own_messages_(share_.own_messages(options_.count)),
      observer_(observer),
      text_(options_.size),
      result_(std::make_unique<Results>()),
      recent_(options_.recent ? std::make_unique<Histogram>() : nullptr),
      look_up_(loop, [this] { look_up(); }),
      connect_(loop, [this] { connect_due(); }),
      begin_(loop, [this] { begin(); }),
      due_(loop, [this] { send_due(); }),
      time_up_(loop, [this] { time_up(); }),
      done_(loop, std::move(done)) {
    connections_.reserve(own_connections_);
    result_->datagrams = options_.session.endpoint.datagrams;
    if (options_.recording) result_->replay.emplace();
    look_up_.start(ev::Duration::zero());
    limit_connecting(loop_.now());
}

Crowd::~Crowd() = default;

// --- Connections come.

// The name is looked up once, instead of by each connection, on a thread of its own.
void Crowd::look_up() {
    const bufio::Endpoint& endpoint = options_.session.endpoint;
    const bufio::LookupResult local = bufio::resolve_without_network(endpoint);
    if (!local.addresses.empty() || !local.error.empty()) return looked_up(local);
    lookup_.emplace(loop_, endpoint, [this](const auto& result) { looked_up(result); });
}

void Crowd::looked_up(const bufio::LookupResult& result) {
    if (over_) return;
    if (result.addresses.empty())
        return look_up_failed("cannot resolve " + options_.session.endpoint.text() + ": " +
                                  result.error,
                              lookup_failed);
    auto options = std::make_shared<AnySession::Options>(options_.session);
    options->endpoint.known =
        std::make_shared<const std::vector<bufio::Address>>(result.addresses);
    session_options_ = std::move(options);
    connecting_since_ = loop_.now();
    connect_due();
}

void Crowd::look_up_failed(const std::string& text, int status) {
    result_->asked = own_connections_;
    result_->count_failure(text, status, false, own_connections_);
    result_->count_end(status, false);
    send_no_more();
    end_if_done();
}

void Crowd::connect_due() {
    ev::Time next = next_connect();
    for (unsigned i = 0; i < connections_a_turn && next <= loop_.now(); ++i) {
        connect_next();
        if (connections_.size() == own_connections_) return limit_connecting(loop_.now());
        next = next_connect();
    }
    next = std::max(next, loop_.now());
    connect_.start_at(next);
    limit_connecting(next);
}

// A connection that was begun at this time must be open when the run would end if it had its
// first message then, or at the start that was asked for.
void Crowd::limit_connecting(ev::Time begun) {
    if (!options_.length || ready_ || begun_) return;
    time_up_.start_at(std::max(options_.start.value_or(begun), begun) + *options_.length);
}

ev::Time Crowd::next_connect() const {
    if (!options_.connect_pace) return connecting_since_;
    return connecting_since_ +
           options_.connect_pace->offset(share_.number_of(connections_.size()));
}

void Crowd::connect_next() {
    const std::size_t number = share_.number_of(connections_.size()) + 1;
    Connection& connection =
        *connections_.emplace_back(std::make_unique<Connection>(*this, number));
    ++present_;
    begin_try(connection);
    connection.session.connect();
}

// With a recording each session has options of its own: it asks its own replayer.
std::unique_ptr<AnySession> Crowd::session_of(Connection& connection) {
    if (!options_.recording) return make_session(loop_, session_options_, connection);
    AnySession::Options to = *session_options_;
    Replayer::prepare(to, *options_.recording->framing(), [&connection](std::string_view text) {
        return connection.replayer->foreseen(text);
    });
    return make_session(loop_, std::move(to), connection);
}

std::unique_ptr<Replayer> Crowd::replayer_of(Connection& connection) {
    if (!options_.recording) return nullptr;
    return std::make_unique<Replayer>(
        loop_,
        Replayer::Options{.recording = std::make_shared<Recording>(*options_.recording),
                          .fast = options_.fast,
                          .window = options_.window,
                          .most_bytes = most_bytes_of_each()},
        connection.session, connection);
}

void Crowd::begin_try(Connection& connection) {
    connection.opened = false;
    result_->count_try();
}

// --- Connections change.

void Crowd::changed(Connection& connection) {
    if (connection.reported != connection.session.state()) state_changed(connection);
    if (connection.reported == State::open) converse(connection);
}

void Crowd::state_changed(Connection& connection) {
    const State before = std::exchange(connection.reported, connection.session.state());
    if (before == State::open) --open_;
    if (waiting_) due_.start(ev::Duration::zero());  // and no sooner than this call is over
    if (before == State::waiting && connection.reported == State::dialing)
        begin_try(connection);
    if (connection.reported == State::open) opened(connection);
    if (connection.reported == State::waiting) interrupted(connection);
    if (connection.replayer && connection.reported == State::closed)
        connection.replayer->disconnected();
    // A try that was followed by a wait was counted when the wait began.
    if (connection.reported == State::closed && before != State::waiting) end_try(connection);
    if (connection.reported == State::closed) closed(connection);
}

void Crowd::opened(Connection& connection) {
    ++open_;
    const AnySession::Phases& phases = connection.session.phases();
    result_->count_opened(phases.tcp, phases.tls);
    connection.opened = true;
    connection.replacing = connection.worn_out();
    if (observer_) observer_->opened(connection.number, connection.session);
    if (result_->unverified.empty())
        result_->unverified = unverified_remark({}, connection.session.tls());
    if (!options_.pace) begin_soon();
    settle(connection);
}

void Crowd::interrupted(Connection& connection) {
    connection.replacing = false;
    end_try(connection);
    settle(connection);
    if (over_) connection.session.disconnect();
}

void Crowd::closed(Connection& connection) {
    const int status = exit_status(connection.session.end());
    result_->count_end(status, connection.opened);
    settle(connection);
    const bool more = !over_ && !all_sent(connection);
    if (connection.worn_out() && status == 0 && more) return replace(connection);
    --present_;
    end_if_done();
}

void Crowd::end_try(const Connection& connection) {
    const AnySession& session = connection.session;
    const int status = exit_status(session.end());
    if (status != 0)
        result_->count_failure(explain(session.end(), session.tls()), status,
                               connection.opened);
    if (connection.opened) add_tcp(*result_, session);
    if (observer_) observer_->ended(connection.number, session);
}

void Crowd::settle(Connection& connection) {
    if (connection.settled) return;
    connection.settled = true;
    ++settled_;
    if (options_.pace && settled_ == own_connections_) begin_soon();
}

// The new connection has not been reported as closed, even if it is before any other report.
void Crowd::replace(Connection& connection) {
    connection.sent = 0;
    connection.reported = State::idle;
    begin_try(connection);
    connection.session.connect();
}

void Crowd::end_if_done() {
    const bool more = connections_.size() < own_connections_ && !over_;
    if (present_ > 0 || more || ended_) return;
    lose_waiting();
    ended_ = true;
    count_unsent({});
    send_no_more();
    done_.start(ev::Duration::zero());
}

// --- Messages go.

void Crowd::begin_soon() {
    if (ready_) return;
    ready_ = true;
    if (!begun_) time_up_.cancel();  // the limit for connecting
    if (options_.ready) return options_.ready();
    begin_at(loop_.now());
}

void Crowd::begin_at(ev::Time time) {
    if (!over_) begin_.start_at(std::max(options_.start.value_or(time), time));
}

// Planned times count from the time that was asked for, not from that of the timer's call.
void Crowd::begin() {
    if (over_) return;
    begun_ = true;
    turn_ = connections_.size() - 1;
    const ev::Time start = begin_.deadline();
    if (options_.length) time_up_.start_at(start + *options_.length);
    if (options_.pace) {
        schedule_.emplace(Schedule::Options{.pace = *options_.pace,
                                            .count = options_.count,
                                            .length = options_.length,
                                            .share = share_},
                          start);
        planned_since_ = schedule_->next_time();
        return send_due();
    }
    for (const auto& connection : connections_) converse(*connection);
}

void Crowd::converse(Connection& connection) {
    if (connection.replayer) connection.replayer->send();
    while (may_send(connection) && send(connection, {})) {
    }
    connection.session.flush();
    finish_if_done(connection);
}

bool Crowd::may_send(const Connection& connection) const {
    if (!begun_ || over_ || options_.pace || options_.recording || all_sent(connection))
        return false;
    if (options_.script && connection.line == options_.script->size()) return false;
    return takes(connection) && connection.session.in_flight() < options_.window;
}

bool Crowd::takes(const Connection& connection) const {
    return connection.reported == State::open && connection.session.state() == State::open &&
           !connection.worn_out() && connection.session.pending() < peer_high_water &&
           connection.session.in_flight_bytes() < most_bytes_of_each();
}

std::size_t Crowd::most_bytes_of_each() const {
    static constexpr std::size_t least = 64 * 1024;
    const std::size_t share =
        std::max(most_in_flight_of_all / options_.connections, least + options_.size);
    return std::min(most_bytes_in_flight, share);
}

// A message that waits keeps its planned time, so that the wait is in its round trip.
void Crowd::send_due() {
    for (unsigned i = 0; i < messages_a_turn; ++i) {
        const auto message = schedule_->due(loop_.now());
        if (!message) break;
        waiting_ = must_wait();
        if (waiting_) return;
        schedule_->pass();
        passed_at_ = loop_.now();
        ++passed_;
        send_planned(*message);
    }
    if (schedule_->over()) return finish_all();
    due_.start_at(schedule_->next_time());
}

// Nothing can be sent now on any connection, but soon on one that takes the place of another.
bool Crowd::must_wait() const {
    if (options_.churn == 0 || open_from(turn_)) return false;
    return std::any_of(connections_.begin(), connections_.end(),
                       [](const auto& connection) { return connection->being_replaced(); });
}

// No connection comes any more.
void Crowd::lose_waiting() {
    if (!waiting_ || over_) return;
    while (const auto message = schedule_->next(loop_.now())) send_planned(*message);
}

void Crowd::send_planned(const Schedule::Message& message) {
    Connection* const connection = taker(message.number);
    if (!connection || !send(*connection, message.planned)) return;
    connection->session.flush();
    result_->lateness.record(connection->session.flushed_at() - message.planned);
    if (message.planned < resumed_at_) connection->session.void_round_trips();
}

// Returns the connection whose turn it is; or, where it does not stand, the next one that is
// open, if there is any.
Crowd::Connection* Crowd::taker(std::uint64_t number) {
    const std::size_t count = connections_.size();
    turn_ = options_.each_its_own ? share_.place_of(number) : (turn_ + 1) % count;
    if (options_.each_its_own && !connections_[turn_]->present()) return nullptr;
    turn_ = open_from(turn_).value_or(turn_);
    return connections_[turn_].get();
}

// Returns the place of the first connection, from this one on, that may send more messages.
std::optional<std::size_t> Crowd::open_from(std::size_t place) const {
    const std::size_t count = connections_.size();
    for (std::size_t i = 0; i < count && open_ > 0; ++i) {
        const std::size_t next = (place + i) % count;
        const Connection& connection = *connections_[next];
        if (connection.reported == State::open && !connection.worn_out()) return next;
    }
    return std::nullopt;
}

bool Crowd::send(Connection& connection, ev::Time planned) {
    count_call();
    const std::string_view text = next_text(connection);
    Queued queued;
    if (takes(connection)) queued = connection.session.send(text, planned);
    result_->count_sent(std::max<std::size_t>(queued.count, 1), loop_.now());
    connection.sent += queued.count;
    if (connection.worn_out()) connection.replacing = true;
    if (!queued) lost(connection, {.payload = text, .planned = planned, .sent = planned});
    return static_cast<bool>(queued);
}

void Crowd::count_call() { ++sent_; }

std::string_view Crowd::next_text(Connection& connection) {
    if (options_.script) return options_.script->message(connection.line++);
    return text_.text(sent_);
}

// A replayer finishes its session by itself.
bool Crowd::all_sent(const Connection& connection) const {
    if (options_.recording) return false;
    if (options_.script)
        return options_.script->ended() && connection.line == options_.script->size();
    return options_.count != 0 && sent_ >= own_messages_;
}

void Crowd::finish_if_done(Connection& connection) {
    const bool done = over_ || all_sent(connection) || connection.worn_out();
    if (done && connection.session.in_flight() == 0) connection.session.finish();
}

void Crowd::script_changed() {
    for (const auto& connection : connections_)
        if (connection->reported == State::open) converse(*connection);
}

void Crowd::pause(bool paused) {
    for (const auto& connection : connections_) connection->session.pause(paused);
}

// --- The end.

void Crowd::send_no_more() {
    if (!over_ && schedule_) sum_up_plan();
    over_ = true;
    for (ev::Timer* timer : {&look_up_, &connect_, &begin_, &due_, &time_up_}) timer->cancel();
}

// The rate is that of this thread's share. A single message keeps any rate.
void Crowd::sum_up_plan() {
    const double share =
        static_cast<double>(own_connections_) / static_cast<double>(options_.connections);
    PlannedRate rate{.planned = options_.pace->rate() * share, .reached = 0};
    rate.reached = rate.planned;
    const double seconds = std::chrono::duration<double>(passed_at_ - planned_since_).count();
    if (passed_ > 1 && seconds > 0) rate.reached = static_cast<double>(passed_ - 1) / seconds;
    result_->add_planned_rate(rate);
}

void Crowd::count_unsent(ev::Duration tolerated) {
    if (schedule_ && !over_) result_->unsent = schedule_->overdue(loop_.now() - tolerated);
}

// The user may end the run when a message has just become due.
void Crowd::finish() {
    count_unsent(tolerated_lateness);
    finish_all();
}

void Crowd::finish_all() {
    send_no_more();
    for (const auto& connection : connections_) {
        if (connection->replayer) connection->replayer->stop();
        if (connection->reported == State::waiting) connection->session.disconnect();
        finish_if_done(*connection);
    }
    end_if_done();
}

void Crowd::leave() {
    leaving_ = true;
    send_no_more();
    for (const auto& connection : connections_) {
        if (connection->replayer) connection->replayer->stop();
        connection->session.disconnect();
    }
    end_if_done();
}

void Crowd::time_up() {
    if (lookup_ && !session_options_)
        return look_up_failed(no_connection("resolving"), timed_out);
    // A schedule that is not over has messages that were due before.
    if (schedule_ && !catching_up_) {
        catching_up_ = true;
        return time_up_.start(catch_up_time());
    }
    for (const auto& connection : connections_) give_up(*connection);
    count_unsent({});
    finish_all();
}

// Long enough for messages that wait for a connection's replacement, or for a processor.
ev::Duration Crowd::catch_up_time() const {
    static constexpr ev::Duration most = std::chrono::seconds(1);
    return std::min(most, options_.session.reply_timeout);
}

// A connection that is not yet open by the end of the run has failed, but not one that only
// takes the place of another.
void Crowd::give_up(Connection& connection) {
    const State state = connection.session.state();
    if (state != State::dialing && state != State::handshaking) return;
    if (connection.settled) return withdraw(connection);
    result_->count_failure(no_connection(connection.session.phase()), timed_out, false);
    result_->count_end(timed_out, false);
    connection.session.disconnect();
}

std::string Crowd::no_connection(const std::string& phase) const {
    return "no connection within " + duration_text(*options_.length) + " (--max-time): still " +
           phase;
}

// The connection counts neither as failed nor as asked for.
void Crowd::withdraw(Connection& connection) {
    --result_->asked;
    connection.withdrawn = true;
    connection.session.disconnect();
}

// Nor do the times of messages that are overdue by now.
void Crowd::void_round_trips() {
    resumed_at_ = loop_.now();
    for (const auto& connection : connections_) connection->session.void_round_trips();
}

// --- Replies come.

// The round trip counts from when the message was due, not from when the peer took it; but one
// of a recording from when it was written, as it was recorded.
void Crowd::answered(Connection& connection, const Message& message, const Reply& reply) {
    Reply counted = reply;
    if (connection.replayer && !message.late) connection.replayer->left_flight(message);
    if (connection.replayer && message.late && !message.expected) result_->revoke_silence();
    if (counted.round_trip && !connection.replayer)
        *counted.round_trip += message.sent - message.planned;
    result_->count_answered({reply.right, message.late, counted.round_trip}, loop_.now());
    if (result_->datagrams)
        result_->count_datagram(connection.jitter, reply.out_of_order, reply.round_trip);
    if (recent_ && counted.round_trip) recent_->record(*counted.round_trip);
    if (observer_) observer_->answered(connection.number, message, counted);
    if (!reply.right && result_->wrong_sentence.empty()) note_mismatch(message, reply);
}

// A message that got no reply when it was recorded is lost as before.
void Crowd::lost(Connection& connection, const Message& message) {
    if (connection.replayer) connection.replayer->left_flight(message);
    if (leaving_) return;
    const bool as_before = connection.replayer && !message.expected;
    if (as_before) result_->count_silence();
    if (!as_before) result_->count_lost();
    if (observer_) observer_->lost(connection.number, message);
}

void Crowd::unsolicited(const Connection& connection, std::string_view payload) {
    result_->count_unsolicited();
    if (observer_) observer_->unsolicited(connection.number, payload);
}

// --- A recording is said again.

void Crowd::said_again(Connection& connection, Queued queued) {
    count_call();
    result_->count_sent(queued.count, loop_.now());
    connection.sent += queued.count;
}

void Crowd::compared(const Connection& connection, Replayer::Unsolicited kind,
                     std::string_view payload) {
    if (kind == Replayer::Unsolicited::as_before) result_->count_recurred();
    if (kind == Replayer::Unsolicited::unrecorded) result_->count_unrecorded();
    if (kind == Replayer::Unsolicited::missing) result_->count_missing();
    if (observer_) observer_->compared(connection.number, kind, payload);
}

void Crowd::recording_failed(const std::string& trouble) {
    result_->count_failure(trouble, usage_error, true);
    result_->count_end(usage_error, true);
}

void Crowd::note_mismatch(const Message& message, const Reply& reply) {
    const std::string hint =
        options_.recording ? "" : mismatch_hint(message.payload, reply.payload);
    const std::string other = options_.recording ? "the recorded one" : "its message";
    result_->wrong_sentence = "a reply differs from " + other + " at byte " +
                              std::to_string(reply.difference) +
                              (hint.empty() ? "" : "; " + hint);
}

}  // namespace yodel
