// Many conversations at once with one target, on one loop: connections that each have their own
// messages in flight, whose replies are all checked and timed. The messages are generated, or
// those of a script or a recording, of which each connection says all.
//
// In the closed loop each connection sends its next message when a reply leaves space in its
// window. In the open loop messages have planned times, from the moment on when every
// connection is open or has failed; they go out whatever the replies do, to the connections in
// turn, and a round trip counts from the planned time. A message that is due while every
// connection that could take it is being replaced (`churn`) waits for the first new one. It is
// lost at once where no connection is open and none is being replaced, or where that of its
// turn takes nothing.
//
// Without a recording the steady state allocates nothing for a message.
#pragma once

#include "app/pipe/generated_text.hpp"
#include "app/pipe/pace.hpp"
#include "app/pipe/recording.hpp"
#include "app/pipe/replayer.hpp"
#include "app/pipe/schedule.hpp"
#include "app/pipe/script.hpp"
#include "app/pipe/share.hpp"
#include "app/protocol/any_session.hpp"
#include "app/stats/results.hpp"
#include "bufio/lookup.hpp"
#include "ev/loop.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace yodel {

class Crowd {
public:
    struct Options {
        AnySession::Options session;
        std::size_t connections = 1;  // of the whole run, as are all numbers here
        // The crowd is one of so many that share the run, and has the connections and messages
        // that Share gives to its thread. It calls `ready`, from the loop, where it would begin
        // to send, and waits for begin_at().
        std::size_t thread = 0;
        std::size_t threads = 1;
        std::function<void()> ready =
            nullptr;  // null: the crowd is alone, and begins by itself
        std::optional<Pace> connect_pace = {};  // of new connections; none: all at once
        std::uint64_t churn = 0;        // messages until a connection is replaced; 0: it is not
        std::optional<Pace> pace = {};  // of messages; none: closed loop
        // With a pace: a message whose turn it is on a connection that has failed is left out,
        // instead of going to the next one.
        bool each_its_own = false;
        unsigned window = 1;      // closed loop: messages in flight on each
        std::uint64_t count = 0;  // messages in all; 0: any number
        // From the first message on: then messages that are due by then, and late, have a
        // second to go out, and the rest is unsent. Before the first message a connection has
        // as long to open.
        std::optional<ev::Duration> length = {};
        std::optional<ev::Time> start = {};  // of the first message, at the earliest
        std::size_t size = 64;               // bytes of a message
        bool recent = false;                 // count for recent(), too
        // Said in a closed loop, instead of generated messages; null: none. It must outlive the
        // crowd; after each change of it script_changed() must be called.
        const Script* script = nullptr;
        // Said again on each connection by a Replayer, instead of generated messages; null:
        // none. It has no trouble, and is regular() where there are several connections. Of the
        // options about messages only `window` applies, and if `fast` is set.
        std::shared_ptr<const Recording> recording = {};
        bool fast = false;
    };

    // Sees connections and messages. Connections are numbered from 1, and one that takes the
    // place of another has its number; views and references are valid until the call returns.
    class Observer {
    public:
        virtual void opened(std::size_t connection, const AnySession& session) = 0;
        // It is closed, or waits for another try; it need not have been open.
        virtual void ended(std::size_t connection, const AnySession& session) = 0;
        virtual void answered(std::size_t connection, const Message& message,
                              const Reply& reply) = 0;
        virtual void lost(std::size_t connection, const Message& message) = 0;
        virtual void unsolicited(std::size_t connection, std::string_view payload) = 0;
        // The same, where a recording is said again.
        virtual void compared(std::size_t connection, Replayer::Unsolicited kind,
                              std::string_view payload) = 0;

    protected:
        ~Observer() = default;
    };

    // `done` is called once, from the loop, when all connections are closed and no more will be
    // made. It may destroy the crowd.
    Crowd(ev::Loop& loop, Options options, std::function<void()> done,
          Observer* observer = nullptr);
    ~Crowd();
    Crowd(const Crowd&) = delete;
    Crowd& operator=(const Crowd&) = delete;

    // Begins to send at this time, or at `start` if that is later.
    void begin_at(ev::Time time);
    void script_changed();
    // While paused, nothing is read, so that the peers meet our back-pressure.
    void pause(bool paused);
    // Sends nothing more, waits for the replies, and closes the connections in order.
    void finish();
    // Closes the connections at once; what is in flight counts neither as echoed nor as lost.
    void leave();
    // Something other than the service delays the replies in flight: their times don't count.
    void void_round_trips();

