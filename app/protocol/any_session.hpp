// A conversation of messages with one service, whatever carries them: what the clients, with a
// screen or without, know of it.  Session carries them over a stream, DatagramSession in
// datagrams; make_session() chooses.
//
// The two share this interface and no code: a stream has order, back-pressure, framing, TLS and
// an end of its own, and datagrams have none of them, so that each class would be full of
// questions about the other. Their users need not ask: what differs is told by what they are
// notified of, by the framing, and by has_back_pressure().
//
// The user is called from the loop, never from inside a call of its own: what a call changes is
// reported after it. From there it may call the session, and destroy it.
#pragma once

#include "app/protocol/framing.hpp"
#include "app/protocol/matcher.hpp"
#include "bufio/address.hpp"
#include "bufio/end.hpp"
#include "bufio/lookup.hpp"
#include "bufio/tcp_facts.hpp"
#include "bufio/tls.hpp"
#include "bufio/tls_facts.hpp"
#include "ev/loop.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace yodel {

class AnySession {
public:
    struct Options {
        bufio::Endpoint endpoint;
        std::optional<bufio::TlsContext> tls;
        const Framing* framing = find_framing("line");
        std::size_t max_frame = 32 * 1024 * 1024;  // bytes
        // Datagrams only: see DatagramMatcher::Options.
        bool numbered = false;
        Expect expect = Expect::echo;
        bool coalesce = false;                                // see ReplyMatcher::Options
        std::function<bool(std::string_view)> foreseen = {};  // the same
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
        // Of the random part of the waits between tries. Empty: those of each session differ.
        std::optional<unsigned> retry_seed;
        // From the first connect() on. It runs on when the session is closed, because the user
        // may still have to write what the session has brought.
        std::optional<ev::Duration> max_time;
        ev::Duration spent{};  // of `max_time`, by the user before that connect()
        // The sentence for a server that closes while the user still has something to say.
        std::string closed_early = "the server closed the connection";
    };
    // How long the parts of connecting took.
    struct Phases {
        ev::Duration lookup{};
        ev::Duration tcp{};
        std::optional<ev::Duration> tls;  // with TLS, once it is open
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
        // A reply that has come before: only datagrams come twice.
        virtual void session_repeated(std::string_view payload) {
            session_unsolicited(payload);
        }
        // Where replies have no frames: the bytes as they come, before they are matched.
        virtual void session_received(std::string_view) {}

    protected:
        ~User() = default;
    };

    virtual ~AnySession() = default;

    // From idle or closed; from waiting: at once, as the first try.
    virtual void connect() = 0;
    // Closes now, for good, with close_notify where TLS is spoken; pending output is lost.
    virtual void disconnect() = 0;
    // Announces that nothing more will be sent, once all replies are in; but while none comes
    // for a moment, at once: the service may wait for our end before it answers. Datagrams have
    // no end to announce: once all replies are in, or overdue, late and repeated ones have a
    // moment to come.
    virtual void finish() = 0;

    // Queues a message, or several where the framing could not distinguish it from several, to
    // be written by a flush(), which must follow before the loop goes on: a message counts as
    // in flight from here on. Returns none if it was refused: the session is not open,
    // or the message is longer than the framing or --max-frame allow, or empty where replies
    // are distinguished by their size. `planned` is when the message was to go out; without it,
    // that is when flush() is called. `reply`: with Expect::given the reply that the message
    // is to get; without it, none is to come.
    virtual Queued send(std::string_view payload, ev::Time planned = {},
                        std::optional<std::string_view> reply = {}) = 0;
    // With `raw`, the same without a copy: space in the queue, and a message of what was put
    // there.
    virtual char* reserve(std::size_t size) = 0;
    virtual Queued send_reserved(std::size_t size) = 0;
    // Returns an id for a message that can't be sent and is not queued.
    virtual std::uint64_t reserve_id() = 0;
    virtual void flush() = 0;
    // When flush() has last passed messages to the connection, whether or not it took them.
    virtual ev::Time flushed_at() const = 0;
    // Something other than the service delays the replies in flight: their times don't count.
    virtual void void_round_trips() = 0;
    // While paused, nothing is read, so that the peer meets our back-pressure, and no time-out
    // but --max-time runs.
    virtual void pause(bool paused) = 0;

    virtual State state() const = 0;
    // There is a connection: from its handshake until its end. Of datagrams: there is a socket.
    virtual bool connected() const = 0;
    // The peer is known to be there: there is a connection. Of datagrams: something has come on
    // the present socket. Until then end() is the refusal of the socket before, if there was
    // one, and an end in order leaves it as it is.
    virtual bool peer_known() const = 0;
    virtual std::string phase() const = 0;  // of connecting, in words
    virtual ev::Time since() const = 0;     // when the state was entered
    virtual const bufio::End& end() const = 0;
    virtual bool out_of_time() const = 0;  // --max-time has passed
    // While waiting: the number of the next try in a row, from 1, and its time.
    virtual unsigned retry() const = 0;
    virtual ev::Time retry_time() const = 0;
    virtual bool input_ended() const = 0;             // the peer has closed its side
    virtual std::size_t in_flight() const = 0;        // messages
    virtual std::size_t in_flight_bytes() const = 0;  // of their payloads, at least
    virtual std::uint64_t last_id() const = 0;        // of the message queued last
    virtual std::size_t pending() const = 0;          // bytes to write
    // False: the peer can't slow us down, and what is too much for it, or for the way, is lost.
    virtual bool has_back_pressure() const = 0;
    virtual const bufio::Address& address() const = 0;
    virtual const Phases& phases() const = 0;
    // The TLS facts of the present or the last connection; null without TLS.
    virtual const bufio::TlsFacts* tls() const = 0;
    // The facts that the system knows about the TCP connection, by a system call; after the
    // connection those at its end, until the next one. None for another socket than that of
    // TCP, where the system does not tell, and before the first connection.
    virtual std::optional<bufio::TcpFacts> tcp() const = 0;
    virtual const Options& options() const = 0;
};

// Returns a session over a stream or, where the endpoint says so, one of datagrams. The loop
// and the user outlive it.
std::unique_ptr<AnySession> make_session(ev::Loop& loop, AnySession::Options options,
                                         AnySession::User& user);
// The same, where many sessions share their options.
std::unique_ptr<AnySession> make_session(ev::Loop& loop,
                                         std::shared_ptr<const AnySession::Options> options,
                                         AnySession::User& user);

}  // namespace yodel
