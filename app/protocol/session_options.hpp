// The settings of a session, and what follows from them: deadlines, and the words for ends.
// Pure functions of data.
#pragma once

#include "app/protocol/dialogue.hpp"
#include "app/protocol/event.hpp"
#include "app/protocol/framing.hpp"
#include "app/text/expression.hpp"
#include "app/websocket/transport.hpp"
#include "bufio/dial.hpp"
#include "bufio/stream.hpp"
#include "bufio/tls.hpp"
#include "ev/time.hpp"

#include <algorithm>
#include <array>
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
    // Each datagram begins with a decimal number, and the numbers increase.
    bool numbered = false;
    Expect expect = Expect::echo;
    // With Expect::any, right replies match the pattern. With Expect::given, the parts of
    // replies that match it count as equal.
    std::optional<Expression> pattern = {};
    const Expression* pattern_or_null() const { return pattern ? &*pattern : nullptr; }
    bool coalesce = false;  // one event for messages queued together and echoed together
    // With Expect::given: returns true for an unsolicited message that is expected now. Such a
    // message is not a bad reply. Empty: none is expected.
    std::function<bool(std::string_view)> expected_unsolicited = {};
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
    unsigned retries = 0;                   // consecutive retries, or `forever`
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

    // No greeting precedes the replies, because it was received before them.
    bool greeted() const { return starttls || (framing->takes_turns && !on_connect.empty()); }
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

// What is known about the current connection, or the last one.
struct SessionFacts {
    struct Phases {
        ev::Duration lookup{};
        ev::Duration tcp{};
        std::optional<ev::Duration> handshake;  // once open; with TLS or WebSocket
    };
    bufio::Address address;  // the peer's
    Phases phases;
    std::vector<std::string> opening_notes;       // what the service said, line by line
    std::unique_ptr<websocket::Facts> websocket;  // null without WebSocket
    // At the end of the last connection:
    std::unique_ptr<bufio::TlsFacts> tls;
    std::optional<bufio::TcpFacts> tcp;
};

// The facts outlive the transport.
std::unique_ptr<bufio::Transport> make_transport(const SessionOptions& options,
                                                 bufio::Fd socket, SessionFacts& facts);

// --- Deadlines. A session calls deadlines() once in each turn that changes its situation, and
// starts its only timer at the earliest of them.

enum class Deadline : std::uint8_t {
    attempt,      // the connect timeout or, while waiting, the next attempt
    run,          // --max-time
    idle,         // the idle timeout
    ping,         // the next ping, or the limit for its pong
    output,       // limit for a peer that accepts no output
    reply,        // the reply timeout of the oldest message in flight
    greeting,     // the greeting time, after the first reply
    quiet,        // while finishing: we close our side without waiting for more replies
    end,          // limit for the peer's end, after ours
    early_close,  // the peer's end counts as the end of the connection
};
inline constexpr std::size_t deadline_count = 10;

class Deadlines : public std::array<ev::Time, deadline_count> {
public:
    Deadlines() { fill(ev::Time::max()); }  // none
    ev::Time& operator[](Deadline which) { return at(static_cast<std::size_t>(which)); }
    Deadline first() const {
        return static_cast<Deadline>(std::min_element(begin(), end()) - begin());
    }
};

// What the deadlines and the end depend on. A time of 0 means that something has not begun.
struct Situation {
    SessionState state = SessionState::idle;
    ev::Time entered{};  // when the state was entered
    ev::Time attempt = ev::Time::max();
    ev::Time run = ev::Time::max();
    std::optional<ev::Time> paused_at = {};  // set while paused
    ev::Time resumed_at{};                   // end of the last pause
    ev::Duration max_pause{};                // longest pause since finish()

    // On this connection:
    std::size_t in_flight = 0;    // messages
    std::size_t replies = 0;      // to messages
    std::uint64_t oldest_id = 0;  // of the oldest message, late or not; 0 if there is none
    ev::Time oldest_sent{};       // when the oldest message in flight was sent
    std::uint64_t traffic = 0;    // see Stream::traffic()
    std::uint64_t written = 0;    // bytes
    std::uint64_t pings = 0;      // sent
    bool connected = false;
    bool unsent = false;         // the system has not accepted all output
    bool closing = false;        // our side is closed, or will be once all output is sent
    bool output_closed = false;  // our side is closed
    bool input_ended = false;    // the peer has closed its side
    bool pong_awaited = false;   // for a ping at `pinged`
    ev::Time active{};           // when bytes were last sent or received
    ev::Time pinged{};           // when the last ping was sent or answered, or could be sent
    ev::Time accepted{};         // when the peer last accepted output
    ev::Time awaited{};          // start of the reply timeout
    ev::Time greeted{};          // when a possible greeting arrived
    ev::Time heard{};            // while finishing: when the last reply arrived
    ev::Time peer_ended{};       // when the peer closed early, or we last answered after that
    ev::Time all_answered{};     // while finishing: when nothing was in flight any more
    ev::Duration max_round_trip{};

    // Waits that a pause has interrupted continue with their remaining time.
    void resume(ev::Time now);
};

// While paused, only `attempt`, `run` and what was due before the pause are set.
Deadlines deadlines(const Situation& now, const SessionOptions& options);

// Returns the wait before the next attempt. It doubles with each of the earlier retries, up to
// half a minute or the first wait, and is shortened at random by up to half, so that the
// clients of a restarted server do not all reconnect together.
ev::Duration retry_wait(ev::Duration first, unsigned earlier, std::minstd_rand& random);

// --- Ends of connections, and lost messages, in words.

// Returns the end for a deadline that has passed. `phase`: see Session::phase(). `unsent`:
// bytes that the peer has not accepted.
bufio::End timeout_end(Deadline passed, const SessionOptions& options,
                       const std::string& phase = "", std::size_t unsent = 0);

// The peer has closed its side inside a message, of which `part` was received. If it is the
// first reply, a likely cause is added.
bufio::End partial_end(const SessionOptions& options, std::string_view part, bool first_reply);

// Adds what the stream does not know: the messages in flight, and whether the peer may close.
// `part`: of the incomplete reply. `websocket` is null without WebSocket.
bufio::End explained_end(bufio::End end, const Situation& now, const SessionOptions& options,
                         std::string_view part, const websocket::Facts* websocket);
// Returns the end to report. `before`: the end so far; see Session::peer_known().
bufio::End final_end(bufio::End end, const Situation& now, const SessionOptions& options,
                     const bufio::End& before, bool inside_message);

// Returns why a message has no reply, as the rest of a sentence that begins with "no reply".
// `part`: bytes of its incomplete reply; they are shown with a likely cause if it is the
// first reply of the connection.
std::string loss_text(const Message& message, std::string_view part, bool connected,
                      bool first_reply, const SessionOptions& options);

// Returns one clause, with an option that may help. `tls` is null without TLS.
std::string end_text(const bufio::End& end, const SessionOptions& options,
                     const bufio::TlsFacts* tls);

}  // namespace yodel
