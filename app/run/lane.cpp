#include "app/run/lane.hpp"

#include "app/text/exit_status.hpp"
#include "app/text/units.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace yodel {

using bufio::By;
using bufio::Reason;
using State = Session::State;

namespace {

// Limits per turn of the loop, so that replies are read in between.
constexpr unsigned connections_per_turn = 64;
constexpr unsigned messages_per_turn = 256;

// Window for a server whose reply is overdue. It fills the system's buffers, which soon shows
// whether the server reads at all.
constexpr std::size_t overdue_window = 64 * 1024;  // messages, unless they are coalesced
constexpr std::size_t overdue_window_bytes = 4 * 1024 * 1024;

// Limit of the datagrams in flight, in bytes including the system's overhead for each. They fit
// into the usual socket buffer; more would be dropped.
constexpr std::size_t max_datagram_bytes_in_flight = 128 * 1024;
constexpr std::size_t datagram_overhead = 1024;

// Window for `raw` if the shortest round trip is below `near_time`. It fits into the
// processor's caches. A slower link needs the full window to stay busy.
constexpr std::size_t near_window = 2;
constexpr ev::Duration near_time = std::chrono::milliseconds(1);

// Queued bytes above which a peer counts as blocked.
constexpr std::size_t peer_high_water = 256 * 1024;

// Maximum bytes in flight on one connection, and on all together. Messages in flight are
// buffered until their replies arrive.
constexpr std::size_t max_bytes_in_flight = 8 * 1024 * 1024;
constexpr std::size_t max_total_bytes_in_flight = 256 * 1024 * 1024;

// On each connection, this many bytes and one message are allowed in any case.
constexpr std::size_t min_bytes_in_flight = 64 * 1024;

// Maximum number of payload bytes shown of a bad reply.
constexpr std::size_t shown_bytes = 256;

// Extra time at the end to send overdue messages, which waited for a connection or a processor.
constexpr ev::Duration max_catch_up = std::chrono::seconds(1);

// Returns "reply 3 differs from its message at byte 4 (expected o, got n)" or "reply 3 does not
// match "^OK": ERR unknown", either may be followed by a hint.
std::string bad_reply_text(const Message& message, const Reply& reply,
                           const Session::Options& options) {
    const std::string which = "reply " + std::to_string(message.id);
    const bool given = options.expect == Expect::given;
    const std::string hint = given ? "" : reply_hint(*options.framing, message.payload, reply);
    const std::string end = hint.empty() ? "" : "; " + hint;
    if (!reply.difference)
        return which + " does not match " + in_quotes(options.pattern->text()) + ": " +
               excerpt(reply.payload.substr(0, shown_bytes), reply.payload.size()) + end;
    return which + " differs from " + (given ? "the recording" : "its message") + " " +
           bad_byte_text(reply) + end;
}

Event outgoing_event(Fate fate, std::uint64_t id, std::size_t count, const Outgoing& message,
                     ev::Time now) {
    Event event{.fate = fate, .at = now, .count = count};
    event.message = {.id = id,
                     .payload = message.payload,
                     .planned = message.planned == ev::Time{} ? now : message.planned,
                     .sent = now};
    event.unterminated = message.unterminated;
    return event;
}

}  // namespace

class Lane::Connection final : public Session::Owner, public Source::Owner {
public:
    Connection(Lane& lane, std::size_t its_number)
        : session(lane.loop_, lane.options_of(*this), *this),
          private_source(lane.options_.source ? lane.options_.source(lane.loop_, session, *this)
                                              : nullptr),
          number(static_cast<std::uint32_t>(its_number)),
          lane_(lane) {
        if (lane.options_.lifetime)
            lifetime_timer = ev::Timer(lane.loop_, [this] {
                // No connection is replaced before the run begins.
                if (!lane_.begun() && !lane_.over())
                    return lifetime_timer.start(*lane_.options_.lifetime);
                worn = true;
                lane_.advance_connection(*this);
            });
    }

