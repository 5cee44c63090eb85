// Options of a run.
#pragma once

#include "app/protocol/session.hpp"
#include "app/run/schedule.hpp"
#include "app/run/sources.hpp"
#include "ev/time.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace yodel {

// All counts are totals of the run, not per thread.
struct RunOptions {
    Session::Options session = {};
    std::size_t connections = 1;
    std::size_t threads = 1;                // at most `connections`
    std::optional<Pace> connect_pace = {};  // rate of connecting; none: all at once
    std::uint64_t churn = 0;  // messages per connection before it is replaced; 0: unlimited
    // Lifetime of a connection before it is replaced; none: unlimited.
    std::optional<ev::Duration> lifetime = {};
    bool churns() const { return churn > 0 || lifetime; }
    // Makes the source of each connection; null: sends `messages`, or generates messages. With
    // a source, only `window`, `length`, `start` and `probe` of the options below apply.
    Source::Make source = nullptr;
    std::optional<Pace> pace =
        {};  // rate of messages; a climb needs `length`; none: closed loop
    std::optional<std::uint64_t> seed = {};  // for random gaps (Poisson); none: even gaps
    // Closed loop: maximum number of messages in flight per connection; none: enough to keep
    // it busy.
    std::optional<unsigned> window = 1;
    std::uint64_t count = 0;  // messages or, with `repeat`, attempts to connect; 0: unlimited
    // Time from the first message. Overdue messages may be sent for up to one more second, and
    // then count as unsent. Connections have the same time to open before the first message. In
    // a probe, the time begins with the first open connection. At its end, connections that are
    // not yet open still have the rest of their connect timeout.
    std::optional<ev::Duration> length = {};
    // Messages sent during the warm-up are counted separately. `count` and `length` begin after
    // it.
    std::optional<ev::Duration> warm_up = {};
    std::optional<ev::Time> start = {};  // earliest time of the first message
    OwnMessages messages = {};           // sent repeatedly; null: generated messages
    // Sends the lines of standard input, each once. Needs a single thread.
    std::optional<LineSource::Options> lines = {};
    bool generates() const { return !messages && !lines; }
    std::size_t size = 64;  // maximum size of a message, in bytes
    bool probe = false;     // see Results::probe
    // Probe: after each end of the connection, connects again. This time is between the
    // attempts, unless an attempt takes longer. None: connects once.
    std::optional<ev::Duration> repeat = {};
    // Collect samples of the messages, whose times count from this time; none: no samples.
    std::optional<ev::Time> samples_from = {};
};

}  // namespace yodel
