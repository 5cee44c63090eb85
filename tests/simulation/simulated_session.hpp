// One simulated session: a client that acts by its plan, and checks every notification.
#pragma once

#include "app/protocol/event.hpp"
#include "app/protocol/session.hpp"
#include "app/text/json.hpp"
#include "tests/simulation/ledger.hpp"
#include "tests/simulation/plan.hpp"
#include "tests/simulation/service.hpp"
#include "tests/simulation/simulated_loop.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace simulation {

using namespace std::chrono_literals;

// A server that delays its replies may answer each message in a separate turn, and a client
// may dial every millisecond.
inline constexpr std::uint64_t max_turns = 200'000;
inline constexpr std::uint64_t turns_per_message = 4;
inline constexpr std::uint64_t turns_per_connection = 8;
// The memory bound. At rest a client stores up to 256 KiB of unread input plus one read, in a
// buffer that doubles; while it grows, the old buffer exists too.
inline constexpr std::size_t bytes_at_rest = 1024 * 1024;
inline constexpr std::size_t bytes_per_connection = 32 * 1024;
inline constexpr std::size_t bytes_per_message = 256;
inline constexpr std::size_t max_late_bytes = 1024 * 1024;  // see LedgerLimits
// Two buffers: each up to twice its content, plus the old copy while it grows.
inline constexpr std::size_t memory_per_byte = 6;
inline constexpr ev::Duration max_simulation = 10h;
inline constexpr ev::Duration polling = 700ms;  // interval of checks at the end
inline constexpr unsigned max_polls = 60;
inline constexpr ev::Duration grace = 1s;
inline constexpr ev::Duration max_linger = 1s;      // for datagrams, see session.cpp
inline constexpr ev::Duration min_write_time = 1s;  // for a peer to take bytes, see Session

inline constexpr std::array<const char*, 7> state_names = {
    "idle", "dialing", "handshaking", "open", "finishing", "waiting", "closed"};

// Returns true if `after` may follow `before` without a call of the client. Of several changes
// in one call of the loop, only the last may be visible.
inline bool may_follow(Session::State before, Session::State after) {
    using enum SessionState;
    switch (before) {
    case idle: return false;
    case dialing: return after != idle && after != finishing && after != dialing;
    case handshaking: return after == open || after == waiting || after == closed;
    case open:
    case finishing: return after == waiting || after == closed;
    case waiting: return after == dialing || after == closed;
    case closed: return false;
    }
    return false;
}

class SimulatedSession final : private Session::Owner {
public:
    // `path` is available for a unix-domain socket.
    SimulatedSession(const Plan& plan, const std::string& path)
        : plan_(plan),
          dice_(plan.seed + 0x5eed),
          loop_(plan.machine),
          service_(loop_, plan_, path),
          ledger_(plan_.client, complaint_),
          act_(loop_, [this] { act(); }),
          acts_left_(plan.messages + 20) {}

    // Plays the session to its end. Returns a sentence about the first failure, or an empty
    // text.
    std::string run() {
        Session::Options options = plan_.client;
        options.endpoint = service_.endpoint();
        Heap::start_peak();
        {
            const Heap heap(simulation::Owner::product);
            session_.reset(
                new Session(loop_, std::make_shared<const Session::Options>(options), *this));
        }
        connect();
        act_.start(plan_.calm ? 1s : dice_.up_to(plan_.gap));
        while (!complaint_ && quiet_turns_ < 4) {
            step();
            check_turn();
        }
        if (!complaint_) check_rest();
        return complaint_.sentence();
    }

    // One JSON object a line for each event.
    const std::string& trace() const { return trace_; }
    const Ledger::Counts& counts() const { return ledger_.counts(); }
    std::uint64_t turns() const { return turns_; }

private:
    using State = Session::State;

    void session_changed() override {
        const Heap heap(simulation::Owner::tests);
        called_back("changed");
        if (!session_) return;
        observe_state();
        check_in_flight();
        if (session_ && state_ == State::closed) over_ = true;
        misbehave();
    }