    Session session;
    const std::unique_ptr<Source> private_source;  // or null to share the lane's
    std::uint64_t sent = 0;                        // messages on the current connection
    ev::Timer lifetime_timer;                      // end of its lifetime, if limited
    const std::uint32_t number;                    // from 1
    State reported_state = State::idle;
    bool settled = false;  // it was ever open, or failed
    bool opened = false;   // the current connection is or was open
    bool worn = false;     // to be replaced, until the replacement is open or has failed
    bool trouble_reported = false;
    bool reply_overdue = false;  // a reply is overdue, and none has arrived since

    Source& source() const { return private_source ? *private_source : *lane_.generated_; }

    void report_trouble() {
        if (private_source && !trouble_reported)
            trouble_reported = lane_.report_trouble(*private_source);
    }

private:
    void session_changed() override {
        if (reported_state != session.state()) lane_.state_changed(*this);
        source_changed();
    }
    void session_event(const Event& event) override { lane_.happened(*this, event); }

    void source_changed() override {
        // A client of ours may stay for any time after the input has failed.
        if (lane_.options_.session.listens()) report_trouble();
        if (reported_state == State::open) lane_.advance_connection(*this);
        if (lane_.owner_) lane_.owner_->lane_handled();
    }
    void source_missed(std::string_view payload) override {
        lane_.report(*this, received_event(Fate::missing, payload));
    }

    Lane& lane_;
};

Lane::Lane(ev::Loop& loop, const RunOptions& options, std::size_t thread, Hooks hooks,
           Owner* owner)
    : loop_(loop),
      options_(options),
      share_{thread, options.threads, options.connections},
      hooks_(std::move(hooks)),
      owner_(owner),
      results_(std::make_unique<RunResults>()),
      step_timer_(loop, [this] { step(); }),
      phase_timer_(loop, [this] { time_up(); }) {
    connecting_.timer =
        ev::Timer(loop, [this] { connecting_.session_options ? connect_due() : look_up(); });
    results_->over_datagrams = options.session.endpoint.udp;
    results_->probe = options.probe;
    if (options.samples_from) results_->samples.emplace(*options.samples_from);
    if (options.pace && options.pace->climbs())
        results_->climb = RunResults::Climb{.from = options.pace->rate(),
                                            .to = options.pace->rate(*options.length),
                                            .length = *options.length};
    if (options.session.expect == Expect::given) results_->is_replay = true;
    if (options.lines)
        generated_ =
            std::make_unique<LineSource>(loop, *options.lines, [this] { sources_changed(); });
    else if (options.messages)
        generated_ = std::make_unique<KeptSource>(options.messages, share_);
    else if (!options.source)
        generated_ = std::make_unique<Generator>(options.size);
    connections_.reserve(share_.own_connection_count());
    connecting_.timer.start(ev::Duration::zero());
    limit_connecting(loop.now());
}

Lane::~Lane() = default;

// --- Connecting.

// Looks up the name once for all connections, on another thread. A single connection looks it
// up itself, in each attempt.
void Lane::look_up() {
    const bufio::Endpoint& endpoint = options_.session.endpoint;
    if (options_.connections == 1 && !options_.churns()) {
        connecting_.session_options = std::make_shared<Session::Options>(options_.session);
        return connect_due();
    }
    const bufio::LookupResult local = bufio::resolve_without_network(endpoint);
    if (!local.addresses.empty() || !local.error.empty()) return looked_up(local);
    connecting_.lookup.emplace(loop_, endpoint,
                               [this](const auto& result) { looked_up(result); });
}

void Lane::looked_up(const bufio::LookupResult& result) {
    if (over()) return;
    if (result.addresses.empty())
        return fail_all({Reason::lookup, By::system, "cannot resolve",
                         options_.session.endpoint.dialed().text() + ": " + result.error});
    auto options = std::make_shared<Session::Options>(options_.session);
    options->endpoint.known_addresses =
        std::make_shared<const std::vector<bufio::Address>>(result.addresses);
    connecting_.session_options = std::move(options);
    connecting_.since = loop_.now();
    connect_due();
}

