// A session with one service: dialing, handshake, messages and replies, timeouts, retries, the
// end. It knows neither terminal nor standard input; the clients with and without a screen are
// its users.
//
// A Link carries the messages, over a stream or in datagrams. The link's Matcher decides which
// reply answers which message. Users need not know the kind of link: only the callbacks, the
// framing and has_back_pressure() depend on it.
//
// A round trip is measured from the write of the message's last byte to the read that
// completes its reply.
//
// If the options allow it, the session retries after a temporary failure (look-up, connecting,
// a reset, a server that closes too early). Messages that were written are then lost. Messages
// that were not written whole are sent over the next connection, except with `raw`, whose
// bytes have no boundaries, and with datagrams.
//
// The user is called from the loop, never from inside a call of its own: changes are reported
// after the call. A callback may call the session, and destroy it.
#pragma once

#include "app/protocol/backoff.hpp"
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
    // Durations of the parts of connecting.
    struct Phases {
        ev::Duration lookup{};
        ev::Duration tcp{};
        std::optional<ev::Duration> handshake;  // with TLS or WebSocket, once it is open
    };
    static constexpr unsigned forever = std::numeric_limits<unsigned>::max();

    // `waiting`: for the next try; end() is then the failure of the last try.
    enum class State { idle, dialing, handshaking, open, finishing, waiting, closed };

    // The views of a message or reply are valid until the callback returns or sends.
    class User {
    public:
        virtual void session_changed() = 0;  // the state, or space for more to send
        virtual void session_answered(const Message& message, const Reply& reply) = 0;
        // Only with the option `coalesce`.
        virtual void session_echoed(const Batch&, std::optional<ev::Duration> /*round_trip*/) {}
        // No reply will come, or none came within the reply timeout (`late`).
        virtual void session_lost(const Message& message) = 0;
        virtual void session_unsolicited(std::string_view payload) = 0;
        // The same after an echo: the server has sent more than it was asked for.
        virtual void session_stale(std::string_view payload) { session_unsolicited(payload); }
        // The reply that is arriving is already wrong. `sentence`: which, and how.
        virtual void session_differing(const std::string& /*sentence*/) {}
        // A duplicate of a reply: of any datagram, or of the last echo in a stream.
        virtual void session_duplicate(std::string_view payload) {
            session_unsolicited(payload);
        }
        // If replies have no frames: the bytes as they come, before they are matched.
        virtual void session_received(std::string_view) {}

    protected:
        ~User() = default;
    };

    // The loop and the user outlive the session.
    Session(ev::Loop& loop, Options options, User& user);
    // The same, if many sessions share their options.
    Session(ev::Loop& loop, std::shared_ptr<const Options> options, User& user);
    Session(const Session&) = delete;

    // Allowed in idle, closed and waiting. In waiting it retries now, as the first try.
    void connect();
    // Closes now, without another try, as Stream::close() does. Pending output is lost.
    void disconnect();
    // Closes our side once all replies are in, or if none comes for a moment: the service may
    // wait for our end before it answers. Datagrams have no end to announce: once all replies
    // are in or overdue, late and duplicate replies have a moment to come.
    void finish();

    // Queues a message, or several if the framing could not distinguish it from several. A
    // call of flush() must follow before the loop goes on, because a queued message counts as
    // in flight. Returns none if it was refused: the session is not open, or the message is
    // longer than the framing or --max-frame allow, or empty although replies are
    // distinguished by their size. `planned`: when the message was due; defaults to the time
    // of flush(). `reply`: with Expect::given the expected reply; none: no reply is expected.
    Queued send(std::string_view payload, ev::Time planned = {},
                std::optional<std::string_view> reply = {});
    // With `raw`, the same without a copy: reserve() returns space in the queue, and
    // send_reserved() queues its first `size` bytes as a message.
    char* reserve(std::size_t size) { return link_->reserve(size); }
    Queued send_reserved(std::size_t size);
    // Returns an id for a message that can't be sent and is not queued.
    std::uint64_t reserve_id() { return matcher_.reserve_id(); }
    void flush();
    // When flush() last passed messages to the connection, whether or not it took them.
    ev::Time flushed_at() const { return flushed_at_; }
    // Excludes the replies in flight from timing, because something other than the service
    // delays them.
    void void_round_trips() { matcher_.void_round_trips(); }
    // While paused, nothing is read, so that the peer meets our back-pressure, and no timeout
    // but --max-time runs.
    void pause(bool paused);

    State state() const { return state_; }
    // True from the start of the handshake to the end of the connection. With datagrams: while
    // there is a socket.
    bool connected() const { return link_->connected(); }
    // True while connected. With datagrams: once the present socket has received something.
    // Until then end() is the refusal of the previous socket, if any, and a graceful end does
    // not change it.
    bool peer_known() const { return link_->peer_known(); }
    std::string phase() const;                 // the stage of connecting, in words
    ev::Time since() const { return since_; }  // when the state was entered
    const bufio::End& end() const { return end_; }
    bool out_of_time() const { return max_time_ && !max_time_.pending(); }  // see --max-time
    // While waiting: the number of the next try in a row, from 1, and its time.
    unsigned retry() const { return backoff_.count(); }
    ev::Time retry_time() const { return stage_.deadline(); }
    bool input_ended() const { return link_->input_ended(); }  // the peer has closed its side
    // True if the server has closed its side, and messages can still be sent.
    bool half_closed() const { return link_->input_ended() && !ends_with_input(); }
    // Returns how much of the reply to a message was received and, if the message is late, the
    // missing part, and a likely cause, as a clause; empty if nothing was received.
    std::string partial_text(const Message& message) const;
    std::size_t in_flight() const { return matcher_.in_flight(); }  // messages
    std::size_t in_flight_bytes() const { return matcher_.in_flight_bytes(); }
    std::uint64_t last_id() const { return matcher_.last_id(); }  // the message queued last
    std::size_t pending() const { return link_->pending(); }      // bytes to write
    // False: the peer can't slow us down, and messages beyond its capacity, or the path's, are
    // lost.
    bool has_back_pressure() const { return link_->has_back_pressure(); }
    const bufio::Address& address() const { return link_->address(); }
    const Phases& phases() const { return phases_; }
    // The TLS facts of the present or the last connection; null without TLS.
    const bufio::TlsFacts* tls() const { return link_->tls(); }
    // The same for WebSocket.
    const websocket::Facts* websocket() const { return link_->websocket(); }
    // Returns the system's facts about the TCP connection, by a system call. After the
    // connection, returns the facts at its end, until the next one. None before the first
    // connection, for another kind of socket, and if the system reports none.
    std::optional<bufio::TcpFacts> tcp() const { return link_->tcp(); }
    const Options& options() const { return *options_; }