    void session_event(const Event& event) override {
        const Heap heap(simulation::Owner::tests);
        if (has_message(event.fate) && event.frames.empty())
            trace_ += json(event, SimulatedLoop::start, {}).str() + "\n";
        else
            note(event.frames.empty() ? word_of(event.fate) : "batch",
                 event.frames.empty() ? event.reply.payload.size() : event.count);
        ledger_.add(event);
        message_event(word_of(event.fate));
    }

    void step() {
        const Heap heap(simulation::Owner::product);
        loop_.step();
    }

    // --- Actions of the client.

    void act() {
        const Heap heap(simulation::Owner::tests);
        if (!session_) return;
        act_.start(dice_.up_to(plan_.gap));
        if (acts_left_ == 0 || (plan_.calm && payloads_ == plan_.messages))
            return approach_end();
        --acts_left_;
        if (dice_.chance(plan_.mischief)) do_anything();
        if (session_) send_some();
    }

    void send_some() {
        for (std::size_t i = dice_.up_to(plan_.burst - 1) + 1; i > 0; --i)
            if (!send_one()) break;
        flush();
    }

    // Returns false if there is nothing to send now.
    bool send_one() {
        if (state_ != State::open || session_->in_flight() >= plan_.window ||
            payloads_ == plan_.messages)
            return false;
        const std::string payload = next_payload();
        ++payloads_;
        const std::optional<std::string> reply = expected_reply(payload);
        QueuedIds ids;
        call([&](Session& session) { ids = session.send(payload, {}, reply); });
        const std::size_t most = plan_.client.max_frame;
        const bool legal = is_sendable(*plan_.client.framing, most, payload);
        if (plan_.carrier != Carrier::datagrams)
            require(static_cast<bool>(ids) == legal,
                    "a payload was refused or accepted by mistake");
        if (ids) ledger_.sent(payload, ids, now(), reply);
        note("sent", payload.size());
        bytes_sent_ += payload.size();
        unflushed_bytes_ += payload.size();
        note_load();
        return true;
    }

    // Distinct payloads begin with their number, and are long enough that damage can't turn one
    // into another. Other payloads are arbitrary and may contain several messages.
    std::string next_payload() {
        std::string payload;
        if (plan_.distinct) {
            payload = std::to_string(payloads_) + " " + std::to_string(Dice(payloads_).next()) +
                      std::string(dice_.up_to(plan_.longest), 'x');
        } else {
            for (std::size_t size = dice_.up_to(plan_.longest); payload.size() < size;)
                payload +=
                    dice_.one_of<char>({'a', 'a', 'a', 'b', '^', '$', '\n', '\r', '\0', '\1'});
        }
        const std::size_t longest = plan_.client.framing->max_payload();
        if (payload.size() > longest) payload.resize(longest);
        return payload;
    }

    // With given replies, usually returns the actual reply.
    std::optional<std::string> expected_reply(const std::string& payload) {
        if (plan_.client.expect != Expect::given || dice_.chance(0.1)) return std::nullopt;
        if (dice_.chance(0.1)) return "another";
        const Framing& framing = *plan_.client.framing;
        return framing.reply ? framing.reply(payload) : payload;
    }

    // Sometimes does anything from inside a callback.
    void misbehave() {
        if (session_ && dice_.chance(plan_.mischief / 4)) do_anything();
    }

    void do_anything() {
        switch (dice_.up_to(std::size_t{13})) {
        case 0: return finish();
        case 1: return dice_.chance(0.3) ? disconnect() : flush();
        case 2: return connect();
        case 3:
        case 4: return pause(true);
        case 5:
        case 6:
        case 7: return pause(false);
        case 8: return call([](Session& session) { session.void_round_trips(); });
        case 9: return ledger_.skipped(session_->reserve_id());
        case 10: return restart_service();
        case 11: return dice_.chance(0.4) ? destroy() : reconnect();
        default: return send_some();
        }
    }

    void flush() {
        const bool connected = session_->is_connected();
        call([](Session& session) { session.flush(); });
        if (connected) ledger_.flushed(now());
        unflushed_bytes_ = 0;
        record_progress();
    }

    void finish() {
        if (state_ == State::open) ledger_.flushed(now());
        call([](Session& session) { session.finish(); });
        finished_at_ = now();
        record_progress();
        note("finish", 0);
    }