    const Options& options() const { return options_; }
    // Nothing more is sent.
    bool over() const { return over_; }
    // The counts so far.
    const Results& result() const { return *result_; }
    // The round trips since the last call. Needs the option `recent`.
    Histogram take_recent() { return std::exchange(*recent_, {}); }
    std::size_t open() const { return open_; }  // connections

private:
    class Connection;
    friend class Connection;

    void look_up();
    void looked_up(const bufio::LookupResult& result);
    void look_up_failed(const std::string& text, int status);
    void connect_due();
    void limit_connecting(ev::Time begun);
    ev::Time next_connect() const;
    void connect_next();
    std::unique_ptr<AnySession> session_of(Connection& connection);
    std::unique_ptr<Replayer> replayer_of(Connection& connection);

    void changed(Connection& connection);
    void state_changed(Connection& connection);
    void opened(Connection& connection);
    void interrupted(Connection& connection);
    void closed(Connection& connection);
    void begin_try(Connection& connection);
    void end_try(const Connection& connection);
    void settle(Connection& connection);
    void replace(Connection& connection);
    void end_if_done();

    void begin_soon();
    void begin();
    void converse(Connection& connection);
    bool may_send(const Connection& connection) const;
    void send_due();
    bool must_wait() const;
    void lose_waiting();
    void sum_up_plan();
    void count_unsent(ev::Duration tolerated);
    void finish_all();
    ev::Duration catch_up_time() const;
    void send_planned(const Schedule::Message& message);
    Connection* taker(std::uint64_t number);
    std::optional<std::size_t> open_from(std::size_t place) const;
    bool takes(const Connection& connection) const;
    std::size_t most_bytes_of_each() const;
    bool send(Connection& connection, ev::Time planned);
    void count_call();
    std::string_view next_text(Connection& connection);
    bool all_sent(const Connection& connection) const;
    void finish_if_done(Connection& connection);
    void send_no_more();
    void time_up();
    void give_up(Connection& connection);
    std::string no_connection(const std::string& phase) const;
    void withdraw(Connection& connection);

    void answered(Connection& connection, const Message& message, const Reply& reply);
    void lost(Connection& connection, const Message& message);
    void unsolicited(const Connection& connection, std::string_view payload);
    void said_again(Connection& connection, Queued queued);
    void compared(const Connection& connection, Replayer::Unsolicited kind,
                  std::string_view payload);
    void recording_failed(const std::string& trouble);
    void note_mismatch(const Message& message, const Reply& reply);

    ev::Loop& loop_;
    const Options options_;
    const Share share_;
    const std::size_t own_connections_;
    const std::uint64_t own_messages_;                            // where there is a count
    std::shared_ptr<const AnySession::Options> session_options_;  // of all connections
    Observer* const observer_;                                    // null: none
    GeneratedText text_;
    std::optional<bufio::Lookup> lookup_;  // of the target's name, once for all
    ev::Time connecting_since_{};
    std::vector<std::unique_ptr<Connection>> connections_;  // those made so far
    std::size_t present_ = 0;                               // of these, not closed for good
    std::size_t settled_ = 0;  // of these, open at least once, or failed
    std::size_t open_ = 0;
    std::size_t turn_ = 0;  // the connection that took the last planned message
    std::optional<Schedule> schedule_;
    ev::Time planned_since_{};  // of the first message of the schedule
    ev::Time passed_at_{};      // when the last one was taken from it
    std::uint64_t passed_ = 0;  // how many were
    bool catching_up_ = false;  // the length is over, and some of them are overdue
    std::uint64_t sent_ = 0;    // calls of send(), from which texts have their numbers
    bool ready_ = false;
    bool begun_ = false;
    bool waiting_ = false;  // a message is due, and waits for a connection
    bool over_ = false;     // nothing more is sent
    bool ended_ = false;    // and nothing more is awaited
    bool leaving_ = false;
    ev::Time resumed_at_{};  // when void_round_trips() was last called
    std::unique_ptr<Results> result_;
    std::unique_ptr<Histogram> recent_;
    ev::Timer look_up_;  // due at once
    ev::Timer connect_;  // the next connections
    ev::Timer begin_;    // the first message
    ev::Timer due_;      // the next planned message
    ev::Timer time_up_;  // the end of `length`; of that for connecting, before it begins
    ev::Timer done_;     // due at once: all is over
};

}  // namespace yodel
