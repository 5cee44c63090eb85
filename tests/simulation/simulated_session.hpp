// One simulated session: a client that acts by its plan, and checks every notification.
#pragma once

#include "app/protocol/session.hpp"
#include "tests/simulation/ledger.hpp"
#include "tests/simulation/plan.hpp"
#include "tests/simulation/service.hpp"
#include "tests/simulation/simulated_loop.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace simulation {

class SimulatedSession final : private yodel::Session::Owner {
public:
    // `path` is available for a unix-domain socket.
    SimulatedSession(const Plan& plan, const std::string& path);

    // Plays the session to its end. Returns a sentence about the first failure, or an empty
    // text.
    std::string run();
    // One JSON object a line for each event.
    const std::string& trace() const { return trace_; }
    const Ledger::Counts& counts() const { return ledger_.counts(); }
    std::uint64_t turns() const { return turns_; }
    ev::Duration elapsed() const { return loop_.elapsed(); }

private:
    using State = yodel::Session::State;

    void session_changed() override;
    void session_event(const yodel::Event& event) override;

    void step();

    // Actions of the client.
    void act();
    void send_some();
    bool send_one();
    std::string next_payload();
    std::optional<std::string> expected_reply(const std::string& payload);
    void misbehave();
    void do_anything();
    void flush();
    void finish();
    void disconnect();
    void connect();
    void reconnect();
    void pause(bool paused);
    void restart_service();
    void destroy();
    void approach_end();

    // Invariants.
    void called_back(const char* what);
    void message_event(const char* what);
    void observe_state();
    void check_turn();
    void check_in_flight();
    void check_deadlines();
    void check_replies_due();
    void check_end_due();
    void note_activity();
    void note_load();
    void check_memory();
    std::uint64_t memory_bound() const;
    void check_rest();
    void check_calm_counts();
    void check_drain();
    void require(bool right, const std::string& sentence) {
        complaint_.require(right, sentence);
    }
    void record_progress() { progress_at_ = taken_at_ = waited_at_ = now(); }
    void overdue(ev::Time due, const char* what);
    void note(const char* what, std::uint64_t number);
    template <class Call>
    void call(Call call_session);
    ev::Time now() const { return SimulatedLoop::time; }
    bool lasts() const { return state_ == State::open || state_ == State::finishing; }

    const Plan plan_;
    Complaint complaint_;
    Dice dice_;
    SimulatedLoop loop_;
    Service service_;
    Ledger ledger_;
    std::unique_ptr<yodel::Session> session_;
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
