// Carries the messages of a session, over a stream or in datagrams. A link owns a matcher, and
// the socket of the current connection. It encodes and decodes messages, and knows how its kind
// of connection ends. A session uses links only through this interface. It does what all links
// share: connecting, retries, timeouts, reports.
//
// To add a link, write one file with a class and a function that makes it. Call the function in
// the constructor of Session.
#pragma once

#include "app/protocol/framing.hpp"
#include "app/protocol/matcher.hpp"
#include "app/protocol/starttls.hpp"
#include "app/text/expression.hpp"
#include "app/websocket/transport.hpp"
#include "bufio/dial.hpp"
#include "bufio/tcp_facts.hpp"
#include "bufio/tls.hpp"
#include "ev/loop.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace yodel {

// The settings of a session and its link.
struct SessionOptions {
    bufio::Endpoint endpoint = {};
    std::optional<bufio::TlsContext> tls = {};
    const Starttls* starttls = nullptr;                // needs tls
    std::optional<websocket::Request> websocket = {};  // needs websocket_framing()
    const Framing* framing = find_framing("line");
    std::size_t max_frame = 32 * 1024 * 1024;  // bytes
    bool numbered = false;                     // see ContentMatcher::Options
    Expect expect = Expect::echo;
    // With Expect::any, right replies match the pattern. With Expect::given, the parts of
    // replies that match it count as equal.
    std::optional<Expression> pattern = {};
    const Expression* pattern_or_null() const { return pattern ? &*pattern : nullptr; }
    bool coalesce = false;  // see OrderedMatcher::Options
    std::function<bool(std::string_view)> expected_unsolicited = {};  // see OrderedMatcher
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

class Link {
public:
    class User {
    public:
        // Called from the loop after input, output, or the end of the connection. The user then
        // calls next() until it returns none, and may close or destroy the link.
        virtual void link_changed() = 0;

    protected:
        ~User() = default;
    };

    // The options, the loop and the user outlive the link.
    Link(ev::Loop& loop, const SessionOptions& options, User& user)
        : loop_(loop), options_(options), user_(user) {}
    virtual ~Link() = default;
    Link(const Link&) = delete;

    virtual Matcher& matcher() = 0;

    // The connection.
    virtual void reset_facts() {}                     // drops the facts of the last connection
    virtual void open(bufio::DialResult result) = 0;  // owns result.socket, which must exist
    virtual void close() = 0;                         // closes now; a stream gracefully
    virtual bool connected() const = 0;      // from the start of its handshake to close()
    virtual bool ready() const = 0;          // the handshake is done
    virtual void opened() {}                 // called when ready(), until the session is open
    virtual bool greeted() { return true; }  // no greeting is needed, or it was received
    virtual void pause(bool paused) = 0;     // stops reading while paused
    virtual bool input_ended() const { return false; }    // the peer has closed its side
    virtual bool output_closed() const { return true; }   // we have closed our side
    virtual bool can_half_close() const { return true; }  // each side closes separately
    virtual const bufio::End& end() const = 0;            // Reason::none before the end

    // Output. send() and send_reserved() return no ids if the message is refused; see
    // Session::send().
    virtual QueuedIds send(std::string_view payload, ev::Time planned,
                           std::optional<std::string_view> reply) = 0;
    virtual char* reserve(std::size_t /*size*/) { return nullptr; }
    virtual QueuedIds send_reserved(std::size_t /*size*/) { return {}; }
    virtual bool flushed() const = 0;
    virtual bool flush(ev::Time now) = 0;  // false: the output buffer is full
    virtual void record_written(ev::Time now) = 0;
    virtual std::size_t pending() const = 0;    // bytes to write
    virtual std::uint64_t traffic() const = 0;  // bytes or datagrams read and written
    virtual std::uint64_t written() const = 0;  // bytes or datagrams passed to the system
    virtual bool has_back_pressure() const = 0;
    virtual void ping() {}
    virtual std::uint64_t answered_ping() const { return 0; }  // see Transport::ping()

    // Input. Call input_matched() after the last call of next().
    virtual std::optional<Event> next(ev::Time read_at) = 0;
    virtual void input_matched() {}
    virtual std::string partial_message() { return {}; }  // bytes of the incomplete reply
    virtual bool has_received() const = 0;  // something was received on this connection
    virtual bool peer_known() const { return connected(); }  // see Session::peer_known()

    // The end.
    virtual bool peer_closes() const { return true; }  // the peer announces its end
    virtual bool finishing() const { return true; }    // finish() was called, or has no effect
    virtual void finish() {}                           // closes our side
    // Returns when the session stops waiting for the peer to close: `limit`, or with datagrams
    // the end of the linger time. Called once all replies have come. `active_at`: when
    // something was last received.
    virtual ev::Time end_deadline(ev::Time limit, ev::Time /*active_at*/) { return limit; }
    virtual bool got_tls_alert() const { return false; }  // the server expects TLS
    // Returns how the last connection was refused; none once this connection has received
    // something.
    virtual bufio::End refusal() const { return {}; }
    virtual void reset_refusal() {}

    // Facts about the current connection, or about the last one.
    const bufio::Address& address() const { return address_; }
    virtual const bufio::TlsFacts* tls() const { return nullptr; }
    virtual const websocket::Facts* websocket() const { return nullptr; }
    virtual std::optional<bufio::TcpFacts> tcp() const { return std::nullopt; }

protected:
    ev::Loop& loop_;
    const SessionOptions& options_;
    User& user_;
    bufio::Address address_;  // the peer's
    bool paused_ = false;
};

std::unique_ptr<Link> make_stream_link(ev::Loop& loop, const SessionOptions& options,
                                       Link::User& user);

}  // namespace yodel
