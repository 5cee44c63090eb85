#include "app/run/lane.hpp"

#include "app/text/exit_status.hpp"
#include "app/text/units.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace yodel {

using bufio::By;
using bufio::Reason;
using From = RunOptions::From;
using State = Session::State;

namespace {

// Maximum number of connections opened, and of planned messages sent, before the loop's next
// turn, so that replies are read in between.
constexpr unsigned connections_per_turn = 64;
constexpr unsigned messages_per_turn = 256;

// Window for a server whose reply is overdue. It fills the system's buffers, which soon shows
// whether the server reads at all.
constexpr std::size_t overdue_window = 64 * 1024;  // messages; no limit if they are coalesced
constexpr std::size_t overdue_window_bytes = 4 * 1024 * 1024;

// Default limit of the datagrams in flight, in bytes including the system's overhead for each.
// They fit into the usual socket buffer; more would be dropped.
constexpr std::size_t max_datagram_bytes_in_flight = 128 * 1024;
constexpr std::size_t datagram_overhead = 1024;

// Window for `raw` if the shortest round trip is below `near_time`. It fits into the
// processor's caches. A slower link needs the full window to stay busy.
constexpr std::size_t near_window = 2;
constexpr ev::Duration near_time = std::chrono::milliseconds(1);

// A peer counts as blocked if this number of bytes is queued for it.
constexpr std::size_t peer_high_water = 256 * 1024;

// Limits of the bytes in flight, on one connection and in total. Each connection has an equal
// share of the total. At its limit or its share, it sends no further message. Messages in
// flight are buffered until they are answered or lost.
constexpr std::size_t max_bytes_in_flight = 8 * 1024 * 1024;
constexpr std::size_t max_total_bytes_in_flight = 256 * 1024 * 1024;

// Bytes that each connection may always have in flight, in addition to one message.
constexpr std::size_t min_bytes_in_flight = 64 * 1024;

// Maximum number of payload bytes shown of a bad reply.
constexpr std::size_t shown_bytes = 256;

// Maximum extra time to send overdue messages, which waited for a connection or a processor.
constexpr ev::Duration max_catch_up = std::chrono::seconds(1);

// Returns "reply 3 differs from its message at byte 4 (expected o, got n)" or "reply 3 does not
// match "^OK": ERR unknown", perhaps with a hint, or a sentence about a stale reply or a
// stream's duplicate. Returns an empty text for other events. The reply must not be right.
std::string reply_problem(const Event& event, const Session::Options& options) {
    const Message& message = event.message;
    const Reply& reply = event.reply;
    if (event.fate == Fate::stale) return stale_text(reply.payload);
    if (event.fate == Fate::duplicate && !options.endpoint.is_udp)
        return "the server sent a duplicate reply";
    if (!has_message(event.fate) || !has_reply(event.fate)) return "";
    const std::string which = "reply " + std::to_string(message.id);
    const bool is_given = options.expect == Expect::given;
    const std::string hint =
        is_given ? "" : reply_hint(*options.framing, message.payload, reply);
    const std::string end = hint.empty() ? "" : "; " + hint;
    if (!reply.difference)
        return which + " does not match " + in_quotes(options.pattern->text()) + ": " +
               excerpt(reply.payload.substr(0, shown_bytes), reply.payload.size()) + end;
    return which + " differs from " + (is_given ? "the recording" : "its message") + " " +
           bad_byte_text(reply) + end;
}

}  // namespace

class Lane::Connection final : public Session::Owner {
    Lane& lane_;
    const RunOptions& options_;  // the lane's
    RunResults& results_;        // the lane's

public:
    Connection(Lane& lane, std::size_t its_number)
        : lane_(lane),
          options_(lane.options_),
          results_(lane.results_),
          session(lane.loop_, lane.session_options_, *this),
          own_source(make_source()),
          number(static_cast<std::uint32_t>(its_number)) {
        if (options_.lifetime)
            lifetime_timer = ev::Timer(lane.loop_, [this] {
                // No connection is replaced before the run begins.
                if (lane_.stage_ < Stage::sending)
                    return lifetime_timer.start(*options_.lifetime);
                is_worn = true;
                advance();
            });
    }