void Lane::fail_all(const bufio::End& end) {
    results_->attempts += share_.own_connection_count();
    results_->count_failure(end_text(end, options_.session, nullptr), exit_status(end), false,
                            share_.own_connection_count());
    results_->count_end(exit_status(end), false);
    finish_all();
}

void Lane::connect_due() {
    if (options_.repeat && !connections_.empty()) return reconnect(*connections_.front());
    const auto next = [this] {
        if (!options_.connect_pace) return connecting_.since;
        return connecting_.since +
               options_.connect_pace->offset(share_.number_of(connections_.size()));
    };
    for (unsigned i = 0; i < connections_per_turn && next() <= loop_.now(); ++i) {
        const std::size_t number = share_.number_of(connections_.size()) + 1;
        Connection& connection =
            *connections_.emplace_back(std::make_unique<Connection>(*this, number));
        connection.session.pause(paused_);
        begin_attempt(connection);
        connection.session.connect();
        if (connections_.size() == share_.own_connection_count())
            return limit_connecting(loop_.now());
    }
    connecting_.timer.start_at(std::max(next(), loop_.now()));
    limit_connecting(connecting_.timer.deadline());
}

// Stops connecting when --max-time has passed since this time, or since the requested start if
// that is later.
void Lane::limit_connecting(ev::Time since) {
    if (!options_.length || stage_ != Stage::settling) return;
    phase_timer_.start_at(std::max(options_.start.value_or(since), since) + *options_.length);
}

// Each session of a replay has its own options, which refer to its own source.
std::shared_ptr<const Session::Options> Lane::options_of(Connection& connection) {
    if (options_.session.expect != Expect::given) return connecting_.session_options;
    auto to = std::make_shared<Session::Options>(*connecting_.session_options);
    to->expected_unsolicited = [&connection](std::string_view payload) {
        return connection.source().expects(payload);
    };
    return to;
}

void Lane::begin_attempt(Connection& connection) {
    connection.opened = false;
    connection.sent = 0;
    ++results_->attempts;
    if (options_.probe && !results_->first_sent) results_->first_sent = loop_.now();
}

// --- State changes.

void Lane::state_changed(Connection& connection) {
    const State before = std::exchange(connection.reported_state, connection.session.state());
    if (before == State::open && connection.lifetime_timer) connection.lifetime_timer.cancel();
    // A due message may wait for a connection. The loop sends it after this call.
    if (schedule_ && !over() && !step_timer_.pending()) step_timer_.start(ev::Duration::zero());
    if (before == State::waiting && connection.reported_state == State::dialing)
        begin_attempt(connection);
    if (connection.reported_state == State::open) return opened(connection);
    if (connection.reported_state == State::waiting ||
        connection.reported_state == State::closed)
        ended(connection, before == State::waiting);
}

void Lane::opened(Connection& connection) {
    ++count_.open;
    connection.worn = false;
    const Session::Phases& phases = connection.session.phases();
    const bufio::TlsFacts* const tls = connection.session.tls();
    results_->count_opened(phases.tcp, phases.handshake, tls && tls->resumed, tls);
    if (options_.probe) results_->last_answered = loop_.now();
    if (connection.lifetime_timer) connection.lifetime_timer.start(*options_.lifetime);
    connection.opened = true;
    if (owner_) owner_->lane_opened(connection.number, connection.session);
    if (results_->unverified_remark.empty())
        results_->unverified_remark = unverified_remark({}, tls);
    settle(connection);
}

// The connection is closed or waits for a retry. `counted`: its last attempt was counted when
// it began to wait.
void Lane::report_end(const Connection& connection) {
    const Session& session = connection.session;
    bufio::End end = session.end();
    const int status = exit_status(end);
    // The same sentence for all, without counts.
    if (end.reason == Reason::closed_early && options_.connections > 1)
        end = {end.reason, end.by, session.options().early_close};
    if (status != 0 || end.reason == Reason::unclosed)
        results_->count_failure(end_text(end, session.options(), session.tls()), status,
                                connection.opened);
    const auto facts = connection.opened ? session.tcp() : std::nullopt;
    if (facts) results_->add_tcp(*facts);
    if (connection.opened) --count_.open;
    if (owner_) owner_->lane_ended(connection.number, session);
}

