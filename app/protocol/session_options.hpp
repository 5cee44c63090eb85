// The settings and the states of a session.
#pragma once

#include "app/protocol/dialogue.hpp"
#include "app/protocol/framing.hpp"
#include "app/protocol/ledger.hpp"
#include "app/text/expression.hpp"
#include "app/websocket/transport.hpp"
#include "bufio/dial.hpp"
#include "bufio/stream.hpp"
#include "bufio/tls.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace yodel {

// `waiting`: before the next attempt. The end of the session is then the failure of the last
// attempt.
enum class SessionState : std::uint8_t {
    idle,
    dialing,
    handshaking,
    open,
    finishing,
    waiting,
    closed
};

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
    bool stays_open = false;  // finish() closes our side only after the peer's
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
    unsigned retries = 0;  // consecutive retries, or `forever`
    static constexpr unsigned forever = std::numeric_limits<unsigned>::max();
    // If false, a server that closes gracefully when it has answered all messages has announced
    // its end, as after QUIT. The end is then clean, and no retry follows.
    bool retry_after_answers = true;
    ev::Duration retry_delay = std::chrono::milliseconds(500);  // see retry_wait()
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
    // If no replies are expected, the end of the input ends the connection only if its sides
    // close together.
    bool ends_with_input() const { return expect != Expect::none || websocket; }
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

}  // namespace yodel
