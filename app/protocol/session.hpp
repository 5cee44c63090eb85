// A session with one service: dialing, handshake, messages and replies, timeouts, retries, the
// end. It uses neither the terminal nor standard input. Its owners are the clients with and
// without a screen.
//
// A stream carries the messages, whatever is below it: TCP, TLS, WebSocket or UDP. A Ledger
// decides which reply answers which message.
//
// With datagrams the session is open as soon as it has a socket, because only a reply proves
// that there is a peer. Only an ICMP "port unreachable" proves that there is none, and it ends
// the stream. After the last reply the session lingers, because a late reply changes the fate
// of its message from lost to late. When listening, it accepts datagrams from any peer, and
// answers the sender of the last one.
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
#include "app/protocol/framing.hpp"
#include "app/protocol/ledger.hpp"
#include "app/protocol/starttls.hpp"
#include "app/text/expression.hpp"
#include "app/websocket/transport.hpp"
#include "bufio/dial.hpp"
#include "bufio/lifetime.hpp"
#include "bufio/stream.hpp"
#include "bufio/tcp_facts.hpp"
#include "bufio/tls.hpp"
#include "ev/loop.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace yodel {

// The settings of a session.
struct SessionOptions {
    bufio::Endpoint endpoint = {};
    std::optional<bufio::TlsContext> tls = {};
    const Starttls* starttls = nullptr;                // needs tls
    std::vector<std::string> on_connect = {};          // sent first on each connection
    std::optional<websocket::Request> websocket = {};  // needs websocket_framing()
    const Framing* framing = find_framing("line");
    std::size_t max_frame = 32 * 1024 * 1024;  // bytes
    bool numbered = false;                     // see Ledger::Options
    Expect expect = Expect::echo;
    // With Expect::any, right replies match the pattern. With Expect::given, the parts of
    // replies that match it count as equal.
    std::optional<Expression> pattern = {};
    const Expression* pattern_or_null() const { return pattern ? &*pattern : nullptr; }
    bool coalesce = false;                                            // see Ledger::Options
    std::function<bool(std::string_view)> expected_unsolicited = {};  // see Ledger::Options
    ev::Duration connect_timeout = std::chrono::seconds(10);  // look-up, TCP and handshakes
    // Limit for each reply, and for a server that reads none of our output (at least 1 s).
    ev::Duration reply_timeout = std::chrono::seconds(5);
    // Limit from finish() until the peer closes its side.
    ev::Duration close_timeout = std::chrono::seconds(5);
    // Time to wait for a second reply, which would prove that the first reply was a greeting.
    // After finish() the reply timeout applies instead, because nobody watches for the reply.
    ev::Duration greeting_time = std::chrono::milliseconds(500);
    // When listening: limit for more output after the client has closed its side, or with
    // datagrams for more input after finish().
    ev::Duration answer_time = std::chrono::milliseconds(500);
    std::optional<ev::Duration> idle_timeout = {};
    std::optional<ev::Duration> ping = {};  // WebSocket: time without traffic before a ping
    // Queries the system's facts about a connection. Tests replace it.
    std::optional<bufio::TcpFacts> (*tcp_facts)(int socket) = bufio::tcp_facts;
    unsigned retries = 0;  // consecutive retries, or Session::forever
    // If false, a server that closes gracefully when it has answered all messages has announced
    // its end, as after QUIT. The end is then clean, and no retry follows.
    bool retry_after_answers = true;
    ev::Duration retry_delay = std::chrono::milliseconds(500);  // see Backoff
    // Seed for the random waits between attempts. Empty: a random seed for each session.
    std::optional<unsigned> retry_seed = {};
    // Limit for the whole session, from the first connect(). It continues after the session is
    // closed, because the user may still be writing replies.
    std::optional<ev::Duration> max_time = {};
    ev::Duration time_spent{};  // part of `max_time` that passed before the first connect()
    // What the server does if it closes while the user still wants to send.
    const char* early_close = "closed the connection";