    Session session;
    const std::unique_ptr<Source> own_source;  // null if the lane's source is shared
    std::uint64_t sent = 0;                    // messages on the current connection
    ev::Timer lifetime_timer;                  // empty if lifetimes are unlimited
    const std::uint32_t number;                // from 1
    State reported_state = State::idle;
    bool is_settled = false;      // it opened or closed, or it failed after another settled
    bool has_opened = false;      // the current connection is or was open
    bool is_worn = false;         // to be replaced, until the replacement is open or has failed
    bool is_out_of_time = false;  // the run's time was up before the connection had settled
    bool has_overdue_reply = false;  // a reply is overdue, and none has arrived since

    Source& source() const { return own_source ? *own_source : *lane_.source_; }
    bool is_source_over() const { return lane_.left_count_ == 0 || source().is_over(); }
    // Returns true if our sending side must be closed as soon as the source ends, even if
    // replies are outstanding, because some services reply only after EOF.
    bool closes_with_source() const {
        return options_.from == From::input && options_.connections == 1;
    }

    bool is_open() const { return reported_state == State::open; }
    bool is_usable() const { return is_open() && !is_worn; }

    // Connects a new connection, or a closed one.
    void connect() {
        ++lane_.live_count_;
        begin_attempt();
        session.connect();
        reported_state = session.state();
    }

    void begin_attempt() {
        has_opened = false;
        sent = 0;
        ++results_.attempts;
        if (options_.is_probe && !results_.first_sent_at)
            results_.first_sent_at = lane_.loop_.now();
    }

    void advance() {
        if (lane_.stage_ < Stage::sending) return;
        while (!lane_.is_over() && !options_.pace && lane_.left_count_ > 0 && accepts_more() &&
               window_has_space()) {
            const std::optional<Outgoing> message = source().next();
            if (!message || !send(*message)) break;
        }
        session.flush();
        finish_if_done();
    }

    // Returns true if the connection is open and not worn out, the peer is not blocked, and the
    // memory limits allow another message. Returns false in a probe.
    bool accepts_more() const {
        if (!is_usable() || session.state() != State::open || options_.is_probe) return false;
        const bool is_streaming =
            own_source && !options_.window;  // a longer queue is no faster
        if (session.pending() >= (is_streaming ? pipe_high_water : peer_high_water))
            return false;
        const std::size_t share = std::max(max_total_bytes_in_flight / options_.connections,
                                           min_bytes_in_flight + options_.size);
        return session.in_flight_bytes() < std::min(max_bytes_in_flight, share);
    }

    bool send(const Outgoing& message) {
        const QueuedIds queued =
            message.is_reserved
                ? session.send_reserved(message.payload.size())
                : session.send(message.payload, message.planned_at, message.reply);
        if (!queued) {
            leave_unsent(message);
            return false;
        }
        report_outgoing(Fate::sent, queued, message);
        sent += queued.count;
        if (options_.churn > 0 && sent >= options_.churn) is_worn = true;
        source().sent(message, queued);
        if (message.planned_at == ev::Time{}) return true;
        session.flush();
        results_.change_at(message.planned_at, [&](Results& to) {
            to.lateness.record(session.flushed_at() - message.planned_at);
        });
        return true;
    }

    void leave_unsent(const Outgoing& message) {
        const std::size_t waiting = std::max(session.pending(), session.in_flight_bytes());
        if (results_.unsent_sentence.empty())
            results_.unsent_sentence =
                "a message was not sent, because " +
                (session.state() == State::open
                     ? bytes_text(waiting) + " were waiting for the server"
                     : "no connection was open");
        report_outgoing(Fate::unsent, {session.reserve_id(), 1}, message);
    }

    void report_outgoing(Fate fate, QueuedIds ids, const Outgoing& message) {
        --lane_.left_count_;
        // If the warm-up of a closed loop has just ended, the loop's time precedes that end.
        const ev::Time now = lane_.is_warming_up()
                                 ? lane_.loop_.now()
                                 : std::max(lane_.loop_.now(), results_.warm_up_ends_at);
        const bool is_planned = message.planned_at != ev::Time{};
        report({.fate = fate,
                .message = {.id = ids.first,
                            .payload = message.payload,
                            .planned_at = is_planned ? message.planned_at : now,
                            .sent_at = now},
                .at = now,
                .count = ids.count,
                .is_unterminated = message.is_unterminated});
    }

