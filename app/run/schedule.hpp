// When the messages of an open loop are due, and which of them belong to which thread. All of
// this is pure: it reads no clock.
#pragma once

#include "app/text/random.hpp"
#include "ev/time.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace yodel {

// An even spread of messages or connections over time. Each time is computed by itself, to the
// nanosecond, so that it does not drift however long a run lasts.
class Pace {
public:
    // The number of messages, at least 1, in each span of time, which is longer than zero.
    Pace(std::uint64_t messages, ev::Duration span) : messages_(messages), span_(span) {}
    // A number a second, in thousandths, at least 1.
    static Pace per_second(std::uint64_t thousandths);

    // Returns how long after the first message the one with this number, from 0, is planned.
    ev::Duration offset(std::uint64_t number) const;
    double rate() const;  // messages a second

private:
    std::uint64_t messages_;
    ev::Duration span_;
};

// One thread's share of a run: some of the connections, and the messages that are sent on
// these. All shares together are the whole run. Each connection has the messages that it would
// have if there were one thread.
//
// Connections and messages have numbers from 0. Connection k belongs to thread k % threads, and
// message n to connection n % connections.
struct Share {
    std::size_t thread = 0;
    std::size_t threads = 1;
    std::size_t connections = 1;  // of the whole run; at least as many as threads

    // Returns the number of connections owned by this thread. Each has a place, from 0.
    std::size_t own_connections() const;
    std::size_t number_of(std::size_t place) const { return place * threads + thread; }
    // Returns the place of the connection to which one of its own messages belongs.
    std::size_t place_of(std::uint64_t message) const;

    // Returns how many of the first `count` messages belong to this thread.
    std::uint64_t own_messages(std::uint64_t count) const;
    // Returns the message that follows one of its own. The first one has the thread's number.
    std::uint64_t message_after(std::uint64_t message) const;
};

// Which messages are due: each at its planned time, whatever became of the messages before it.
// due() returns the next message, and pass() takes it.
class Schedule {
public:
    struct Options {
        Pace pace;
        std::optional<std::uint64_t> seed = {};   // of random gaps (Poisson); none: even gaps
        std::uint64_t count = 0;                  // messages; 0: any number
        std::optional<ev::Duration> length = {};  // messages planned for later are left out
        Share share = {};  // the messages of one of several schedules that share the pace
    };
    struct Message {
        std::uint64_t number;  // from 0
        ev::Time planned;
    };

    // Message 0 is planned for `begin`.
    Schedule(const Options& options, ev::Time begin)
        : options_(options), begin_(begin), random_(options.seed.value_or(0)) {
        advance(options.share.thread);
        first_ = planned_;
    }

    // Returns the next message if it is due. It stays the next one until pass() is called.
    std::optional<Message> due(ev::Time now) const;
    void pass(ev::Time now);
    // Returns the part of the planned rate that was kept, from the first message to the last
    // one that was passed; none if these are fewer than two.
    std::optional<double> kept() const;
    // Returns how many messages are due that were not taken.
    std::uint64_t overdue(ev::Time now) const;
    bool over() const;  // no message is left
    // When the next message is due; there must be one.
    ev::Time next_time() const { return begin_ + planned_; }

private:
    void advance(std::uint64_t number);
    bool planned_until(std::uint64_t number, ev::Duration planned, ev::Duration end) const;

    Options options_;
    ev::Time begin_;
    Random random_;
    std::uint64_t number_ = 0;  // the next message
    ev::Duration planned_{};    // times since the beginning: of the next message,
    ev::Duration first_{};      // of the first one,
    ev::Duration passed_{};     // of the last one that was passed,
    ev::Duration passed_at_{};  // and when it was passed
};

}  // namespace yodel