    // The peer is a client that was accepted.
    bool listens() const { return endpoint.acceptor != nullptr; }
    // Returns "listening ADDRESS", and how clients can trust our certificate.
    std::string listening_text() const;
    // Returns the target as a user may write it, with its scheme, port and path.
    std::string target() const;
    bool has_handshake() const { return tls || websocket; }
    // Returns the name of the handshake for error texts.
    std::string handshake() const {
        if (starttls) return "STARTTLS";
        return websocket ? (tls ? "TLS and WebSocket" : "WebSocket") : "TLS";
    }
};

class Session final : private bufio::Stream::Owner {
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
    void disconnect(bufio::End end = {bufio::Reason::aborted, bufio::By::us, "disconnected"});
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
    char* reserve(std::size_t size) { return ledger_.reserve(size); }
    QueuedIds send_reserved(std::size_t size);
    // Returns an id for a message that is not queued because it cannot be sent.
    std::uint64_t reserve_id() { return ledger_.reserve_id(); }
    void flush();
    // The time of the last flush() that tried to write messages.
    ev::Time flushed_at() const { return flushed_at_; }
    // Excludes the messages in flight from timing, because something other than the service
    // delays their replies.
    void void_round_trips() { ledger_.void_round_trips(); }
    // While paused, reads nothing, so that back-pressure slows the peer down. Of the timeouts,
    // only the connect timeout and --max-time keep running.
    void pause(bool paused);

    State state() const { return state_; }
    // Returns true from the start of the handshake to the end of the connection. With
    // datagrams: while there is a socket.
    bool connected() const { return stream_ != nullptr; }
    // Returns true while connected. With datagrams: once the current socket has received
    // something. Until then end() is the refusal of the last socket, if any, and a graceful end
    // does not change it.
    bool peer_known() const {
        return connected() && (!lossy() || options_->listens() || stream_->bytes_read() > 0);
    }
    std::string phase() const;                             // phase of connecting, in words
    ev::Time state_since() const { return state_since_; }  // when the state was entered
    const bufio::End& end() const { return end_; }
    bool out_of_time() const { return run_timer_ && !run_timer_.pending(); }  // see --max-time
    // While waiting: number of the next consecutive retry, from 1, and its time.
    unsigned retry_count() const { return backoff_.count(); }
    ev::Time retry_time() const { return stage_timer_.deadline(); }
    // The peer has closed its side.
    bool input_ended() const {
        return stream_ && stream_->input_ended() && !stream_->rejection();
    }
    // Returns true if the server has closed its side, but messages can still be sent.
    bool peer_half_closed() const { return input_ended() && !ends_with_input(); }
    std::size_t in_flight() const { return ledger_.in_flight(); }  // messages
    std::size_t in_flight_bytes() const { return ledger_.in_flight_bytes(); }
    std::uint64_t last_id() const { return ledger_.last_id(); }  // the message queued last
    std::size_t pending() const { return stream_ ? stream_->pending() : 0; }  // bytes to write
    // Returns false if the peer cannot slow us down. Messages beyond the capacity of the peer
    // or the path are then lost.
    bool has_back_pressure() const { return !lossy(); }
    const bufio::Address& address() const { return address_; }
    const Phases& phases() const { return phases_; }
    // What a service said during STARTTLS and --on-connect on this connection, line by line.
    const std::vector<std::string>& opening_notes() const { return opening_notes_; }
    // Returns the TLS facts of the current or the last connection; null without TLS.
    const bufio::TlsFacts* tls() const {
        return facts_ && facts_->tls ? &*facts_->tls : nullptr;
    }
    // Returns the WebSocket facts of the current or the last connection; null without
    // WebSocket.
    const websocket::Facts* websocket() const {
        return facts_ && options_->websocket ? &facts_->websocket : nullptr;
    }
    // Queries the system's facts about the current TCP connection. Without one, returns the
    // facts at the end of the last connection. None if there are no facts.
    std::optional<bufio::TcpFacts> tcp() const {
        return stream_ ? options_->tcp_facts(stream_->descriptor()) : tcp_;
    }
    const Options& options() const { return *options_; }

private:
    void stream_changed(bufio::Stream&) override { advance(); }