    void finish_if_done() {
        if (!lane_.is_over() && !is_worn && !is_work_done()) return;
        if (session.in_flight() > 0 && !closes_with_source()) return;
        session.finish();
    }

    // Counts the event. Passes it to the owner unless it is about a warm-up message.
    void report(Event event) {
        event.connection = number;
        if (event.at == ev::Time{}) event.at = lane_.loop_.now();
        if (event.fate != Fate::read) results_.add(event);
        if (lane_.hooks_.owner && !results_.is_warm_up(event))
            lane_.hooks_.owner->lane_event(event);
    }

private:
    std::unique_ptr<Source> make_source() {
        const auto changed = [this] { source_changed(); };
        if (options_.from == From::recording)
            return std::make_unique<Replay>(lane_.loop_, options_.recording, options_.is_fast,
                                            session, changed, [this](std::string_view payload) {
                                                report(received_event(Fate::missing, payload));
                                            });
        if (options_.from != From::input) return nullptr;
        if (const auto* const kept = static_cast<const Lines*>(lane_.source_.get()))
            return std::make_unique<Generator>(*kept);
        return std::make_unique<Lines>(lane_.loop_,
                                       Lines::Options{.lines = options_.line_options(),
                                                      .session = &session,
                                                      .greeting_wait = options_.greeting_wait},
                                       changed);
    }

    void session_changed() override {
        if (reported_state != session.state()) state_changed();
        source_changed();
    }

    void source_changed() {
        // After the input has failed, an accepted client may stay indefinitely, so the trouble
        // is reported now.
        if (options_.session.listens()) lane_.count_trouble(own_source.get());
        if (is_open()) advance();
    }

    void state_changed() {
        const State before = std::exchange(reported_state, session.state());
        const State now = reported_state;
        if (now != State::open && lifetime_timer) lifetime_timer.cancel();
        // A due message may wait for a connection. The loop sends it after this call.
        if (lane_.schedule_ && !lane_.is_over() && !lane_.step_timer_.pending())
            lane_.step_timer_.start(ev::Duration::zero());
        if (now == State::dialing) begin_attempt();  // a retry
        if (now == State::open) on_opened();
        if (now == State::closed) source().closed();
        if (now != State::waiting && now != State::closed) return;
        // Unless the time was up, the end of a wait was reported when the wait began.
        const bool was_waiting = before == State::waiting;
        if (!was_waiting || is_out_of_time || session.is_out_of_time()) report_end(was_waiting);
        on_ended();
    }

    void on_opened() {
        ++results_.open;
        is_worn = false;
        const Session::Phases& phases = session.phases();
        const bufio::TlsFacts* const tls = session.tls();
        results_.count_opened(phases.tcp, phases.handshake, tls && tls->is_resumed, tls);
        if (options_.is_probe) results_.last_answered_at = lane_.loop_.now();
        if (lifetime_timer) lifetime_timer.start(*options_.lifetime);
        has_opened = true;
        if (lane_.hooks_.owner) lane_.hooks_.owner->lane_opened(number, session);
        if (results_.unverified_remark.empty())
            results_.unverified_remark = unverified_remark({}, tls);
        settle();
    }

    // Counts and reports the end of a connection, of an attempt to connect, or of a wait for a
    // retry.
    void report_end(bool was_waiting) {
        bufio::End end = session.end();
        const int status = exit_status(end);
        const bool was_open = has_opened && !was_waiting;
        if (was_open) --results_.open;
        // Without counts, the sentence is the same for all connections, and is counted once.
        if (end.reason == Reason::closed_early && options_.connections > 1)
            end = {end.reason, end.by, session.options().early_close};
        if (status != 0 || end.reason == Reason::unclosed)
            results_.count_failure(end_text(end, session.options(), session.tls()), status,
                                   was_open || was_waiting);
        const auto facts = was_open ? session.tcp() : std::nullopt;
        if (facts) results_.add_tcp(*facts);
        if (lane_.hooks_.owner)
            lane_.hooks_.owner->lane_ended(number, session, was_open || was_waiting);
    }