void Lane::ended(Connection& connection, bool counted) {
    Session& session = connection.session;
    Source& source = connection.source();
    const bool waits = session.state() == State::waiting;
    const int status = exit_status(session.end());
    if (!waits) source.closed();
    if (!counted) report_end(connection);
    if (waits) {
        connection.worn = false;
        if (count_.settled > 0) settle(connection);
        // Give up retrying if nothing is left to send.
        const bool idle = source.over() && !source.ends_sending() && session.in_flight() == 0;
        if (over() || idle) session.disconnect();
        return;
    }
    connection.report_trouble();
    results_->count_end(status, connection.opened);
    connection.worn =
        connection.worn && connection.opened && status == 0 && !over() && !source.over();
    ++count_.gone;
    settle(connection);
    if (connection.worn) return reconnect(connection);
    if (options_.repeat && !over() && results_->attempts != options_.count)
        connecting_.timer.start_at(
            std::max(connecting_.timer.deadline() + *options_.repeat, loop_.now()));
    end_if_done();
}

void Lane::reconnect(Connection& connection) {
    --count_.gone;
    connection.reported_state = State::idle;
    begin_attempt(connection);
    connection.session.connect();
}

bool Lane::report_trouble(const Source& source) {
    const Trouble trouble = source.trouble();
    if (trouble.text.empty()) return false;
    results_->count_failure(trouble.text, trouble.status, true);
    results_->count_end(trouble.status, true);
    return true;
}

// The lane becomes ready when all connections have settled (open loop), or one is open (closed
// loop).
void Lane::settle(Connection& connection) {
    if (!std::exchange(connection.settled, true)) ++count_.settled;
    if (stage_ != Stage::settling) return;
    if (options_.pace ? count_.settled < share_.own_connection_count() : open() == 0) return;
    stage_ = Stage::ready;
    phase_timer_.cancel();  // the limit for connecting
    hooks_.ready();
}

void Lane::end_if_done() {
    const bool more = !over() && (connections_.size() < share_.own_connection_count() ||
                                  connecting_.timer.pending());
    if (count_.gone < connections_.size() || more || stage_ == Stage::ended) return;
    if (!over()) count_unsent({});
    stop_sending(Stage::ended);
    step_timer_.start(ev::Duration::zero());
}

// The callback may destroy the lane.
void Lane::step() {
    if (stage_ == Stage::ended) {
        const std::function<void()> done = hooks_.done;
        return done();
    }
    if (schedule_) return send_due();
    begin();
}

// --- Sending.

void Lane::begin_at(ev::Time time) {
    if (begun() || over()) return;
    stage_ = Stage::ready;
    phase_timer_.cancel();
    step_timer_.start_at(std::max(options_.start.value_or(time), time));
    if (!options_.pace && step_timer_.deadline() <= loop_.now()) begin();
}

// Begins the warm-up, if any, and is called again at its end. Planned times count from the
// requested start, not from when the timer fired.
void Lane::begin() {
    const ev::Time start = step_timer_.deadline();
    step_timer_.cancel();
    const bool first = !begun();
    if (options_.start && first) results_->late_start = start - *options_.start;
    const bool warm_up = first && options_.warm_up;
    measured_from_ = options_.pace ? start : loop_.read_clock();
    if (warm_up)
        measured_from_ = start + *options_.warm_up;
    else
        // The times of a replay count from the turn of the loop, which began earlier.
        results_->measured_from =
            options_.pace || options_.warm_up ? measured_from_ : ev::Time{};
    const std::optional<ev::Duration> length = warm_up ? options_.warm_up : options_.length;
    const std::uint64_t count = warm_up ? 0 : options_.count;
    if (length && !warm_up) phase_timer_.start_at(start + *length);
    if (options_.pace) {
        last_planned_place_ = connections_.size() - 1;
        const Pace& pace = *options_.pace;
        schedule_.emplace(Schedule::Options{.pace = warm_up ? pace.steady() : pace,
                                            .seed = options_.seed,
                                            .count = count,
                                            .length = length,
                                            .share = share_},
                          start);
        return send_due();
    }
    if (warm_up) step_timer_.start_at(measured_from_);
    if (count > 0 && generated_) generated_->end_after(share_.own_message_count(count));
    sources_changed();
}

