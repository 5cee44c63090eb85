// A session with one service: dialing, handshake, messages and replies, timeouts, retries, the
// end. It uses neither the terminal nor standard input. Its owners are the clients with and
// without a screen.
//
// A Link carries the messages, over a stream or in datagrams. The link's Matcher decides which
// reply answers which message. Owners need not know the kind of link, which affects only the
// callbacks, the framing and has_back_pressure().
//
// A round trip lasts from the write of the message's last byte to the read that completes its
// reply.
//
// If the options allow it, the session retries after a temporary failure, such as a failed
// look-up, a refused connection, a reset, or a server that closes too early. Fully written
// messages are then lost. The others are sent over the next connection, except with datagrams,
// and with `raw`, whose bytes have no boundaries.
//
// The owner is called from the loop, never from inside its own calls. Their effects are
// reported afterwards. A callback may call or destroy the session.
#pragma once

#include "app/protocol/backoff.hpp"
#include "app/protocol/event.hpp"
#include "app/protocol/link.hpp"
#include "app/protocol/matcher.hpp"
#include "bufio/lifetime.hpp"
#include "ev/loop.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace yodel {

class Session final : private Link::User {
public:
    using Options = SessionOptions;
    struct Phases {
        ev::Duration lookup{};
        ev::Duration tcp{};
        std::optional<ev::Duration> handshake;  // once open; with TLS or WebSocket
    };
    static constexpr unsigned forever = std::numeric_limits<unsigned>::max();

    // `waiting`: before the next attempt. end() is then the failure of the last attempt.
    enum class State { idle, dialing, handshaking, open, finishing, waiting, closed };

    class Owner {
    public:
        virtual void session_changed() = 0;  // a new state, or space to send more
        // A message is answered or lost, or something else was received. Fate::lost with
        // Message::late: no reply arrived within the reply timeout. The bytes of unframed
        // replies are also reported as they are read. Only the option `coalesce` allows events
        // about several messages.
        virtual void session_event(const Event& event) = 0;

    protected:
        ~Owner() = default;
    };

    // The loop and the owner outlive the session.
    Session(ev::Loop& loop, Options options, Owner& owner);
    // For many sessions that share their options.
    Session(ev::Loop& loop, std::shared_ptr<const Options> options, Owner& owner);
    Session(const Session&) = delete;

    // Allowed in idle, closed and waiting. In waiting it retries now, and restarts the count of
    // attempts.
    void connect();
    // Closes now, as Stream::close() does, and does not retry. Pending output is lost.
    void disconnect();
    // Closes our side once all replies have come, or after a short time without one. Some
    // services answer only after our side is closed. With datagrams, waits a moment for late
    // and duplicate replies instead.
    void finish();

    // Queues a message, or several if for_each_piece() cuts the payload. A queued message
    // counts as in flight, so call flush() before returning to the loop. Returns no ids if the
    // session is not open, or if the message is too long for the framing or --max-frame, or too
    // short for the framing. `planned`: when the message was due; defaults to the time of
    // flush(). `reply`: the expected reply with Expect::given; none if no reply is expected.
    QueuedIds send(std::string_view payload, ev::Time planned = {},
                   std::optional<std::string_view> reply = {});
    // Send without a copy, with `raw`. reserve() returns space in the queue, and
    // send_reserved() queues its first `size` bytes as a message.
    char* reserve(std::size_t size) { return link_->reserve(size); }
    QueuedIds send_reserved(std::size_t size);
    // Returns an id for a message that is not queued because it cannot be sent.
    std::uint64_t reserve_id() { return matcher_.reserve_id(); }
    void flush();
    // The time of the last flush() that tried to write messages.
    ev::Time flushed_at() const { return flushed_at_; }
    // Excludes the messages in flight from timing, because something other than the service
    // delays their replies.
    void void_round_trips() { matcher_.void_round_trips(); }
    // While paused, reads nothing, so that back-pressure slows the peer down. Of the timeouts,
    // only the connect timeout and --max-time keep running.
    void pause(bool paused);

    State state() const { return state_; }
    // Returns true from the start of the handshake to the end of the connection. With
    // datagrams: while there is a socket.
    bool connected() const { return link_->connected(); }
    // Returns true while connected. With datagrams: once the current socket has received
    // something. Until then end() is the refusal of the last socket, if any, and a graceful end
    // does not change it.
    bool peer_known() const { return link_->peer_known(); }
    std::string phase() const;                             // phase of connecting, in words
    ev::Time state_since() const { return state_since_; }  // when the state was entered
    const bufio::End& end() const { return end_; }
    bool out_of_time() const { return run_timer_ && !run_timer_.pending(); }  // see --max-time
    // While waiting: number of the next consecutive retry, from 1, and its time.
    unsigned retry_count() const { return backoff_.count(); }
    ev::Time retry_time() const { return stage_timer_.deadline(); }
    bool input_ended() const { return link_->input_ended(); }  // the peer has closed its side
    // Returns true if the server has closed its side, but messages can still be sent.
    bool peer_half_closed() const { return link_->input_ended() && !ends_with_input(); }
    // Returns the rest of a sentence that begins with "no reply". Call it in the event.
    std::string loss_text(const Message& message) const;
    std::size_t in_flight() const { return matcher_.in_flight(); }  // messages
    std::size_t in_flight_bytes() const { return matcher_.in_flight_bytes(); }
    std::uint64_t last_id() const { return matcher_.last_id(); }  // the message queued last
    std::size_t pending() const { return link_->pending(); }      // bytes to write
    // Returns false if the peer cannot slow us down. Messages beyond the capacity of the peer
    // or the path are then lost.
    bool has_back_pressure() const { return link_->has_back_pressure(); }
    const bufio::Address& address() const { return link_->address(); }
    const Phases& phases() const { return phases_; }
    // Returns the TLS facts of the current or the last connection; null without TLS.
    const bufio::TlsFacts* tls() const { return link_->tls(); }
    // Returns the WebSocket facts of the current or the last connection; null without
    // WebSocket.
    const websocket::Facts* websocket() const { return link_->websocket(); }
    // Queries the system's facts about the current TCP connection. Without one, returns the
    // facts at the end of the last connection. None if there are no facts.
    std::optional<bufio::TcpFacts> tcp() const { return link_->tcp(); }
    const Options& options() const { return *options_; }

private:
    void link_changed() override { advance(); }