    // Allows or prevents a retry. Replaces a worn connection that is closed. In a repeated
    // probe, plans the next connection.
    void on_ended() {
        if (reported_state == State::waiting) {
            is_worn = false;
            if (lane_.settled_count_ > 0) settle();
            const bool is_done =
                is_work_done() && !closes_with_source() && session.in_flight() == 0;
            if (lane_.is_over() || is_done) session.disconnect();
            return;
        }
        --lane_.live_count_;
        lane_.count_trouble(own_source.get());
        const int status = exit_status(session.end());
        results_.record_end(status, has_opened);
        is_worn = is_worn && has_opened && status == 0 && !lane_.is_over() && !is_source_over();
        settle();
        if (is_worn) return connect();
        if (options_.probe_interval && !lane_.is_over() && results_.attempts != options_.count)
            lane_.open_timer_.start_at(std::max(
                lane_.open_timer_.deadline() + *options_.probe_interval, lane_.loop_.now()));
        lane_.end_if_done();
    }

    // In the closed loop, the lane becomes ready when a connection is open. In the open loop,
    // all others must have settled as well. A connection that waits for a retry is not settled
    // until another is, because the service may only be late.
    void settle() {
        if (!std::exchange(is_settled, true)) ++lane_.settled_count_;
        if (lane_.stage_ != Stage::settling || results_.open == 0) return;
        if (options_.pace && lane_.settled_count_ < lane_.share_.own_connection_count()) return;
        lane_.stage_ = Stage::ready;
        lane_.phase_timer_.cancel();  // the limit for connecting
        lane_.hooks_.ready();
    }

    bool window_has_space() const {
        const std::size_t count = session.in_flight();
        if (options_.window) return count < *options_.window;
        const std::size_t bytes = session.in_flight_bytes();
        if (session.is_udp())
            return count == 0 || (count < default_window && bytes + count * datagram_overhead <
                                                                max_datagram_bytes_in_flight);
        const bool is_below_window = session.options().may_coalesce || count < overdue_window;
        if (has_overdue_reply && is_below_window && bytes < overdue_window_bytes) return true;
        const bool has_own_source = own_source != nullptr;
        if (session.options().framing->has_frames() || !has_own_source)
            return count < default_window || (has_own_source && bytes < default_window_bytes);
        return count < (results_.round_trips.min() < near_time ? near_window : default_window);
    }

    // Returns true if nothing is left to send or, in a probe, if the connection has opened and
    // need not stay open. Until then, a probe may retry.
    bool is_work_done() const {
        if (!options_.is_probe) return is_source_over();
        const bool stays = !options_.probe_interval && (options_.length || options_.lifetime);
        return !stays && has_opened && lane_.stage_ >= Stage::sending;
    }

    void session_event(const Event& happened) override {
        Event event = happened;
        const Message& message = event.message;
        Reply& reply = event.reply;
        const Session::Options& options = session.options();
        if (event.fate == Fate::lost) return on_lost(event);
        std::string& problem = results_.reply_problem_sentence;
        if (!reply.is_right && problem.empty()) {
            problem = reply_problem(event, options);
            if (!problem.empty() && options_.connections > 1)
                problem = "connection " + std::to_string(number) + ": " + problem;
        }
        if (has_message(event.fate)) {
            has_overdue_reply = false;
            if (!message.is_late && event.frames.empty()) source().left_flight(message);
            if (options.expect == Expect::given && event.fate == Fate::echoed)
                event.fate = Fate::as_recorded;
            // Round trips of planned messages begin at the planned times.
            if (reply.round_trip && !own_source)
                *reply.round_trip += message.sent_at - message.planned_at;
            if (message.planned_at < lane_.hooks_.timing_begins_at.load())
                reply.round_trip.reset();
        }
        if (event.fate == Fate::unsolicited)
            event.fate = source().judge_unsolicited(reply.payload);
        report(event);
    }