void Lane::sources_changed() {
    if (schedule_ && !over()) return send_due();
    for (const auto& connection : connections_)
        if (connection->reported_state == State::open) advance_connection(*connection);
}

void Lane::advance_connection(Connection& connection) {
    if (!begun() && !over()) return;
    Source& source = connection.source();
    while (!over() && !options_.pace && accepts_more(connection) &&
           window_has_space(connection)) {
        const std::optional<Outgoing> message = source.next();
        if (!message || !send(connection, *message)) break;
    }
    connection.session.flush();
    finish_if_done(connection);
}

// Returns true if the peer is not blocked and the memory limits allow another message.
bool Lane::accepts_more(const Connection& connection) const {
    const Session& session = connection.session;
    if (connection.reported_state != State::open || session.state() != State::open)
        return false;
    if (connection.worn) return false;
    const bool streaming = options_.source && !options_.window;  // a longer queue is no faster
    if (session.pending() >= (streaming ? input_high_water : peer_high_water)) return false;
    const std::size_t share = std::max(max_total_bytes_in_flight / options_.connections,
                                       min_bytes_in_flight + options_.size);
    return session.in_flight_bytes() < std::min(max_bytes_in_flight, share);
}

// Returns true if the window allows another message.
bool Lane::window_has_space(const Connection& connection) const {
    const Session& session = connection.session;
    const std::size_t count = session.in_flight();
    if (options_.window) return count < *options_.window;
    const std::size_t bytes = session.in_flight_bytes();
    if (session.lossy())
        return count == 0 || (count < default_window &&
                              bytes + count * datagram_overhead < max_datagram_bytes_in_flight);
    const bool few = session.options().coalesce || count < overdue_window;
    if (connection.reply_overdue && few && bytes < overdue_window_bytes) return true;
    if (session.options().framing->has_frames() || !options_.source)
        return count < default_window || (options_.source && bytes < default_window_bytes);
    return count < (results_->round_trips.min() < near_time ? near_window : default_window);
}

// A message that waits, also for a line of standard input, keeps its planned time, so that its
// round trip includes the wait.
void Lane::send_due() {
    for (unsigned i = 0; i < messages_per_turn; ++i) {
        const auto message = schedule_->due(loop_.now());
        if (!message) break;
        // Send on the connection in turn or, if it is not open, on the next open one.
        const std::size_t place = (last_planned_place_ + 1) % connections_.size();
        const std::optional<std::size_t> open_place = next_open(place);
        // Wait for a replacement connection.
        if (options_.churns() && !open_place &&
            std::any_of(connections_.begin(), connections_.end(),
                        [](const auto& each) { return each->worn; }))
            return;
        std::optional<Outgoing> next = generated_->next();
        if (!next) return generated_->over() ? finish_all() : step_timer_.cancel();
        schedule_->pass(loop_.now());
        next->planned = message->planned;
        last_planned_place_ = open_place.value_or(place);
        Connection& connection = *connections_[last_planned_place_];
        if (accepts_more(connection))
            send(connection, *next);
        else
            leave_unsent(connection, *next);
    }
    if (!schedule_->over()) return step_timer_.start_at(schedule_->next_time());
    if (!warming_up()) return finish_all();
    schedule_.reset();
    step_timer_.start_at(measured_from_);
}

// Starting at `place`, searches for a connection that is open and not worn out.
std::optional<std::size_t> Lane::next_open(std::size_t place) const {
    const std::size_t count = connections_.size();
    for (std::size_t i = 0; i < count && open() > 0; ++i) {
        const std::size_t next = (place + i) % count;
        const Connection& connection = *connections_[next];
        if (connection.reported_state == State::open && !connection.worn) return next;
    }
    return std::nullopt;
}