    void dial();
    void on_dialed(bufio::DialResult result);
    void advance();
    void advance_connection();
    void advance_handshake();
    void report(Event event);
    bool report_resolved();
    void report_changes();
    void on_input_ended();
    void watch_early_close();
    void on_early_close();
    bool ends_with_input() const;
    void advance_soon() { advance_timer_.start(ev::Duration::zero()); }

    void watch_all();
    void watch_idleness();
    void watch_pings();
    void on_ping_due();
    void watch_writing();
    void watch_replies();
    void watch_greeting();
    void watch_end();
    void start_stage(ev::Duration limit);
    void on_stage_timeout();
    ev::Time reply_due();
    void on_reply_timeout();

    void set_state(State state);
    void fail(bufio::End end);
    void on_end(bufio::End end);
    void close(bufio::End end);
    void drop_connection(bufio::End end);
    bufio::End explained(bufio::End end) const;
    bufio::End closed_early_end() const;
    // Returns a clause about how much of the reply to the message was received, with a likely
    // cause and, for a late message, the missing delimiter. Empty if nothing of that reply was
    // received.
    std::string partial_reply_text(const Message& message) const;
    bufio::End final_end(bufio::End end) const;
    bool announced(bufio::Reason reason) const;
    bool worth_retrying(bufio::Reason reason) const;

    struct Pings {  // on this connection
        std::uint64_t sent = 0;
        std::uint64_t answered = 0;  // number of the last answered ping
        std::uint64_t traffic = 0;   // traffic at the start of ping_timer_
    };

    // A timer that was never started, or was released, occupies no memory beyond its handle.
    template <class Due>
    void start(ev::Timer& timer, ev::Time at, Due due);
    // Starts a timeout that does not run while the session is paused.
    template <class Due>
    void start_unless_paused(ev::Timer& timer, ev::Time at, Due due);
    static bool running(const ev::Timer& timer) { return timer && timer.pending(); }
    static void release(ev::Timer& timer) { timer = {}; }

    ev::Loop& loop_;
    const std::shared_ptr<const Options> options_;
    Owner& owner_;
    const std::unique_ptr<Link> link_;
    Matcher& matcher_;  // owned by the link
    State state_ = State::idle;
    ev::Time state_since_{};
    bufio::End end_;
    Phases phases_;
    std::unique_ptr<bufio::Dialer> dialer_;  // set while dialing
    bufio::Lifetime lifetime_;
    bufio::Lifetime connection_lifetime_;  // lifetime of the current connection
    Backoff backoff_;
    std::uint64_t reply_count_ = 0;      // on this connection
    std::uint64_t last_traffic_ = 0;     // traffic at the last activity
    std::unique_ptr<Pings> pings_;       // null without --ping
    std::uint64_t last_written_ = 0;     // link_->written() when the peer last accepted output
    ev::Time read_at_{};                 // when the bytes being matched were read
    ev::Time output_accepted_at_{};      // when the peer last accepted output
    ev::Time oldest_sent_at_{};          // when the oldest message in flight was sent
    ev::Time reply_timer_from_{};        // start of its reply timeout
    std::optional<ev::Time> paused_at_;  // set while paused
    ev::Time resumed_at_{};              // end of the last pause
    ev::Duration max_pause_{};           // longest pause since finish()
    ev::Time flushed_at_{};
    bool partial_message_ = false;  // the peer closed the connection inside a message
    ev::Timer advance_timer_;       // due at once after a call by the owner
    // Limit of the current state: connect timeout, next attempt, or greeting time. While
    // finishing: the pause between replies, then the wait for the peer's end.
    ev::Timer stage_timer_;
    ev::Timer run_timer_;          // --max-time
    ev::Timer idle_timer_;         // the idle timeout
    ev::Timer ping_timer_;         // the next ping, or the limit for its pong
    ev::Timer write_timer_;        // limit for a peer that accepts no output
    ev::Timer reply_timer_;        // reply timeout of the oldest message in flight
    ev::Timer early_close_timer_;  // due at once if the peer closes before finish()
};

}  // namespace yodel
