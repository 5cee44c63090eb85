// What carries the messages of a session: a stream, or datagrams.  A link owns its sockets, one
// connection after the other, and the matcher that suits it; it knows how messages get into
// bytes and out again, and how a connection of its kind ends. A session knows links by this
// interface only, and does the rest once for all of them: connecting, retrying, limits of time,
// reports.
//
// A new link is one file that implements this, with a function that makes it, and its
// choice in the constructor of Session.
#pragma once

#include "app/protocol/framing.hpp"
#include "app/protocol/matcher.hpp"
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
    bufio::Endpoint endpoint;
    std::optional<bufio::TlsContext> tls;
    const Framing* framing = find_framing("line");
    std::size_t max_frame = 32 * 1024 * 1024;  // bytes
    bool numbered = false;                     // see ContentMatcher::Options
    Expect expect = Expect::echo;
    bool coalesce = false;  // see OrderedMatcher::Options
    std::function<bool(std::string_view)> expected_unsolicited = {};  // see OrderedMatcher
    ev::Duration connect_timeout = std::chrono::seconds(10);  // look-up, TCP and TLS together
    // For each reply; and for a server that takes nothing of what waits to be sent.
    ev::Duration reply_timeout = std::chrono::seconds(5);
    // For the peer's own end, from finish() on.
    ev::Duration close_timeout = std::chrono::seconds(5);
    // For how long the first reply of a connection may turn out to be a greeting, by another
    // reply that follows. From finish() on it is the reply timeout instead, because nobody
    // waits to see the reply.
    ev::Duration greeting_time = std::chrono::milliseconds(500);
    std::optional<ev::Duration> idle_timeout;
    // Finds out if the system has retransmitted a segment of ours while a message was in
    // flight, and then sets Message::resent, also for a late one. Each reply that took more
    // than two round trips of the network may cost a system call.
    bool mark_resent = false;
    // Asks the system about a connection; tests replace it.
    std::optional<bufio::TcpFacts> (*tcp_facts)(int socket) = bufio::tcp_facts;
    unsigned retries = 0;  // tries in a row after the first, or Session::forever
    ev::Duration retry_delay = std::chrono::milliseconds(500);  // see Backoff
    // Seed of the random part of the waits between tries. Empty: each session's differ.
    std::optional<unsigned> retry_seed;
    // From the first connect() on. It runs on when the session is closed, because the user may
    // still have to write what the session has brought.
    std::optional<ev::Duration> max_time;
    ev::Duration spent{};  // of `max_time`, by the user before that connect()
    // The sentence for a server that closes while the user still has something to send.
    std::string closed_early = "the server closed the connection";
};

class Link {
public:
    class User {
    public:
        // Called from the loop: something came, went, or has ended. The user pulls next(), and
        // may close or destroy the link.
        virtual void link_changed() = 0;

    protected:
        ~User() = default;
    };

    // The options, the loop and the user outlive the link.
    Link(ev::Loop& loop, const SessionOptions& options, User& user)
        : loop_(loop), options_(options), user_(user) {}
    virtual ~Link() = default;
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    virtual Matcher& matcher() = 0;

    // The connection.
    virtual void forget() {}                          // the last one, as another is dialed
    virtual void open(bufio::DialResult result) = 0;  // on its socket, which there must be
    virtual void close() = 0;                         // now, in order if there is a connection
    virtual bool connected() const = 0;               // from its handshake until close()
    virtual bool ready() const = 0;                   // the handshake is done
    virtual void opened() {}                          // ready() has become true
    virtual void pause(bool paused) = 0;              // reads nothing while paused
    virtual bool input_ended() const { return false; }   // the peer has closed its side
    virtual bool output_closed() const { return true; }  // we have closed ours
    virtual const bufio::End& end() const = 0;           // Reason::none while it has not ended

    // What goes out. These return none if the message is refused; see Session::send().
    virtual Queued send(std::string_view payload, ev::Time planned,
                        std::optional<std::string_view> reply) = 0;
    virtual char* reserve(std::size_t /*size*/) { return nullptr; }
    virtual Queued send_reserved(std::size_t /*size*/) { return {}; }
    virtual bool flushed() const = 0;
    virtual bool flush(ev::Time now) = 0;  // false: too much is waiting for the peer
    virtual void record_written(ev::Time now) = 0;
    virtual std::size_t pending() const = 0;    // bytes to write
    virtual std::uint64_t moved() const = 0;    // what was read and written so far
    virtual std::uint64_t written() const = 0;  // what the system has taken so far
    virtual bool has_back_pressure() const = 0;

    // What comes in. done() ends a series of calls of next().
    virtual std::optional<Matcher::Event> next(ev::Time read_at) = 0;
    virtual void done() {}
    virtual std::string partial_message() { return {}; }  // received so far
    virtual bool heard() const = 0;  // something has come over this connection
    virtual bool peer_known() const { return connected(); }  // see Session::peer_known()

    // The end.
    virtual bool finishing() const { return true; }  // finish() was called, or has no effect
    virtual void finish() {}                         // announces our end
    // Returns when the wait for the peer's end is over, once all replies are in: by `limit` at
    // the latest, unless what may be late needs a moment. Nothing has come since `active_at`.
    virtual ev::Time end_due(ev::Time limit, ev::Time /*active_at*/) { return limit; }
    // Returns the end in other words if the link knows more about its cause.
    virtual bufio::End explained(bufio::End end) const { return end; }
    // The refusal of the connection before, if this one has yet to show that a peer is there.
    virtual bufio::End refusal() const { return {}; }
    virtual void forget_refusal() {}

    // Facts. Those of TLS and TCP are kept after the connection, until the next one.
    const bufio::Address& address() const { return address_; }
    virtual const bufio::TlsFacts* tls() const { return nullptr; }
    virtual std::optional<bufio::TcpFacts> tcp() const { return std::nullopt; }
    // Sets Message::resent; with the option `mark_resent` only.
    virtual void mark_resent(Message& /*message*/, ev::Duration /*taken*/, ev::Time /*now*/) {}

protected:
    ev::Loop& loop_;
    const SessionOptions& options_;
    User& user_;
    bufio::Address address_;  // the peer's
    bool paused_ = false;
};

std::unique_ptr<Link> make_stream_link(ev::Loop& loop, const SessionOptions& options,
                                       Link::User& user);
std::unique_ptr<Link> make_datagram_link(ev::Loop& loop, const SessionOptions& options,
                                         Link::User& user);

}  // namespace yodel