    // With datagrams, order and arrival are not certain.
    bool lossy() const { return options_->endpoint.udp; }
    void dial();
    void on_dialed(bufio::DialResult result);
    std::unique_ptr<bufio::Transport> make_transport(bufio::Fd socket);
    std::unique_ptr<bufio::Transport> make_transport_below(bufio::Fd socket);
    void record_facts();
    void advance();
    void advance_connection();
    void advance_handshake();
    bool match_input();
    std::string partial_message() const;  // bytes of the incomplete reply
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
    ev::Time end_deadline();
    void start_stage(ev::Duration limit);
    void on_stage_timeout();
    ev::Time reply_due();
    void on_reply_timeout();

    void set_state(State state);
    void fail(bufio::End end);
    void on_end(bufio::End end);
    void close(bufio::End end);
    void drop_connection(bufio::End end);
    bool got_tls_alert() const;  // the server expects TLS
    bufio::End explained(bufio::End end) const;
    // Returns the rest of a sentence that begins with "no reply".
    std::string loss_text(const Message& message) const;
    // Returns a clause about how much of the reply to the message was received, with a likely
    // cause and, for a late message, the missing delimiter. Empty if nothing of that reply was
    // received.
    std::string partial_reply_text(const Message& message) const;
    bufio::End final_end(bufio::End end) const;
    bool worth_retrying(bufio::Reason reason) const;

    struct Facts {
        std::optional<bufio::TlsFacts> tls;
        websocket::Facts websocket;
    };
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
    Ledger ledger_;
    State state_ = State::idle;
    ev::Time state_since_{};
    bufio::End end_;
    Phases phases_;
    std::vector<std::string> opening_notes_;
    std::unique_ptr<bufio::Dialer> dialer_;  // set while dialing
    bufio::Address address_;                 // the peer's, on this connection or the last one
    std::unique_ptr<Facts> facts_;           // outlives the stream; null without a handshake
    std::optional<bufio::TcpFacts> tcp_;     // as of the end of the last connection
    std::unique_ptr<bufio::Stream> stream_;  // null without a connection
    // Input not yet matched; set while it is matched.
    std::optional<std::string_view> unprocessed_;
    std::array<char, 7> first_bytes_{};  // received first; examined only if nothing followed
    // Over UDP, how the last connection was refused; none once something was received.
    bufio::End refusal_;
    ev::Time linger_start_{};  // over UDP, when the last reply arrived after finish(); or 0
    bufio::Lifetime lifetime_;
    bufio::Lifetime connection_lifetime_;  // lifetime of the current connection
    Backoff backoff_;
    std::uint64_t reply_count_ = 0;      // on this connection
    std::uint64_t last_traffic_ = 0;     // traffic at the last activity
    std::unique_ptr<Pings> pings_;       // null without --ping
    std::uint64_t last_written_ = 0;     // bytes written when the peer last accepted output
    ev::Time read_at_{};                 // when the bytes being matched were read
    ev::Time output_accepted_at_{};      // when the peer last accepted output
    ev::Time oldest_sent_at_{};          // when the oldest message in flight was sent
    ev::Time reply_timer_from_{};        // start of its reply timeout
    std::optional<ev::Time> paused_at_;  // set while paused
    ev::Time resumed_at_{};              // end of the last pause
    ev::Duration max_pause_{};           // longest pause since finish()
    ev::Time flushed_at_{};
    bool partial_message_ = false;  // the peer closed the connection inside a message
    ev::Timer advance_timer_;       // due in the next turn after a call by the owner
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