    void on_lost(Event event) {
        const Message& message = event.message;
        has_overdue_reply = message.is_late;
        source().left_flight(message);
        if (lane_.stage_ >= Stage::closing) return;
        // In a replay, a message without a recorded reply expects none.
        const bool is_as_recorded =
            options_.session.expect == Expect::given && !message.expected;
        const bool is_explained = !message.is_late && exit_status(session.end()) != 0;
        if (!is_as_recorded && !is_explained && results_.lost_sentence.empty())
            results_.lost_sentence = remark(event);
        if (is_as_recorded) event.fate = Fate::unanswered_as_recorded;
        report(event);
    }
};

Lane::Lane(ev::Loop& loop, const RunOptions& options, std::size_t thread_number, Hooks hooks)
    : loop_(loop),
      options_(options),
      share_{thread_number, options.threads, options.connections},
      hooks_(std::move(hooks)),
      open_timer_(loop, [this] { open_due(); }),
      step_timer_(loop, [this] { step(); }),
      phase_timer_(loop, [this] { time_up(); }) {
    results_.uses_datagrams = options.session.endpoint.is_udp;
    results_.is_probe = options.is_probe;
    if (options.samples_started_at) results_.samples.emplace(*options.samples_started_at);
    if (options.pace && options.pace->climbs())
        results_.climb = RunResults::Climb{.from = options.pace->rate(),
                                           .to = options.pace->rate(*options.length),
                                           .length = *options.length};
    if (options.from == From::recording) results_.is_replay = true;
    const bool keeps_lines = options.from == From::input && options.connections > 1;
    if (options.from == From::shared_input || keeps_lines)
        source_ = std::make_unique<Lines>(
            loop, Lines::Options{.lines = options.line_options(), .keeps_lines = keeps_lines},
            [this] { sources_changed(); });
    else if (options.messages)
        source_ = std::make_unique<Generator>(options.messages, share_);
    else if (options.from == From::generator)
        source_ = std::make_unique<Generator>(options.size);
    connections_.reserve(share_.own_connection_count());
    limit_connecting(loop.now());
}

Lane::~Lane() = default;

// --- Connecting.

void Lane::connect(const std::shared_ptr<Session::Options>& options) {
    if (is_over()) return;
    if (options_.from == From::recording)  // replayed on a single connection
        options->expects_unsolicited = [this](std::string_view payload) {
            return connections_.front()->source().expects(payload);
        };
    session_options_ = options;
    const std::optional<Pace>& pace = options_.connect_pace;
    open_timer_.start(pace ? pace->offset(share_.thread) : ev::Duration::zero());
    limit_connecting(open_timer_.deadline());
}

void Lane::fail(const bufio::End& end) {
    if (is_over()) return;
    results_.attempts += share_.own_connection_count();
    results_.count_failure(end_text(end, options_.session, nullptr), exit_status(end), false,
                           share_.own_connection_count());
    results_.record_end(exit_status(end), false);
    finish_all();
}

// Sets the time at which a lane that is still settling stops connecting: --max-time after
// `since` or, if later, after the requested start.
void Lane::limit_connecting(ev::Time since) {
    if (!options_.length || stage_ != Stage::settling) return;
    phase_timer_.start_at(std::max(options_.start_at.value_or(since), since) +
                          *options_.length);
}

// Opens connections that are due at their pace or, in a repeated probe, connects again.
void Lane::open_due() {
    if (options_.probe_interval && !connections_.empty()) return connections_[0]->connect();
    const std::optional<Pace>& pace = options_.connect_pace;
    const ev::Time now = loop_.now();
    ev::Time due = open_timer_.deadline();
    for (unsigned i = 0; i < connections_per_turn && due <= now; ++i) {
        const std::size_t number = share_.number_of(connections_.size());
        Connection& connection =
            *connections_.emplace_back(std::make_unique<Connection>(*this, number + 1));
        connection.session.pause(is_paused_);
        connection.connect();
        if (connections_.size() == share_.own_connection_count()) return limit_connecting(now);
        if (pace)
            due += pace->offset(share_.number_of(connections_.size())) - pace->offset(number);
    }
    open_timer_.start_at(due);
    limit_connecting(std::max(due, now));
}

