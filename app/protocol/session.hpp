// One connection to a service and what is said over it: dialing, handshake, messages and their
// replies, time-outs, the end.  It knows neither terminal nor standard input; the full-screen
// client and the pipe client are its users.  Which reply answers which message is decided by
// ReplyMatcher; a round trip counts from the write that hands over the message's last byte to
// the read that completes its reply.
//
// Where the options allow it, a failure that may pass (look-up, connecting, a reset, a server
// that closes too early) is followed by another try after a while. Messages that were written
// are then lost; those that were not yet written whole are sent again over the next connection,
// except in `raw`, whose bytes have no boundaries.
//
// The user is called from the loop, never from inside a call of its own: what a call changes is
// reported after it. From there it may call the session, and destroy it.
#pragma once

#include "app/protocol/backoff.hpp"
#include "app/protocol/framing.hpp"
#include "app/protocol/matcher.hpp"
#include "app/protocol/retransmit_watch.hpp"
#include "bufio/dial.hpp"
#include "bufio/stream.hpp"
#include "bufio/tcp_facts.hpp"
#include "bufio/tls.hpp"
#include "bufio/tls_facts.hpp"
#include "ev/loop.hpp"

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace yodel {

class Session final : private bufio::Stream::User {
public:
    struct Options {
        bufio::Endpoint endpoint;
        std::optional<bufio::TlsContext> tls;
        const Framing* framing = find_framing("line");
        std::size_t max_frame = 32 * 1024 * 1024;  // bytes
        Expect expect = Expect::echo;
        bool coalesce = false;  // see ReplyMatcher::Options
        ev::Duration connect_timeout =
            std::chrono::seconds(10);  // look-up, TCP and TLS together
        // For each reply; and for a server that takes nothing of what waits to be sent.
        ev::Duration reply_timeout = std::chrono::seconds(5);
        // For the peer's own end, from finish() on.
        ev::Duration close_timeout = std::chrono::seconds(5);
        // For how long the first reply of a connection may turn out to be a greeting, by
        // another reply that follows. From finish() on it is the reply timeout instead, because
        // nobody waits to see the reply.
        ev::Duration greeting_time = std::chrono::milliseconds(500);
        std::optional<ev::Duration> idle_timeout;
        // Finds out if the system has sent a segment of ours again while a message was in
        // flight, and then sets Message::resent, also for one that is late. Each reply that
        // took more than two round trips of the network may cost a system call.
        bool mark_resent = false;
        // How the system is asked about a connection; tests put another system in its place.
        std::optional<bufio::TcpFacts> (*tcp_facts)(int socket) = bufio::tcp_facts;
        unsigned retries = 0;  // tries in a row after the first, or `forever`
        ev::Duration retry_delay = std::chrono::milliseconds(500);  // see Backoff
        // From the first connect() on. It runs on when the session is closed, because the user
        // may still have to write what the session has brought.
        std::optional<ev::Duration> max_time;
        // The sentence for a server that closes while the user still has something to say.
        std::string closed_early = "the server closed the connection";
    };
    // How long the parts of connecting took.
    struct Phases {
        ev::Duration lookup{};
        ev::Duration tcp{};
        ev::Duration tls{};
    };
    static constexpr unsigned forever = std::numeric_limits<unsigned>::max();

    // `waiting`: for the next try; end() then is the failure of the last one.
    enum class State { idle, dialing, handshaking, open, finishing, waiting, closed };

    // The views of a message or reply are valid until the callback returns or sends.
    class User {
    public:
        virtual void session_changed() = 0;  // the state, or space for more to send
        virtual void session_answered(const Message& message, const Reply& reply) = 0;
        // Only with the option `coalesce`.
        virtual void session_echoed(const Batch&, std::optional<ev::Duration> /*round_trip*/) {}
        // No reply will come, or none has within the reply timeout (`late`).
        virtual void session_lost(const Message& message) = 0;
        virtual void session_unsolicited(std::string_view payload) = 0;
        // Where replies have no frames: the bytes as they come, before they are matched.
        virtual void session_received(std::string_view) {}

    protected:
        ~User() = default;
    };

    Session(ev::Loop& loop, Options options, User& user);
    // The same, where many sessions share their options.
    Session(ev::Loop& loop, std::shared_ptr<const Options> options, User& user);

    // From idle or closed; from waiting: at once, as the first try.
    void connect();
    // Closes now, for good, with close_notify where TLS is spoken; pending output is lost.
    void disconnect();
    // Announces that nothing more will be sent, once all replies are in; but while none comes
    // for a moment, at once: the service may wait for our end before it answers.
    void finish();

    // Queues a message, or several where the framing could not distinguish it from several, to
    // be written by the next flush(). Returns none if it was refused: the session is not open,
    // or the message is longer than the framing or --max-frame allow, or empty where replies
    // are distinguished by their size. `planned` is when the message was to go out; without it,
    // that is when flush() is called.
    Queued send(std::string_view payload, ev::Time planned = {});
    // With `raw`, the same without a copy: space in the queue, and a message of what was put
    // there.
    char* reserve(std::size_t size) { return matcher_.messages().reserve(size); }
    Queued send_reserved(std::size_t size);
    // Returns an id for a message that can't be sent and is not queued.
    std::uint64_t reserve_id() { return matcher_.messages().reserve_id(); }
    void flush();
    // When flush() has last passed messages to the connection, whether or not it took them.
    ev::Time flushed_at() const { return flushed_at_; }
    // Something other than the service delays the replies in flight: their times don't count.
    void void_round_trips() { matcher_.messages().void_round_trips(); }
    // While paused, nothing is read, so that the peer meets our back-pressure, and no time-out
    // but --max-time runs.
    void pause(bool paused);

    State state() const { return state_; }
    // There is a connection: from its handshake until its end.
    bool connected() const { return stream_ != nullptr; }
    std::string phase() const;                 // of connecting, in words
    ev::Time since() const { return since_; }  // when the state was entered
    const bufio::End& end() const { return end_; }
    bool out_of_time() const { return out_of_time_; }  // --max-time has passed
    // While waiting: the number of the next try in a row, from 1, and its time.
    unsigned retry() const { return backoff_.count(); }
    ev::Time retry_time() const { return retry_.deadline(); }
    bool input_ended() const { return stream_ && stream_->input_ended(); }
    const InFlight& messages() const { return matcher_.messages(); }
    std::size_t in_flight() const { return messages().in_flight(); }
    std::size_t pending() const { return stream_ ? stream_->pending() : 0; }  // bytes to write
    const bufio::Address& address() const { return address_; }
    const Phases& phases() const { return phases_; }
    // The TLS facts of the present or the last connection; null without TLS.
    const bufio::TlsFacts* tls() const { return facts_.get(); }
    // What the system knows about the TCP connection, by a system call; after the connection
    // what it knew at its end, until the next one. None for a unix-domain socket, where the
    // system does not tell, and before the first connection.
    std::optional<bufio::TcpFacts> tcp() const;
    const Options& options() const { return *options_; }

private:
    void dial();
    void on_dialed(bufio::DialResult result);
    void opened();
    void stream_changed(bufio::Stream& stream) override;
    void advance();
    void advance_stream();
    void record_progress();
    void receive();
    void report(const ReplyMatcher::Event& event);
    void report(const ReplyMatcher::Answered& event);
    void report(const ReplyMatcher::Echoed& event);
    void report(const ReplyMatcher::Lost& event);
    void report(const ReplyMatcher::Unsolicited& event);
    void report(const ReplyMatcher::Arrived& event);
    void report(const ReplyMatcher::Refused& event);
    void report_resolved();
    void report_changes();
    void input_over();
    void record_facts();
    Message marked(Message message, std::optional<ev::Duration> round_trip, ev::Time now);

    void watch_all();
    void watch_idleness();
    void watch_writing();
    void watch_replies();
    void watch_greeting();
    void watch_end();
    ev::Time reply_due() const;
    void replies_late();
    void fail(bufio::Reason reason, std::string text);

    void set_state(State state);
    void ended(bufio::End end);
    void wait_for_retry(bufio::End end);
    void close(bufio::End end);
    void drop_connection(bufio::End end);
    bool in_order(const bufio::End& end) const;
    bool worth_retrying(bufio::Reason reason) const;
    bufio::End explained(bufio::End end) const;

    // A timer that was never started, or was released, takes no memory but its handle.
    template <auto due>
    void start(ev::Timer& timer, ev::Time at);
    static bool runs(const ev::Timer& timer) { return timer && timer.pending(); }
    static void release(ev::Timer& timer) { timer = {}; }
    void not_connected();
    void try_again();
    void time_up();
    void idle_too_long();
    void nothing_taken();
    void no_greeting();
    void replies_pause();
    void not_closed();
    void closed_too_early();

    ev::Loop& loop_;
    const std::shared_ptr<const Options> options_;
    User& user_;
    ReplyMatcher matcher_;
    State state_ = State::idle;
    ev::Time since_{};
    bufio::End end_;
    bufio::Address address_;
    Phases phases_;
    std::unique_ptr<bufio::Dialer> dialer_;  // while it dials
    std::unique_ptr<bufio::Stream> stream_;
    // These two let a function see whether a callback has destroyed the session, or has ended
    // the connection that the function works for.
    const std::shared_ptr<void> lifetime_ = std::make_shared<char>();
    std::shared_ptr<void> connection_;  // while there is a stream
    std::unique_ptr<const bufio::TlsFacts> facts_;
    std::optional<bufio::TcpFacts> tcp_;  // of the last connection, at its end
    RetransmitWatch retransmits_;         // unused without the option mark_resent
    Backoff backoff_;
    std::string first_bytes_;          // of the connection, as many as an alert of TLS has
    std::uint64_t moved_bytes_ = 0;    // read and written when the connection was last active
    std::uint64_t written_bytes_ = 0;  // when the peer last took some
    ev::Time read_at_{};               // of the bytes that are being matched
    ev::Time resumed_at_{};            // when pause() last ended
    ev::Time finished_at_{};           // when finish() was called
    ev::Time flushed_at_{};
    bool paused_ = false;
    bool partial_message_ = false;  // the peer ended inside one
    bool out_of_time_ = false;
    ev::Timer changed_;       // due at once: a call of the user has changed something
    ev::Timer connecting_;    // the connect timeout
    ev::Timer retry_;         // the next try
    ev::Timer max_time_;      // the end of all
    ev::Timer idle_;          // the idle timeout
    ev::Timer stalled_;       // the peer takes nothing
    ev::Timer reply_;         // of the oldest message in flight
    ev::Timer greeting_;      // until the first reply counts as a wrong answer
    ev::Timer quiet_;         // while finishing: no reply for a moment
    ev::Timer closing_;       // the peer's own end is awaited
    ev::Timer closed_early_;  // until the end of our input no longer counts as in time
};

}  // namespace yodel
