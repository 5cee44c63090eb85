// Drives the connections that a run has on one thread, on that thread's loop: opens them, sends
// messages, replaces worn-out connections, and closes them.
//
// In the closed loop, each connection sends its next message when its window allows. In the
// open loop, messages have planned times, which begin after every connection has opened or
// failed. Connections send in turn, whether or not replies arrive, and round trips are measured
// from the planned times. If no connection can send, but one is being replaced (`churn`,
// `lifetime`), a due message waits for the first replacement. Otherwise, a due message stays
// unsent if no connection is open, or if too many bytes wait on the connection in turn.
//
// The owner gets no events about warm-up messages. Planned times start again after the warm-up.
//
// Sending generated messages does not allocate in the steady state.
#pragma once

#include "app/protocol/session.hpp"
#include "app/run/schedule.hpp"
#include "app/run/sources.hpp"
#include "app/stats/recording.hpp"
#include "app/stats/results.hpp"
#include "ev/loop.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace yodel {

// `connections`, `connect_pace`, `pace` and `count` are totals of the run, not per thread.
struct RunOptions {
    // The origin of the messages.
    enum class From {
        generator,     // generated, or `messages` over and over
        shared_input,  // each line of standard input once, on any connection; needs one thread
        input,         // all of standard input, on each connection; needs one thread
        recording,
    };
    Session::Options session = {};
    std::size_t connections = 1;
    std::size_t threads = 1;                // at most `connections`
    std::optional<Pace> connect_pace = {};  // rate of connecting; unset if all connect together
    std::uint64_t churn = 0;  // messages before a connection is replaced; 0 if unlimited
    // Lifetime of a connection before it is replaced; unset if unlimited.
    std::optional<ev::Duration> lifetime = {};
    bool churns() const { return churn > 0 || lifetime; }
    From from = From::generator;
    OwnMessages messages = {};     // sent over and over; null unless --messages names a file
    bool has_escapes = false;      // replace escapes such as \n and \xNN in the input
    ev::Duration greeting_wait{};  // see Lines::Options
    std::shared_ptr<const Recording> recording = {};  // must have no trouble if replayed
    bool is_fast = false;                             // see Replay
    // Returns true if the connections of a thread send messages of one source. Otherwise
    // `pace`, `seed`, `warm_up` and, except in a repeated probe, `count` must not be set.
    bool shares_source() const { return from <= From::shared_input && !is_probe; }
    bool generates() const { return from == From::generator && !messages && !is_probe; }
    LineReader::Options line_options() const {
        LineReader::Options lines{session.framing, session.max_frame, has_escapes};
        if (from == From::shared_input) lines.messages_file = "-";
        return lines;
    }
    // Rate of messages; a climb needs `length`; unset for a closed loop.
    std::optional<Pace> pace = {};
    std::optional<std::uint64_t> seed = {};  // of Poisson gaps; unset for even gaps
    // In a closed loop, the maximum number of messages in flight per connection; if unset,
    // enough to keep the connection busy.
    std::optional<unsigned> window = 1;
    // Messages or, with `probe_interval`, attempts to connect; 0 if unlimited.
    std::uint64_t count = 0;
    // Time from the start of sending. Overdue messages may be sent for up to one more second;
    // the rest then count as unsent. The same time limits how long connections may take to open
    // before that start. In a probe, the time begins with the first open connection. At its
    // end, connections that are not yet open still have the rest of their connect timeout.
    std::optional<ev::Duration> length = {};
    // `count` and `length` begin after the warm-up.
    std::optional<ev::Duration> warm_up = {};
    std::optional<ev::Time> start_at = {};  // earliest time of the first message
    std::size_t size = 64;                  // maximum size of a message, in bytes
    // Sends no messages; see Results::is_probe. Closes each connection once it is open, unless
    // `length` or `lifetime` is set without `probe_interval`.
    bool is_probe = false;
    // In a probe, the time between the starts of two attempts to connect, unless an attempt
    // takes longer. If unset, the probe is not repeated.
    std::optional<ev::Duration> probe_interval = {};
    // Collects samples of the messages, with times counted from this time. If unset, collects
    // none.
    std::optional<ev::Time> samples_started_at = {};
};

