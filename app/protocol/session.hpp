// A session with one service: dialing, handshake, messages and replies, timeouts, retries, the
// end. It uses neither the terminal nor standard input.
//
// A stream carries the messages, whatever is below it: TCP, TLS, WebSocket or UDP. A Ledger
// decides which reply answers which message. A round trip lasts from the write of the message's
// last byte to the read that completes its reply.
//
// With datagrams the session is open as soon as it has a socket, because only a reply proves
// that there is a peer. An ICMP "port unreachable" proves that there is none, and ends the
// stream. After finish() and the last reply, the session lingers, because a late reply changes
// the fate of its message from lost to late. When listening, the session accepts datagrams from
// any peer, and answers the sender of the last datagram.
//
// If the options allow it, the session retries after a temporary failure, such as a refused
// connection, a reset, or a server that closes too early. Fully written messages are then lost.
// The others are sent over the next connection, except when listening, with datagrams, and with
// `raw`, whose bytes have no boundaries.
//
// The owner is called from the loop, never from inside its own calls. A callback may call or
// destroy the session.
#pragma once

#include "app/protocol/event.hpp"
#include "app/protocol/ledger.hpp"
#include "app/protocol/session_options.hpp"
#include "bufio/stream.hpp"
#include "ev/loop.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace yodel {

class Session final : private bufio::Stream::Owner {
public:
    using Options = SessionOptions;
    using State = SessionState;
    static constexpr unsigned forever = Options::forever;
    using Phases = SessionFacts::Phases;

    class Owner {
    public:
        virtual void session_changed() = 0;  // the state, or the space to send more
        // The bytes of unframed replies are also reported as they are read. Only the option
        // `may_coalesce` allows events about several messages.
        virtual void session_event(const Event& event) = 0;

    protected:
        ~Owner() = default;
    };

    // The loop and the owner must outlive the session. Many sessions may share their options.
    Session(ev::Loop& loop, std::shared_ptr<const Options> options, Owner& owner);
    Session(const Session&) = delete;

    // Allowed in the states idle, closed and waiting. A waiting session retries now, and
    // restarts the retry count.
    void connect();
    // Closes now, as Stream::close() does, and does not retry. Pending output is lost. Without
    // an argument, a known end stays; while waiting, that is the failure of the last attempt.
    void disconnect(bufio::End end = {});
    // Closes our side once each message is answered or lost. With `stays_open`, also waits
    // until the peer has closed its side. Otherwise, closes earlier if nothing is sent or
    // received for a short time, because some services answer only once our side is closed.
    // With datagrams, waits a moment for late and duplicate replies after the last expected
    // reply.
    void finish();

    // Queues a message, or several if for_each_piece() cuts the payload. A queued message
    // counts as in flight, so call flush() before returning to the loop. Returns no ids if the
    // session is not open, or if the framing or --max-frame does not allow the message's size.
    // The message was due at `planned_at`, by default at flush(). With Expect::given, `reply`
    // is the expected reply, or none if no reply is expected.
    QueuedIds send(std::string_view payload, ev::Time planned_at = {},
                   std::optional<std::string_view> reply = {});
    // Send without a copy, with `raw`. reserve() returns space in the queue, and
    // send_reserved() queues its first `size` bytes as a message.
    char* reserve(std::size_t size) { return ledger_.reserve(size); }
    QueuedIds send_reserved(std::size_t size);
    // Returns an id for a message that is not queued because it cannot be sent.
    std::uint64_t reserve_id() { return ledger_.reserve_id(); }
    void flush();
    ev::Time flushed_at() const { return flushed_at_; }  // of the last flush() with messages
    // Excludes the messages in flight from timing, because we delay their replies.
    void void_round_trips() { ledger_.void_round_trips(); }
    // While paused, reads only answers to opening lines, so that back-pressure slows the peer
    // down. The connect timeout, the wait for a retry and --max-time keep running; the other
    // timeouts continue after the pause.
    void pause(bool pauses);