void Lane::pause(bool is_paused) {
    is_paused_ = is_paused;
    for (const auto& connection : connections_) connection->session.pause(is_paused);
}

// Counts the trouble of the lane's input once. The source may be null.
void Lane::count_trouble(const Source* source) {
    const Trouble trouble = source ? source->trouble() : Trouble{};
    if (trouble.text.empty() || std::exchange(is_trouble_reported_, true)) return;
    results_.count_failure(trouble.text, trouble.status, true);
    results_.record_end(trouble.status, true);
}

// Ends the lane once all connections are closed, and no other will be opened.
void Lane::end_if_done() {
    if (stage_ == Stage::ended || live_count_ > 0 || open_timer_.pending()) return;
    if (!is_over()) {
        count_unsent({});
        return finish_all();
    }
    stage_ = Stage::ended;
    step_timer_.start(ev::Duration::zero());
}

void Lane::step() {
    if (stage_ == Stage::ended) return hooks_.done();
    if (schedule_) return send_due();
    begin();
}

// --- Sending.

void Lane::begin_at(ev::Time time) {
    if (stage_ >= Stage::sending) return;
    stage_ = Stage::ready;
    phase_timer_.cancel();
    step_timer_.start_at(std::max(options_.start_at.value_or(time), time));
}

// Begins the warm-up, if any, and is called again at its end to begin the measured messages.
// Planned times count from the time that was set for the timer, not from when it fired.
void Lane::begin() {
    const ev::Time start = step_timer_.deadline();
    const bool is_first = stage_ < Stage::sending;
    if (options_.start_at && is_first) results_.late_start = start - *options_.start_at;
    stage_ = Stage::sending;
    const bool is_warm_up = is_first && options_.warm_up;
    // Planned times in a replay count from the beginning of the loop's turn, which may precede
    // `start`. Without a pace or a warm-up, every message is measured.
    if (!is_warm_up)
        results_.warm_up_ends_at = options_.pace      ? start
                                   : options_.warm_up ? loop_.read_clock()
                                                      : ev::Time{};
    const std::optional<ev::Duration> length = is_warm_up ? options_.warm_up : options_.length;
    const std::uint64_t count = is_warm_up ? 0 : options_.count;
    if (length && !is_warm_up) phase_timer_.start_at(start + *length);
    if (options_.pace) {
        last_planned_place_ = connections_.size() - 1;
        const Pace& pace = *options_.pace;
        schedule_.emplace(Schedule::Options{.pace = is_warm_up ? pace.steady() : pace,
                                            .seed = options_.seed,
                                            .count = count,
                                            .length = length,
                                            .share = share_},
                          start);
        return send_due();
    }
    if (is_warm_up) step_timer_.start_at(start + *options_.warm_up);
    if (count > 0 && options_.shares_source()) left_count_ = share_.own_message_count(count);
    sources_changed();
}

void Lane::sources_changed() {
    if (schedule_ && !is_over()) return send_due();
    for (const auto& connection : connections_)
        if (connection->is_open()) connection->advance();
}

// A message keeps its planned time while it waits, for example for a line of standard input, so
// that its round trip includes the wait.
void Lane::send_due() {
    for (unsigned i = 0; i < messages_per_turn; ++i) {
        const std::optional<ev::Time> planned_at = schedule_->due(loop_.now());
        if (!planned_at) break;
        // Send on the connection in turn or, if it is not usable, on the next usable one.
        const std::size_t count = connections_.size();
        const auto place_after = [&](std::size_t skipped) {
            return (last_planned_place_ + 1 + skipped) % count;
        };
        std::size_t skipped = results_.open > 0 ? 0 : count;
        while (skipped < count && !connections_[place_after(skipped)]->is_usable()) ++skipped;
        // Wait for a replacement connection.
        if (options_.churns() && skipped == count &&
            std::any_of(connections_.begin(), connections_.end(),
                        [](const auto& each) { return each->is_worn; }))
            return;
        std::optional<Outgoing> next = source_->next();
        if (!next) return source_->is_over() ? finish_all() : step_timer_.cancel();
        schedule_->pass(loop_.now());
        next->planned_at = *planned_at;
        last_planned_place_ = place_after(skipped);
        Connection& connection = *connections_[last_planned_place_];
        if (connection.accepts_more())
            connection.send(*next);
        else
            connection.leave_unsent(*next);
    }
    if (!schedule_->is_over()) return step_timer_.start_at(schedule_->next_at());
    if (!is_warming_up()) return finish_all();
    step_timer_.start_at(schedule_->begins_at() + *options_.warm_up);
    schedule_.reset();
}