class Lane {
public:
    // Connections are numbered from 1, and a replacement keeps its number. Views and references
    // are valid until the call returns.
    class Owner {
    public:
        virtual void lane_opened(std::size_t connection_number, const Session& session) = 0;
        // The connection is closed or waits for a retry.
        virtual void lane_ended(std::size_t connection_number, const Session& session,
                                bool was_open) = 0;
        virtual void lane_event(const Event& event) = 0;

    protected:
        ~Owner() = default;
    };

    // `ready` is called at most once, when the lane waits for begin_at() or will never send,
    // possibly inside a call of the lane. `done` is called from a later turn of the loop, when
    // all connections are closed. The owner, which must outlive the lane, may be null. Messages
    // planned before `timing_begins_at` are not timed.
    struct Hooks {
        const std::atomic<ev::Time>& timing_begins_at;
        std::function<void()> ready;
        std::function<void()> done;
        Owner* owner = nullptr;
    };

    // The loop and the options must outlive the lane.
    Lane(ev::Loop& loop, const RunOptions& options, std::size_t thread_number, Hooks hooks);
    ~Lane();
    Lane(const Lane&) = delete;

    // Begins to open the connections, whose sessions have these options.
    void connect(const std::shared_ptr<Session::Options>& options);
    // Counts all connections as failed, with this end. Call it instead of connect().
    void fail(const bufio::End& end);
    // Starts sending at this time or, if later, at RunOptions::start_at.
    void begin_at(ev::Time time);
    // While paused, reads no replies, so that back-pressure slows the peers down.
    void pause(bool is_paused);
    // Stops connecting and sending, and closes the connections after their replies.
    void finish();
    // Closes the connections now. Messages in flight count neither as echoed nor as lost.
    void close() { finish_all(Stage::closing); }

    bool is_over() const { return stage_ >= Stage::waiting; }  // sending has ended
    const RunResults& results() const { return results_; }

private:
    class Connection;

    // In this order.
    enum class Stage {
        settling,  // waits for connect(), and for connections to open
        ready,     // waits for begin_at(), or for the start that begin_at() has set
        sending,   // messages of the warm-up or of the run
        waiting,   // sending has ended; waits for replies
        closing,   // closes the connections without waiting for replies
        ended,     // all connections are closed
    };

    void open_due();
    void limit_connecting(ev::Time since);

    bool is_warming_up() const {
        return stage_ == Stage::sending && results_.warm_up_ends_at == ev::Time::max();
    }
    void step();
    void end_if_done();

    void begin();
    void sources_changed();
    void send_due();
    void count_trouble(const Source* source);

    void count_unsent(ev::Duration tolerance);
    void finish_all(Stage next = Stage::waiting);
    void time_up();
    bufio::End no_connection_end(const std::string& phase) const;
    void stop_connecting(bool is_time_up);

    ev::Loop& loop_;
    const RunOptions& options_;
    const Share share_;
    const Hooks hooks_;
    // The source that the connections share or, with RunOptions::From::input and several
    // connections, the source that reads the input for their own sources. Otherwise null.
    std::unique_ptr<Source> source_;
    std::shared_ptr<const Session::Options> session_options_;
    ev::Timer open_timer_;  // the next attempt to connect, except for retries
    std::vector<std::unique_ptr<Connection>> connections_;
    std::size_t live_count_ = 0;     // connections that are opening, open or will retry
    std::size_t settled_count_ = 0;  // see Connection::is_settled
    bool is_trouble_reported_ = false;
    bool is_paused_ = false;
    std::size_t last_planned_place_ = 0;  // of the connection for the last planned message
    std::optional<Schedule> schedule_;
    // Messages that the closed loop may still send.
    std::uint64_t left_count_ = std::numeric_limits<std::uint64_t>::max();
    Stage stage_ = Stage::settling;
    RunResults results_;
    ev::Timer step_timer_;   // the next step; see step()
    ev::Timer phase_timer_;  // end of the run's time; before Stage::ready, limit for connecting
};

}  // namespace yodel