    State state() const { return state_; }
    bool is_connected() const { return stream_ != nullptr; }  // also during the handshake
    // Returns true if there is a connection. A datagram socket that does not listen must also
    // have received something. Until then, end() is the refusal that ended the last socket, if
    // there was one, and a graceful end does not replace it.
    bool is_peer_known() const {
        return is_connected() &&
               (!is_udp() || options_->listens() || stream_->bytes_read() > 0);
    }
    std::string phase() const;  // while connecting or waiting, in words
    ev::Time state_began_at() const { return entered_at_; }  // when state() began
    const bufio::End& end() const { return end_; }
    bool is_out_of_time() const {
        return options_->max_time && state() != State::idle && run_ends_at_ == ev::Time::max();
    }
    // Consecutive retries, including the next one while waiting. Accepting another client is no
    // retry.
    unsigned retry_count() const { return retries_; }
    ev::Time retry_at() const { return attempt_at_; }  // while waiting
    bool input_ended() const {
        return stream_ && stream_->input_ended() && !stream_->rejection();
    }
    // Returns true if the peer has closed its side, but messages can still be sent.
    bool is_peer_half_closed() const { return input_ended() && !options_->ends_with_input(); }
    std::size_t in_flight() const { return ledger_.in_flight(); }  // messages
    std::size_t in_flight_bytes() const { return ledger_.in_flight_bytes(); }
    std::uint64_t last_id() const { return ledger_.last_id(); }  // the message queued last
    std::string_view partial_message() const;  // received bytes of an incomplete message
    std::size_t pending() const { return stream_ ? stream_->pending() : 0; }  // bytes to write
    // Returns true with datagrams, whose order and arrival are not certain. The peer cannot
    // slow us down, and messages beyond the capacity of the peer or the path are lost.
    bool is_udp() const { return options_->endpoint.is_udp; }
    // Facts about the current connection, or the last one. tls() is null without TLS and
    // during the handshake, and websocket() is null without WebSocket.
    const bufio::Address& address() const { return facts_.address; }  // the peer's
    const Phases& phases() const { return facts_.phases; }
    // The lines of --on-connect that await no answer, without arguments, and the service's
    // answers to STARTTLS and --on-connect.
    const std::vector<std::string>& opening_notes() const { return facts_.opening_notes; }
    const bufio::TlsFacts* tls() const {
        return stream_ && stream_->handshake_done() ? stream_->tls() : facts_.tls.get();
    }
    const websocket::Facts* websocket() const { return facts_.websocket.get(); }
    // Queries the system about a current connection. Otherwise returns the facts from the end
    // of the last connection, or none if there are no facts.
    std::optional<bufio::TcpFacts> tcp() const {
        return stream_ ? bufio::tcp_facts(stream_->descriptor()) : facts_.tcp;
    }
    const Options& options() const { return *options_; }

private:
    enum class Deadline : std::uint8_t {
        attempt,      // the connect timeout or, while waiting, the next attempt
        run,          // --max-time
        idle,         // the idle timeout
        ping,         // the next ping, or the limit for its pong
        output,       // limit for a peer that accepts no output
        reply,        // the reply timeout of the oldest message in flight
        greeting,     // the greeting time, after the first reply
        quiet,        // while finishing: we close our side without waiting for more replies
        end,          // while finishing, after the last reply: limit for the peer's end
        early_close,  // the peer's end counts as the end of the connection
    };
    struct Due {
        Deadline which;
        ev::Time at;
    };
    // What has happened on this connection. A time of 0 means that the event has not happened.
    struct Progress {
        std::size_t replies = 0;          // to messages
        std::uint64_t traffic = 0;        // see Stream::traffic()
        std::uint64_t written = 0;        // bytes
        std::uint64_t pings = 0;          // sent
        bool awaits_pong = false;         // for a ping at `pinged_at`
        std::uint64_t opening_bytes = 0;  // written before the first message
        ev::Time oldest_sent_at{};        // when the oldest message in flight was sent
        ev::Duration max_pause{};         // longest pause since finish()
        ev::Time all_resolved_at{};       // while finishing: since when nothing is in flight
        // Starts of waits, which a pause interrupts:
        ev::Time active_at{};  // when bytes were last sent or received, or the connection began
        ev::Time pinged_at{};  // when the last ping was sent or answered, or could be sent
        ev::Time accepted_at{};  // when the peer last accepted output, or output began to wait
        ev::Time awaited_at{};   // start of the reply timeout
        ev::Time greeted_at{};   // when a possible greeting arrived
        ev::Time event_at{};     // when the last event was reported, or finish() was called
        ev::Time early_close_wait_at{};  // when the wait after an early close began
    };