// --- Ending.

void Lane::count_unsent(ev::Duration tolerance) {
    const std::uint64_t overdue = schedule_ ? schedule_->overdue(loop_.now() - tolerance) : 0;
    if (overdue == 0) return;
    results_.change_at(schedule_->next_at(), [&](Results& to) { to.unsent += overdue; });
    if (results_.unsent_sentence.empty())
        results_.unsent_sentence = "an overdue message was not sent before the run ended";
}

// When the user ends the run, messages that have only just become due do not count as unsent.
void Lane::finish() {
    if (!is_over()) count_unsent(tolerated_lateness);
    stop_connecting(false);
    finish_all();
}

// Stops sending for good, and ends the connections, after their replies unless `next` is
// Stage::closing. With a schedule, sets this lane's share of the planned and reached rates.
void Lane::finish_all(Stage next) {
    if (stage_ == Stage::ended) return;  // step() will call hooks_.done()
    if (!is_over()) {
        count_trouble(source_.get());
        if (source_) source_->stop();
    }
    if (!is_over() && schedule_ && !is_warming_up()) {
        const double share = static_cast<double>(share_.own_connection_count()) /
                             static_cast<double>(options_.connections);
        const ev::Duration end = options_.length.value_or(ev::Duration::max());
        const ev::Duration sending =
            std::min(schedule_->next_at() - schedule_->begins_at(), end);
        if (results_.climb) results_.climb->end = std::min(sending, results_.climb->length);
        const double planned = options_.pace->rate(sending / 2) * share;
        results_.planned_rate = planned;
        results_.reached_rate = planned * schedule_->reached_share().value_or(1);
    }
    const bool was_ready = stage_ > Stage::settling;
    stage_ = std::max(stage_, next);
    if (!was_ready) hooks_.ready();
    for (ev::Timer* const timer : {&open_timer_, &step_timer_, &phase_timer_}) timer->cancel();
    for (const auto& connection : connections_) {
        connection->source().stop();
        if (stage_ >= Stage::closing || connection->reported_state == State::waiting)
            connection->session.disconnect();
        connection->finish_if_done();
    }
    end_if_done();
}

void Lane::time_up() {
    if (connections_.empty()) return fail(no_connection_end("resolving"));
    // All messages left in the schedule are overdue by now, so allow time to send them.
    if (schedule_) {
        const ev::Time last = schedule_->begins_at() + *options_.length +
                              std::min(max_catch_up, options_.session.reply_timeout);
        if (loop_.now() < last) return phase_timer_.start_at(last);
    }
    // In a probe, the last attempts may be recent, so they get their connect timeout.
    if (!options_.is_probe || stage_ == Stage::settling) stop_connecting(true);
    count_unsent({});
    finish_all();
}

bufio::End Lane::no_connection_end(const std::string& phase) const {
    return {Reason::timeout, By::us, "no connection within",
            duration_text(*options_.length) + " (--max-time): still " + phase};
}

// Cancels all attempts to connect. If the run's time is up, a connection that has not settled
// has failed, even if it waits for a retry. The other cancelled attempts are not counted.
void Lane::stop_connecting(bool is_time_up) {
    for (const auto& connection : connections_) {
        Session& session = connection->session;
        const State state = session.state();
        const bool is_trying = state == State::dialing || state == State::handshaking;
        if (is_time_up && !connection->is_settled && (is_trying || state == State::waiting)) {
            connection->is_out_of_time = true;
            session.disconnect(no_connection_end(session.phase()));
        } else if (is_trying) {
            session.disconnect();
            --results_.attempts;
        }
    }
}

}  // namespace yodel