bool Lane::send(Connection& connection, const Outgoing& message) {
    Session& session = connection.session;
    const QueuedIds queued =
        message.reserved ? session.send_reserved(message.payload.size())
                         : session.send(message.payload, message.planned, message.reply);
    if (!queued) {
        leave_unsent(connection, message);
        return false;
    }
    // A closed loop begins between two turns.
    const ev::Time now = warming_up() ? loop_.now() : std::max(loop_.now(), measured_from_);
    report(connection, outgoing_event(Fate::sent, queued.first, queued.count, message, now));
    connection.sent += queued.count;
    if (options_.churn > 0 && connection.sent >= options_.churn) connection.worn = true;
    connection.source().sent(message, queued);
    if (message.planned == ev::Time{}) return true;
    session.flush();
    results_->at(message.planned, [&](Results& to) {
        to.lateness.record(session.flushed_at() - message.planned);
    });
    if (message.planned < resumed_at_) session.void_round_trips();
    return true;
}

void Lane::leave_unsent(Connection& connection, const Outgoing& message) {
    const Session& session = connection.session;
    const std::size_t waiting = std::max(session.pending(), session.in_flight_bytes());
    if (results_->unsent_sentence.empty())
        results_->unsent_sentence = "a message was not sent, because " +
                                    (session.state() == State::open
                                         ? bytes_text(waiting) + " were waiting for the server"
                                         : "no connection was open");
    report(connection, outgoing_event(Fate::unsent, connection.session.reserve_id(), 1, message,
                                      loop_.now()));
}

void Lane::finish_if_done(Connection& connection) {
    const bool now = over() || connection.worn;
    if (!now && !connection.source().over()) return;
    if (connection.session.in_flight() > 0 && !connection.source().ends_sending()) return;
    connection.session.finish();
}

void Lane::pause(bool paused) {
    paused_ = paused;
    for (const auto& connection : connections_) connection->session.pause(paused);
}

// --- Ending.

// Stops sending for good. Adds this lane's share of the planned rate to the results.
void Lane::stop_sending(Stage next) {
    if (stage_ == Stage::ended) return;  // step() will report it
    if (!over() && generated_) report_trouble(*generated_);
    if (!over() && schedule_ && !warming_up()) {
        const double share = static_cast<double>(share_.own_connection_count()) /
                             static_cast<double>(options_.connections);
        const ev::Duration end = options_.length.value_or(ev::Duration::max());
        const ev::Duration sending = std::min(schedule_->next_time() - measured_from_, end);
        results_->end_climb(sending);
        const double planned = options_.pace->rate(sending / 2) * share;
        results_->planned_rate = planned;
        results_->reached_rate = planned * schedule_->reached_share().value_or(1);
    }
    stage_ = std::max(stage_, next);
    connecting_.lookup.reset();
    for (ev::Timer* timer : {&connecting_.timer, &step_timer_, &phase_timer_}) timer->cancel();
}

void Lane::count_unsent(ev::Duration tolerance) {
    const std::uint64_t overdue = schedule_ ? schedule_->overdue(loop_.now() - tolerance) : 0;
    if (overdue == 0) return;
    results_->at(schedule_->next_time(), [&](Results& to) { to.unsent += overdue; });
    if (results_->unsent_sentence.empty())
        results_->unsent_sentence = "an overdue message was not sent before the run ended";
}

// When the user ends the run, messages that have only just become due do not count as unsent.
void Lane::finish() {
    if (!over()) count_unsent(tolerated_lateness);
    stop_connecting(false);
    finish_all();
}

void Lane::close() { finish_all(Stage::closing); }

void Lane::finish_all(Stage next) {
    stop_sending(next);
    for (const auto& connection : connections_) {
        connection->source().stop();
        if (stage_ >= Stage::closing || connection->reported_state == State::waiting)
            connection->session.disconnect();
        finish_if_done(*connection);
    }
    end_if_done();
}

