// The deadlines of a session as a pure function of its situation.
//
// A session calls deadlines() once in each turn that changes its situation, and starts its only
// timer at the earliest of them.
#pragma once

#include "app/protocol/session_options.hpp"
#include "ev/time.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <random>

namespace yodel {

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
    Deadline first() const;
};

// What the deadlines depend on. A time of 0 means that something has not begun.
struct Situation {
    SessionState state = SessionState::idle;
    ev::Time entered{};  // when the state was entered
    ev::Time attempt = ev::Time::max();
    ev::Time run = ev::Time::max();
    std::optional<ev::Time> paused_at = {};  // set while paused
    ev::Time resumed_at{};                   // end of the last pause
    ev::Duration max_pause{};                // longest pause since finish()

    // On this connection:
    bool connected = false;
    bool in_flight = false;     // replies are awaited
    bool unsent = false;        // the system has not accepted all output
    bool closing = false;       // our side is closed, or will be once all output is sent
    bool pong_awaited = false;  // for a ping at `pinged`
    ev::Time active{};          // when bytes were last sent or received
    ev::Time pinged{};          // when the last ping was sent or answered, or could be sent
    ev::Time accepted{};        // when the peer last accepted output
    ev::Time awaited{};         // start of the reply timeout
    ev::Time greeted{};         // when a possible greeting arrived
    ev::Time heard{};           // while finishing: when the last reply arrived
    ev::Time peer_ended{};      // when the peer closed early, or we last answered after that
    ev::Time all_answered{};    // while finishing: when nothing was in flight any more
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

}  // namespace yodel
