// What a run does, and who watches it.
#pragma once

#include "app/protocol/session.hpp"
#include "app/run/own_messages.hpp"
#include "app/run/schedule.hpp"
#include "app/run/source.hpp"
#include "ev/time.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace yodel {

// All numbers are for the whole run, not for one of its threads.
struct RunOptions {
    Session::Options session;
    std::size_t connections = 1;
    std::size_t threads = 1;                // at most one for each connection
    bool busy = false;                      // threads never sleep while they have a connection
    std::optional<Pace> connect_pace = {};  // of new connections; none: all at once
    std::uint64_t churn = 0;  // messages until a connection is replaced; 0: it is not
    // Makes the source of each connection; null: messages are generated. Of the options below,
    // a source of its own leaves only the window to the run.
    Source::Make source = nullptr;
    std::optional<Pace> pace = {};           // of messages; none: closed loop
    std::optional<std::uint64_t> seed = {};  // of random gaps (Poisson); none: even gaps
    // With a pace: a message whose turn it is on a connection that has failed is left unsent,
    // instead of going to the next connection.
    bool each_its_own = false;
    // Closed loop: messages in flight on each connection. None: enough to keep it busy.
    std::optional<unsigned> window = 1;
    std::uint64_t count = 0;  // messages; 0: any number
    // Time from the first message on: then overdue messages have a second to go out, and the
    // rest is unsent. Before the first message, connections have as long to open.
    std::optional<ev::Duration> length = {};
    std::optional<ev::Time> start = {};  // of the first message, at the earliest
    OwnMessages messages = {};           // sent over and over; null: generated ones
    std::size_t size = 64;               // bytes of a message, at most
    bool recent = false;                 // keep the round trips for take_recent()
};

// Sees the connections and messages of a run's first thread. Connections are numbered from 1; a
// connection that replaces another one has its number. Views and references are valid until the
// call returns.
class RunObserver {
public:
    virtual void opened(std::size_t connection, const Session& session) = 0;
    // It is closed, or waits for another try; it need not have been open.
    virtual void ended(std::size_t connection, const Session& session) = 0;
    virtual void sent(std::size_t connection, const Session& session, const Outgoing& message,
                      Queued queued) = 0;
    // The message was due and could not be sent.
    virtual void unsent(std::size_t connection, const Message& message) = 0;
    virtual void answered(std::size_t connection, const Message& message,
                          const Reply& reply) = 0;
    virtual void echoed(std::size_t connection, const Batch& batch) = 0;
    virtual void lost(std::size_t connection, const Message& message) = 0;
    virtual void unsolicited(std::size_t connection, std::string_view payload,
                             Unsolicited kind) = 0;
    virtual void missed(std::size_t connection, std::string_view payload) = 0;
    virtual void repeated(std::size_t connection, std::string_view payload) = 0;
    // Bytes of `raw`, before they are matched.
    virtual void received(std::size_t connection, std::string_view bytes) = 0;
    // The end of a turn of a connection, after some of the above.
    virtual void flush() = 0;

protected:
    ~RunObserver() = default;
};

}  // namespace yodel