private:
    void link_changed() override { advance(); }

    void dial();
    void on_dialed(bufio::DialResult result);
    void advance();
    void advance_connection();
    void report(const Matcher::Event& event);
    bool report_resolved();
    void report_changes();
    void on_input_ended();
    bool ends_with_input() const;
    Message marked(Message message, std::optional<ev::Duration> round_trip);
    void change_soon() { changed_.start(ev::Duration::zero()); }

    void watch_all();
    void watch_idleness();
    void watch_writing();
    void watch_replies();
    void watch_greeting();
    void watch_end();
    void start_stage(ev::Duration limit);
    void on_stage_timeout();
    ev::Time reply_due();
    void on_reply_timeout();

    void set_state(State state);
    void fail(bufio::Reason reason, std::string text);
    void ended(bufio::End end);
    void close(bufio::End end);
    void drop_connection(bufio::End end);
    bufio::End explained(bufio::End end) const;
    bufio::End closed_early() const;
    std::string fragment_text(std::string_view part) const;
    bufio::End truncated(std::string_view part) const;
    bufio::End judged(bufio::End end) const;
    bool worth_retrying(bufio::Reason reason) const;

    // A timer that was never started, or was released, takes no memory beyond its handle.
    template <class Due>
    void start(ev::Timer& timer, ev::Time at, Due due);
    // Starts a timeout that does not run while the session is paused.
    template <class Due>
    void start_reading_limit(ev::Timer& timer, ev::Time at, Due due);
    static bool runs(const ev::Timer& timer) { return timer && timer.pending(); }
    static void release(ev::Timer& timer) { timer = {}; }

    ev::Loop& loop_;
    const std::shared_ptr<const Options> options_;
    User& user_;
    const std::unique_ptr<Link> link_;
    Matcher& matcher_;  // the link's
    State state_ = State::idle;
    ev::Time since_{};
    bufio::End end_;
    Phases phases_;
    std::unique_ptr<bufio::Dialer> dialer_;  // while it dials
    bufio::Lifetime lifetime_;
    bufio::Lifetime connection_;  // ends with each connection
    Backoff backoff_;
    std::uint64_t replies_ = 0;          // over this connection
    std::uint64_t moved_ = 0;            // read and written at the last activity
    std::uint64_t written_ = 0;          // written when the peer last took output
    ev::Time read_at_{};                 // when the bytes that are being matched were read
    ev::Time taken_at_{};                // when the peer last took output
    ev::Time awaited_{};                 // when the oldest message in flight was sent
    ev::Time awaited_since_{};           // start of its reply timeout
    std::optional<ev::Time> paused_at_;  // while paused
    ev::Time resumed_at_{};              // end of the last pause
    ev::Duration longest_pause_{};       // longest pause since finish()
    ev::Time flushed_at_{};
    bool partial_message_ = false;  // the peer closed inside a message
    ev::Timer changed_;             // due at once: a call of the user has changed something
    // The limit of the state: the connect timeout, or the next try, or until the first reply
    // counts as a wrong answer. While finishing: no reply for a moment; then the wait for the
    // peer's own end.
    ev::Timer stage_;
    ev::Timer max_time_;      // --max-time
    ev::Timer idle_;          // the idle timeout
    ev::Timer stalled_;       // the peer takes nothing
    ev::Timer reply_;         // the reply timeout of the oldest message in flight
    ev::Timer closed_early_;  // until the end of our input no longer counts as in time
};

}  // namespace yodel
