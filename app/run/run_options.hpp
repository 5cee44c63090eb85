// The options of a run, and its observer.
#pragma once

#include "app/protocol/session.hpp"
#include "app/run/own_source.hpp"
#include "app/run/schedule.hpp"
#include "app/run/source.hpp"
#include "ev/time.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace yodel {

// All counts are for the whole run, not per thread.
struct RunOptions {
    Session::Options session;
    std::size_t connections = 1;
    std::size_t threads = 1;                // at most `connections`
    bool busy = false;                      // threads never sleep while they have a connection
    std::optional<Pace> connect_pace = {};  // connections per time; none: all at once
    std::uint64_t churn = 0;  // messages after which a connection is replaced; 0: never
    // Time after which a connection is replaced; none: never.
    std::optional<ev::Duration> lifetime = {};
    bool churns() const { return churn > 0 || lifetime; }
    // Makes the source of each connection; null: messages are generated. With such a source,
    // only the window applies of the options below.
    Source::Make source = nullptr;
    std::optional<Pace> pace = {};           // messages per time; none: closed loop
    std::optional<std::uint64_t> seed = {};  // for random gaps (Poisson); none: even gaps
    // With a pace: messages of a failed connection stay unsent, instead of going to the next
    // connection.
    bool fixed_connections = false;
    // Closed loop: limit for messages in flight per connection. None: enough to keep it busy.
    std::optional<unsigned> window = 1;
    std::uint64_t count = 0;  // messages; 0: any number
    // Time from the first message. When it ends, overdue messages may still be sent for one
    // second; the remainder count as unsent. Connections have the same time to open before the
    // first message. In a probe the time begins with the first open connection, and a
    // connection that is not yet open at its end has the rest of its connect timeout.
    std::optional<ev::Duration> length = {};
    // Messages of this first part are counted apart; `count` and `length` apply to the rest.
    std::optional<ev::Duration> warm_up = {};
    std::optional<ev::Time> start = {};  // earliest time of the first message
    OwnMessages messages = {};           // sent repeatedly; null: generated messages
    std::size_t size = 64;               // maximum size of a message, in bytes
    bool probe = false;                  // see Results::probe
};

// The options of messages as given; a run chooses the defaults of the others.
struct MessagePlan {
    std::optional<unsigned> window;        // messages in flight on each connection
    std::optional<ev::Duration> interval;  // between two messages of a connection; 0: none
    std::optional<std::size_t> size;       // bytes in each generated message
};

// Observes the connections and messages of a run's first thread. Connections are numbered from
// 1; a replacement keeps the number. Views and references are valid until the call returns.
class RunObserver {
public:
    virtual void opened(std::size_t connection, const Session& session) = 0;
    // The connection is closed, or waits for a retry. It need not have been open.
    virtual void ended(std::size_t connection, const Session& session) = 0;
    virtual void sent(std::size_t connection, const Session& session, const Outgoing& message,
                      Queued queued) = 0;
    // The message is null if the reply answers none; the reply is null if there is none.
    virtual void resolved(std::size_t connection, Fate fate, const Message* message,
                          const Reply* reply) = 0;
    virtual void echoed(std::size_t connection, const Batch& batch) = 0;
    // With `raw`: bytes as they were read, before matching.
    virtual void received(std::size_t connection, std::string_view bytes) = 0;
    // Called at the end of a connection's turn, after some of the calls above.
    virtual void flush() = 0;

protected:
    ~RunObserver() = default;
};

}  // namespace yodel