    void disconnect() {
        call([](Session& session) { session.disconnect(); });
        note("disconnect", 0);
        require(state_ == State::closed || state_ == State::idle,
                "disconnect() does not close");
    }

    void connect() {
        if (state_ != State::idle && state_ != State::closed && state_ != State::waiting)
            return;
        connected_at_ = std::min(connected_at_, now());
        call([](Session& session) { session.connect(); });
        record_progress();
        over_ = false;
        note("connect", 0);
    }

    void reconnect() {
        disconnect();
        connect();
    }

    void pause(bool paused) {
        if (paused_ && !paused) resumed_at_ = now();
        record_progress();
        paused_ = paused;
        call([&](Session& session) { session.pause(paused); });
        note("pause", paused ? 1 : 0);
    }

    void restart_service() {
        const bool stays_away = dice_.chance(0.3);
        if (stays_away && service_.is_running())
            service_.stop();
        else if (service_.can_restart())
            service_.restart();
        note("service", service_.is_running() ? 1 : 0);
    }

    void destroy() {
        note("destroy", session_->in_flight());
        session_.reset();
    }

    // Stops sending, and disconnects a session that does not end by itself.
    void approach_end() {
        act_.start(polling);
        ++polls_;
        if (paused_) pause(false);
        if (state_ == State::open)
            return plan_.seed % 8 == 0 && !plan_.calm ? disconnect() : finish();
        if (state_ == State::idle || polls_ > max_polls) disconnect();
    }

    // --- Invariants.

    void called_back(const char* what) {
        require(session_ != nullptr, std::string("called after its destruction: ") + what);
        require(!inside_call_, std::string("called from inside a call: ") + what);
    }

    void message_event(const char* what) {
        called_back(what);
        require(!over_, std::string("called after the end: ") + what);
        observe_state();
        check_in_flight();
        misbehave();
    }

    void observe_state() {
        if (!session_ || session_->state() == state_) return;
        const State before = std::exchange(state_, session_->state());
        const auto name = [](State state) {
            return state_names[static_cast<std::size_t>(state)];
        };
        note(name(state_), static_cast<std::uint64_t>(session_->end().reason));
        require(may_follow(before, state_),
                std::string(name(before)) + " is followed by " + name(state_));
        record_progress();
        resumed_at_ = now();
        if (state_ == State::dialing) ++dialed_;
        if (state_ == State::open) ledger_.flushed(now());
        if (state_ == State::waiting)
            require(plan_.client.retries > 0 && session_->retry_count() <= plan_.client.retries,
                    "it is tried again too often");
        const bool ended = state_ == State::waiting || state_ == State::closed;
        require(!ended || session_->end(), "a connection has ended without a reason");
        const bool clean = session_->end().reason == bufio::Reason::clean;
        require(plan_.carrier != Carrier::datagrams || before == State::finishing || !ended ||
                    !clean,
                "it has ended gracefully though nobody has finished it");
    }

    void check_turn() {
        ++turns_;
        require(turns_ < max_turns + turns_per_message * ledger_.counts().sent +
                             turns_per_connection * dialed_,
                "there is no end of turns");
        require(loop_.elapsed() < max_simulation, "there is no end of time");
        if (session_) {
            observe_state();
            check_in_flight();
            note_activity();
            note_load();
            check_deadlines();
        }
        check_memory();
        busy_before_last_turn_ = std::exchange(busy_before_turn_, loop_.busy());
        quiet_turns_ = (over_ && polls_ > 0) || !session_ ? quiet_turns_ + 1 : 0;
    }

    // A stream's messages are in flight until the owner is notified of their fate. Datagrams
    // may leave the flight slightly earlier.
    void check_in_flight() {
        if (!session_ || complaint_) return;
        const std::size_t count = session_->in_flight();
        const bool datagrams = plan_.carrier == Carrier::datagrams;
        require(datagrams ? count <= ledger_.open() : count == ledger_.open(),
                std::to_string(count) + " messages are in flight, but " +
                    std::to_string(ledger_.open()) + " have no verdict");
        const std::size_t bytes = session_->in_flight_bytes();
        if (datagrams || plan_.client.expect == Expect::none) return;
        require(bytes >= ledger_.open_bytes() && bytes <= ledger_.open_bytes() + 6 * count,
                std::to_string(bytes) + " bytes in flight instead of " +
                    std::to_string(ledger_.open_bytes()));
    }

