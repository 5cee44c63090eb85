// Drives one thread's connections of a run, on that thread's loop: opens them, sends messages,
// replaces worn-out connections, and closes them.
//
// In the closed loop, each connection sends its next message when its window allows. In the
// open loop, messages have planned times, starting when every connection is open or has failed.
// Connections send in turn, whether or not replies arrive, and round trips are measured from
// the planned times. If no connection is open, but one is being replaced (`churn`), a due
// message waits for the first new connection. Otherwise it stays unsent if no connection is
// open, or if too much is queued on the connection in turn.
//
// Reports a connection that gets no reply while others of its thread do.
//
// The owner is not told of the messages of a warm-up. Planned times start again after it.
//
// Sending generated messages does not allocate in the steady state.
#pragma once

#include "app/protocol/session.hpp"
#include "app/run/schedule.hpp"
#include "app/run/sources.hpp"
#include "app/stats/results.hpp"
#include "bufio/dial.hpp"
#include "ev/loop.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace yodel {

// All counts are totals of the run, not per thread.
struct RunOptions {
    Session::Options session = {};
    std::size_t connections = 1;
    std::size_t threads = 1;                // at most `connections`
    std::optional<Pace> connect_pace = {};  // rate of connecting; unset if all connect together
    std::uint64_t churn = 0;  // messages per connection before it is replaced; 0: unlimited
    // Lifetime of a connection before it is replaced; none: unlimited.
    std::optional<ev::Duration> lifetime = {};
    bool churns() const { return churn > 0 || lifetime; }
    // Makes the source of each connection. Null sends `messages`, or generates messages. With
    // a source, only `window`, `length`, `start` and `probe` of the options below apply.
    Source::Make source = nullptr;
    std::optional<Pace> pace =
        {};  // rate of messages; a climb needs `length`; none: closed loop
    std::optional<std::uint64_t> seed = {};  // for random gaps (Poisson); none: even gaps
    // Closed loop: maximum number of messages in flight per connection; none: enough to keep
    // it busy.
    std::optional<unsigned> window = 1;
    std::uint64_t count = 0;  // messages or, with `repeat`, attempts to connect; 0: unlimited
    // Time from the first message. Overdue messages may be sent for up to one more second, and
    // then count as unsent. Connections have the same time to open before the first message. In
    // a probe, the time begins with the first open connection. At its end, connections that are
    // not yet open still have the rest of their connect timeout.
    std::optional<ev::Duration> length = {};
    // `count` and `length` begin after the warm-up.
    std::optional<ev::Duration> warm_up = {};
    std::optional<ev::Time> start = {};  // earliest time of the first message
    OwnMessages messages = {};           // sent repeatedly; null for generated ones
    // Sends the lines of standard input, each once. Needs a single thread.
    std::optional<LineSource::Options> lines = {};
    bool generates() const { return !messages && !lines; }
    std::size_t size = 64;  // maximum size of a message, in bytes
    bool probe = false;     // see Results::probe
    // Probe: after each end of the connection, connects again. This time is between the
    // attempts, unless an attempt takes longer. None: connects once.
    std::optional<ev::Duration> repeat = {};
    // Collect samples of the messages, whose times count from this time; none: no samples.
    std::optional<ev::Time> samples_from = {};
};

class Lane {
public:
    // Connections are numbered from 1, and a replacement keeps its number. Views and references
    // are valid until the call returns.
    class Owner {
    public:
        virtual void lane_opened(std::size_t connection, const Session& session) = 0;
        // The connection is closed or waits for a retry. It may never have been open.
        virtual void lane_ended(std::size_t connection, const Session& session) = 0;
        virtual void lane_event(const Event& event) = 0;
        // Called when a connection has been handled, after any number of the calls above.
        virtual void lane_handled() = 0;

    protected:
        ~Owner() = default;
    };

    // Called from the loop. `ready`: the lane waits for begin_at(). `done`: all connections are
    // closed; the callback may destroy the lane.
    struct Hooks {
        std::function<void()> ready;
        std::function<void()> done;
    };