void Lane::time_up() {
    if (!connecting_.session_options) return fail_all(no_connection("resolving"));
    // A schedule that is not over still contains overdue messages.
    if (schedule_) {
        const ev::Time last = measured_from_ + *options_.length +
                              std::min(max_catch_up, options_.session.reply_timeout);
        if (loop_.now() < last) return phase_timer_.start_at(last);
    }
    // In a probe, the last attempts have only just begun, so they get their connect timeout.
    if (!options_.probe || stage_ == Stage::settling) stop_connecting(true);
    count_unsent({});
    finish_all();
}

bufio::End Lane::no_connection(const std::string& phase) const {
    return {Reason::timeout, By::us, "no connection within",
            duration_text(*options_.length) + " (--max-time): still " + phase};
}

// Cancels all attempts to connect. If the time is up, each connection that was neither open
// nor failed before has failed. All other attempts count neither as made nor as failed.
void Lane::stop_connecting(bool time_is_up) {
    for (const auto& connection : connections_) {
        Session& session = connection->session;
        if (session.state() != State::dialing && session.state() != State::handshaking)
            continue;
        if (time_is_up && !connection->settled) {
            session.disconnect(no_connection(session.phase()));
            continue;
        }
        session.disconnect();
        --results_->attempts;
    }
}

// Also excludes messages that are already overdue.
void Lane::void_round_trips() {
    resumed_at_ = loop_.now();
    for (const auto& connection : connections_) connection->session.void_round_trips();
}

// --- Events.

// Counts the event, and passes it to the owner, unless it is about a message of the warm-up.
void Lane::report(Connection& connection, Event event) {
    event.connection = connection.number;
    if (event.at == ev::Time{}) event.at = loop_.now();
    if (event.fate != Fate::read) results_->add(event);
    if (owner_ && !results_->is_warm_up(event)) owner_->lane_event(event);
}

// Measures round trips from the planned times, unless the connection has its own source.
void Lane::happened(Connection& connection, Event event) {
    const Message& message = event.message;
    Reply& reply = event.reply;
    const Session::Options& options = connection.session.options();
    if (event.fate == Fate::lost) return lost(connection, event);
    if (has_message(event.fate)) {
        connection.reply_overdue = false;
        if (!message.late && event.frames.empty()) connection.source().left_flight(message);
        if (!reply.right && results_->reply_problem_sentence.empty())
            report_reply_problem(connection, bad_reply_text(message, reply, options));
        if (options.expect == Expect::given && event.fate == Fate::echoed)
            event.fate = Fate::as_recorded;
        if (reply.round_trip && generated_) *reply.round_trip += message.sent - message.planned;
    }
    if (event.fate == Fate::stale) report_reply_problem(connection, stale_text(reply.payload));
    if (event.fate == Fate::duplicate && !results_->over_datagrams)
        report_reply_problem(connection, "the server sent a duplicate reply");
    if (event.fate == Fate::unsolicited)
        event.fate = connection.source().judge_unsolicited(reply.payload);
    report(connection, event);
}

void Lane::report_reply_problem(const Connection& connection, const std::string& text) {
    const std::string which = "connection " + std::to_string(connection.number) + ": ";
    if (results_->reply_problem_sentence.empty())
        results_->reply_problem_sentence = (options_.connections > 1 ? which : "") + text;
}

// In a replay, a message without a recorded reply expects none.
void Lane::lost(Connection& connection, Event event) {
    const Message& message = event.message;
    connection.reply_overdue = message.late;
    connection.source().left_flight(message);
    if (stage_ >= Stage::closing) return;
    const bool as_recorded = options_.session.expect == Expect::given && !message.expected;
    const bool explained = !message.late && exit_status(connection.session.end()) != 0;
    if (!as_recorded && !explained && results_->lost_sentence.empty())
        results_->lost_sentence = remark(event);
    if (as_recorded) event.fate = Fate::unanswered_as_recorded;
    report(connection, event);
}

}  // namespace yodel