    void check_deadlines() {
        const Session::Options& options = plan_.client;
        if (options.max_time && !session_->is_out_of_time() && connected_at_ != ev::Time::max())
            overdue(connected_at_ + *options.max_time, "of all");
        if (state_ == State::dialing || state_ == State::handshaking)
            overdue(session_->state_began_at() + options.connect_timeout, "to connect");
        if (state_ == State::waiting) overdue(session_->retry_at(), "to try again");
        if (!lasts() || paused_) return;
        if (options.idle_timeout) overdue(progress_at_ + *options.idle_timeout, "of idleness");
        if (session_->pending() > 0)
            overdue(taken_at_ + std::max<ev::Duration>(options.reply_timeout, min_write_time),
                    "to write");
        check_replies_due();
        if (state_ == State::finishing) check_end_due();
    }

    void check_replies_due() {
        if (ledger_.oldest_flush() == ev::Time::max()) return;
        const ev::Time sent = std::max({ledger_.oldest_flush(), resumed_at_, waited_at_});
        overdue(sent + plan_.client.reply_timeout, "for a reply");
    }

    // Waits first for replies, then for the peer's end.
    void check_end_due() {
        const Session::Options& options = plan_.client;
        ev::Time due =
            std::max({finished_at_, resumed_at_, waited_at_}) + options.reply_timeout;
        if (plan_.carrier == Carrier::datagrams) due = std::max(due, progress_at_) + max_linger;
        overdue(due + options.close_timeout, "of the end");
    }

    void note_activity() {
        const std::uint64_t traffic = service_.traffic();
        if (traffic != std::exchange(traffic_seen_, traffic)) progress_at_ = now();
        const std::size_t pending = session_->pending();
        if (pending != std::exchange(pending_seen_, pending) || pending == 0) taken_at_ = now();
        if (pending > 0) waited_at_ = now();
    }

    void note_load() {
        const std::size_t late = std::min(ledger_.late_bytes(), max_late_bytes);
        const std::size_t bytes = ledger_.open_bytes() + ledger_.given_bytes() + late +
                                  session_->pending() + unflushed_bytes_;
        max_messages_ = std::max(max_messages_, ledger_.open() + ledger_.late());
        max_bytes_ = std::max(max_bytes_, bytes);
        max_connections_ = std::max(max_connections_, service_.connections());
        max_backlog_ = std::max(max_backlog_, service_.backlog());
    }

    void check_memory() {
        const std::uint64_t bound = memory_bound();
        require(Heap::peak() <= bound,
                std::to_string(Heap::peak()) + " bytes of memory were taken, more than the " +
                    std::to_string(bound) + " that the session may need");
    }

    // The session may store messages without a verdict and late messages, the server unanswered
    // messages. If the server duplicates answers, its share is only bounded.
    std::uint64_t memory_bound() const {
        const bool copies = plan_.server.faults.dup > 0;
        const std::uint64_t held =
            copies ? std::min<std::uint64_t>(service_.max_buffer(), 2 * bytes_sent_)
                   : max_backlog_;
        return bytes_at_rest + memory_per_byte * (max_bytes_ + held) +
               bytes_per_message * max_messages_ + bytes_per_connection * max_connections_;
    }

    void check_rest() {
        if (session_) require(ledger_.open() == 0, "some messages have no verdict at the end");
        if (session_ && plan_.calm) check_calm_counts();
        session_.reset();
        check_drain();
    }