    // The options and the owner must outlive the lane. The owner may be null.
    Lane(ev::Loop& loop, const RunOptions& options, std::size_t thread, Hooks hooks,
         Owner* owner);
    ~Lane();
    Lane(const Lane&) = delete;

    // Starts sending at this time or, if later, at RunOptions::start.
    void begin_at(ev::Time time);
    void sources_changed();
    // While paused, reads nothing, so that back-pressure slows the peers down.
    void pause(bool paused);
    // Stops sending, and closes the connections after their replies.
    void finish();
    // Closes the connections now. Messages in flight count neither as echoed nor as lost.
    void close();
    // See Session.
    void void_round_trips();

    bool over() const { return stage_ >= Stage::waiting; }  // sending has ended
    const RunResults& results() const { return *results_; }
    std::size_t open() const { return count_.open; }

private:
    class Connection;
    friend class Connection;

    // In this order.
    enum class Stage {
        settling,  // connections open; begin_at() was not called, and may not be
        ready,     // begin_at() may be called, or was
        waiting,   // sending has ended
        closing,   // without waiting for replies
        ended,     // all connections are closed
    };

    void look_up();
    void looked_up(const bufio::LookupResult& result);
    void fail_all(const bufio::End& end);
    void connect_due();
    void limit_connecting(ev::Time since);
    std::shared_ptr<const Session::Options> options_of(Connection& connection);

    void state_changed(Connection& connection);
    void opened(Connection& connection);
    void report_end(const Connection& connection);
    void ended(Connection& connection, bool counted);
    void reconnect(Connection& connection);
    void begin_attempt(Connection& connection);
    void settle(Connection& connection);
    bool begun() const { return measured_from_ != ev::Time{}; }
    bool warming_up() const {
        return begun() && !over() && results_->measured_from == ev::Time::max();
    }
    void step();
    void end_if_done();

    void begin();
    void advance_connection(Connection& connection);
    bool accepts_more(const Connection& connection) const;
    bool window_has_space(const Connection& connection) const;
    void send_due();
    std::optional<std::size_t> next_open(std::size_t place) const;
    bool report_trouble(const Source& source);
    bool send(Connection& connection, const Outgoing& message);
    void leave_unsent(Connection& connection, const Outgoing& message);
    void finish_if_done(Connection& connection);

    void stop_sending(Stage next);
    void count_unsent(ev::Duration tolerance);
    void finish_all(Stage next = Stage::waiting);
    void time_up();
    bufio::End no_connection(const std::string& phase) const;
    void stop_connecting(bool time_is_up);

    void report(Connection& connection, Event event);
    void happened(Connection& connection, Event event);
    void lost(Connection& connection, Event event);
    void report_reply_problem(const Connection& connection, const std::string& text);

    ev::Loop& loop_;
    const RunOptions& options_;
    const Share share_;
    const Hooks hooks_;
    Owner* const owner_;
    std::unique_ptr<Source> generated_;  // shared, or null if each connection has its own
    struct {
        std::optional<bufio::Lookup> lookup;  // looks up the target for all connections
        std::shared_ptr<const Session::Options> session_options;  // set after the look-up
        ev::Time since{};
        ev::Timer timer;  // time of the look-up, then of the next connections
    } connecting_;
    std::vector<std::unique_ptr<Connection>> connections_;  // created so far
    struct {
        std::size_t settled = 0;  // connections that were ever open, or failed
        std::size_t open = 0;     // connections that have opened and not ended
        std::size_t gone = 0;     // connections that are closed for good
    } count_;
    std::size_t last_planned_place_ = 0;  // connection of the last planned message
    std::optional<Schedule> schedule_;
    Stage stage_ = Stage::settling;
    // Set when sending begins: the end of the warm-up. Earlier messages are not measured.
    ev::Time measured_from_{};
    bool paused_ = false;
    ev::Time resumed_at_{};  // when void_round_trips() was last called
    std::unique_ptr<RunResults> results_;
    ev::Timer step_timer_;   // the next step; see step()
    ev::Timer phase_timer_;  // end of the run's time; before ready, limit for connecting
};

}  // namespace yodel
