// The settings of a session, and what follows from them.
#pragma once

#include "app/protocol/dialogue.hpp"
#include "app/protocol/event.hpp"
#include "app/protocol/framing.hpp"
#include "app/text/regex.hpp"
#include "app/websocket/transport.hpp"
#include "bufio/dial.hpp"
#include "bufio/stream.hpp"
#include "bufio/tls.hpp"
#include "ev/time.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace yodel {

enum class Expect : std::uint8_t { echo, any, none, given };
inline constexpr const char* expect_words[] = {"echo", "any", "none", "given"};
inline const char* word_of(Expect expect) {
    return expect_words[static_cast<std::size_t>(expect)];
}

// A waiting session will retry. Its end() tells why the last connection or attempt failed.
enum class SessionState : std::uint8_t {
    idle,
    dialing,
    handshaking,
    open,
    finishing,
    waiting,
    closed
};

struct SessionOptions {
    bufio::Endpoint endpoint = {};
    std::optional<bufio::TlsContext> tls = {};
    const Starttls* starttls = nullptr;                // needs tls
    std::vector<std::string> on_connect = {};          // sent first on each connection
    std::optional<websocket::Request> websocket = {};  // needs websocket_framing()
    const Framing* framing = find_framing("line");
    std::size_t max_frame = 32 * 1024 * 1024;  // bytes
    // Each datagram begins with a decimal number, and the numbers increase.
    bool has_numbers = false;
    Expect expect = Expect::echo;
    // With Expect::any, right replies match the pattern. With Expect::given, the parts of
    // replies that match it count as equal.
    std::optional<Regex> pattern = {};
    const Regex* pattern_or_null() const { return pattern ? &*pattern : nullptr; }
    bool may_coalesce = false;  // one event for messages queued together and echoed together
    // With Expect::given: returns true for an unsolicited message that is expected now. Such a
    // message is not a bad reply. If there is no function, none is expected.
    std::function<bool(std::string_view)> expects_unsolicited = {};
    ev::Duration connect_timeout = std::chrono::seconds(10);  // until the session is open
    // Limit for each reply and each pong. The limit for a peer that reads none of our output is
    // the same, but at least 1 s.
    ev::Duration reply_timeout = std::chrono::seconds(5);
    // Limit from finish() until the peer closes its side.
    ev::Duration close_timeout = std::chrono::seconds(5);
    bool stays_open = false;  // finish() waits until the peer has closed its side
    // Time to wait for a second reply, which would prove that the first reply was a greeting.
    // After finish() the reply timeout applies instead, because no user watches for the reply.
    ev::Duration greeting_time = std::chrono::milliseconds(500);
    // When listening, the connection ends after this time without output once the client has
    // closed its side. With WebSocket, the session waits only while there is unsent output.
    // With datagrams, finish() ends the connection after this time without traffic.
    ev::Duration answer_time = std::chrono::milliseconds(500);
    std::optional<ev::Duration> idle_timeout = {};
    std::optional<ev::Duration> ping = {};  // WebSocket: time without traffic before a ping
    unsigned retries = 0;                   // maximum in a row, or `forever`
    static constexpr unsigned forever = std::numeric_limits<unsigned>::max();
    // If false, a server may close gracefully once it has answered all messages, at least one,
    // as after QUIT. The end is then clean, and no retry follows.
    bool may_retry_after_answers = true;
    ev::Duration retry_delay = std::chrono::milliseconds(500);  // see retry_wait()
    // Seed for the random waits between attempts; unset for a random seed in each session.
    std::optional<unsigned> retry_seed = {};
    // Limit for the whole session, from the first connect(). The time runs on after the session
    // is closed, because the owner may still write replies.
    std::optional<ev::Duration> max_time = {};
    ev::Duration time_spent{};  // part of `max_time` that passed before the first connect()
    // End::what if the server closes early, but has answered all messages sent so far.
    const char* early_close = "closed the connection";

    // Returns true if the session accepts a client instead of connecting to a server.
    bool listens() const { return endpoint.acceptor != nullptr; }
    // Returns true if the end of the input ends the connection. If no replies are expected,
    // this is so only with WebSocket, whose sides close together.
    bool ends_with_input() const { return expect != Expect::none || websocket; }
    // Returns "listening ADDRESS" and, with TLS, how clients can trust our certificate.
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

// What is known about the current connection, or the last one.
struct SessionFacts {
    struct Phases {
        ev::Duration lookup{};
        ev::Duration tcp{};
        std::optional<ev::Duration> handshake;  // once done; with TLS or WebSocket
    };
    bufio::Address address;  // the peer's
    Phases phases;
    std::vector<std::string> opening_notes;       // see Session::opening_notes()
    std::unique_ptr<websocket::Facts> websocket;  // null without WebSocket
    // At the end of the last connection:
    std::unique_ptr<bufio::TlsFacts> tls;
    std::optional<bufio::TcpFacts> tcp;
};

// Returns the wait before the next attempt, after `retries` earlier retries. The wait doubles
// with each of these, up to half a minute, or to the first wait if that is longer. It is then
// shortened at random by up to half, so that the clients of a restarted server do not all
// reconnect together.
ev::Duration retry_wait(ev::Duration first, unsigned retries, std::minstd_rand& random);

// --- Ends of connections, and lost messages, in words.

// Returns why a message has no reply, as the rest of a sentence that begins with "no reply".
// `part` contains the received bytes of the incomplete reply; the text tells how many these
// are. If this is the connection's first reply, the text may also explain a likely cause.
std::string loss_text(const Message& message, std::string_view part, bool is_connected,
                      bool is_first_reply, const SessionOptions& options);

// Returns a text that may also name a cause or an option that helps. `tls` is null without TLS.
std::string end_text(const bufio::End& end, const SessionOptions& options,
                     const bufio::TlsFacts* tls);

}  // namespace yodel