    void stream_changed(bufio::Stream&) override { advance(); }

    bool is_paused() const { return paused_at_.has_value(); }
    // Returns true if output waits for the peer. Datagrams wait for nobody.
    bool has_unsent() const { return pending() > 0 && !is_udp(); }
    // Returns true if finish() has nothing left to wait for.
    bool may_close() const {
        return in_flight() == 0 && !is_paused() && (!options_->stays_open || input_ended());
    }
    void dial();
    void on_dialed(bufio::DialResult result);
    void open_stream(bufio::Fd socket, bool is_plaintext);
    bool advance_dialogue();
    void advance();
    // The functions from here to report_resolved() return false if a callback has ended the
    // connection, whose end is reported in the next turn, or has destroyed the session.
    bool advance_connection();
    bool advance_handshake();
    bool match_input();
    bool on_input_ended();
    bool report(Event event);
    bool report_resolved();
    void report_changes();

    void observe_traffic(ev::Time now);
    void observe();
    Due first_due() const;
    ev::Time end_deadline() const;
    void wake_by(ev::Time due_at);
    void on_timer();

    void set_state(State state);
    void end_with(bufio::End end, bool may_retry = true);
    bufio::End explained_end(bufio::End end) const;
    bufio::End finished_end(bufio::End end) const;
    bool got_tls_alert() const;  // the server expects TLS
    bool is_worth_retrying(bufio::Reason reason) const;

    ev::Loop& loop_;
    const std::shared_ptr<const Options> options_;
    Owner& owner_;
    Ledger ledger_;
    State state_ = State::idle;
    ev::Time entered_at_{};                   // when the state was entered
    ev::Time attempt_at_ = ev::Time::max();   // when Deadline::attempt is due
    ev::Time run_ends_at_ = ev::Time::max();  // when Deadline::run is due
    std::optional<ev::Time> paused_at_;       // set while paused
    ev::Time resumed_at_{};                   // end of the last pause
    Progress progress_;
    bufio::End end_;
    SessionFacts facts_;
    std::unique_ptr<bufio::Dialer> dialer_;  // set while dialing
    std::unique_ptr<bufio::Stream> stream_;  // null if there is no connection
    std::unique_ptr<Dialogue> dialogue_;     // null once the opening lines are answered
    // Input not yet matched. Set only while match_input() runs.
    std::optional<std::string_view> unprocessed_;
    // Over UDP, how the last connection failed; none once something was received.
    bufio::End refusal_;
    bufio::Lifetime lifetime_;       // ends with the session, and with each of its connections
    unsigned retries_ = 0;           // since a retry has succeeded; see proven_time
    bool began_with_alert_ = false;  // a TLS alert; proves nothing if other bytes followed
    std::minstd_rand random_;        // for the waits between attempts
    ev::Time read_at_{};             // when the bytes being matched were read
    ev::Time flushed_at_{};
    ev::Timer timer_;  // due at the earliest deadline, or earlier
};

inline std::string end_text(const Session& session) {
    return end_text(session.end(), session.options(), session.tls());
}

}  // namespace yodel