    // Predicts the counts, because the server's dice determine the fault of each message.
    void check_calm_counts() {
        const bool datagrams = plan_.carrier == Carrier::datagrams;
        const Ledger::Counts& counts = ledger_.counts();
        FaultDice dice(plan_.server.faults, datagrams ? 0 : 1);
        std::size_t dropped = 0;
        std::size_t damaged = 0;
        std::size_t copied = 0;
        for (std::size_t i = 0; i < counts.sent; ++i) {
            const FaultDice::Plan plan = dice.next();
            if (datagrams) dice.draw(0);  // the chance of reordering
            dropped += plan.is_dropped ? 1 : 0;
            damaged += !plan.is_dropped && plan.is_corrupted ? 1 : 0;
            copied += !plan.is_dropped && plan.is_duplicated ? 1 : 0;
        }
        const auto equal = [&](std::size_t count, std::size_t expected, const char* what) {
            require(count == expected, std::to_string(count) + " messages are " + what +
                                           ", and should be " + std::to_string(expected));
        };
        equal(counts.lost, dropped, "lost");
        equal(counts.bad, damaged, "bad");
        equal(counts.right, counts.sent - dropped - damaged, "right");
        equal(counts.answers_to_none, copied, "copies");
        require(payloads_ == plan_.messages || acts_left_ == 0, "something was not sent");
    }

    void check_drain() {
        const ev::Time end = now() + grace;
        service_.drain(grace);
        while (!complaint_ && !service_.drained()) {
            step();
            overdue(end, "for the server to leave");
        }
        const bool in_time = now() < end;
        require(!in_time || service_.connections() == 0,
                "the server has left connections behind");
    }

    void require(bool right, const std::string& sentence) {
        complaint_.require(right, sentence);
    }
    void record_progress() { progress_at_ = taken_at_ = waited_at_ = now(); }

    // Deadlines may be missed by a few oversleeps of the machine, and by the work of the last
    // two turns, because thousands of messages may take longer than a short limit.
    void overdue(ev::Time due, const char* what) {
        const ev::Duration patience =
            2ms + 4 * plan_.machine.oversleep + (loop_.busy() - busy_before_last_turn_);
        require(due == ev::Time::max() || now() - due < patience,
                std::string("a deadline has passed: ") + what);
    }

    void note(const char* what, std::uint64_t number) {
        JsonObject object;
        object.time("at_us", loop_.elapsed()).text("type", what).number("number", number);
        trace_ += object.str() + "\n";
    }

    // Calls the session, which must not call back meanwhile.
    template <class Call>
    void call(Call call_session) {
        inside_call_ = true;
        {
            const Heap heap(simulation::Owner::product);
            call_session(*session_);
        }
        inside_call_ = false;
        state_ = session_->state();
    }

    ev::Time now() const { return SimulatedLoop::time; }
    bool lasts() const { return state_ == State::open || state_ == State::finishing; }

    const Plan plan_;
    Complaint complaint_;
    Dice dice_;
    SimulatedLoop loop_;
    Service service_;
    Ledger ledger_;
    std::unique_ptr<Session> session_;
    ev::Timer act_;
    State state_ = State::idle;  // at the last check
    std::string trace_;
    std::uint64_t turns_ = 0;
    std::uint64_t payloads_ = 0;
    std::uint64_t traffic_seen_ = 0;
    std::uint64_t dialed_ = 0;
    std::size_t pending_seen_ = 0;
    // Maxima for the memory bound:
    std::size_t max_messages_ = 0;     // without a verdict or late
    std::size_t max_bytes_ = 0;        // payloads, given replies and unsent output
    std::size_t max_connections_ = 1;  // connections of the server
    std::uint64_t max_backlog_ = 0;    // backlog of the server
    std::uint64_t bytes_sent_ = 0;     // total payload
    std::size_t unflushed_bytes_ = 0;  // payload since the last flush()
    std::size_t acts_left_;
    unsigned polls_ = 0;  // checks of the session at its end
    ev::Duration busy_before_turn_{};
    ev::Duration busy_before_last_turn_{};
    unsigned quiet_turns_ = 0;  // turns after the end
    bool inside_call_ = false;  // in a call of the session
    bool paused_ = false;
    bool over_ = false;                        // closed, and the client was notified
    ev::Time connected_at_ = ev::Time::max();  // the first connect()
    // The last time of:
    ev::Time resumed_at_{};   // a new connection, or the end of a pause
    ev::Time finished_at_{};  // finish()
    ev::Time progress_at_{};  // traffic, or an event above
    ev::Time taken_at_{};     // flushed bytes accepted by the system
    ev::Time waited_at_{};    // pending output
};

}  // namespace simulation
