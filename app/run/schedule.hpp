// Plans when the messages of an open loop are due, and which thread sends each. Reads no clock.
#pragma once

#include "app/text/random.hpp"
#include "ev/time.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace yodel {

// Spreads messages or connections over time, evenly or at a climbing rate. A planned time is
// computed without the previous one, so that rounding errors do not add up in a long run.
class Pace {
public:
    // Plans `messages` (at least 1) per span (longer than zero).
    Pace(std::uint64_t messages, ev::Duration span) : messages_(messages), span_(span) {}
    static Pace per_1000_seconds(std::uint64_t messages);
    // Returns this pace with a rate that climbs evenly to `rate`, which must not be lower. It
    // reaches that rate after `length`.
    Pace climbing_to(double rate, ev::Duration length) const;
    Pace steady() const { return {messages_, span_}; }

    // Returns the planned time of message `number` (from 0), relative to message 0.
    ev::Duration offset(std::uint64_t number) const;
    // Returns the time at which the integral of the rate is `position`, for random gaps.
    ev::Duration offset_at(double position) const;
    // Messages per second at this time after message 0.
    double rate(ev::Duration time = {}) const;
    bool climbs() const { return growth_ > 0; }

private:
    std::uint64_t messages_;
    ev::Duration span_;
    double growth_ = 0;  // increase of the rate per second
};

// One thread's share of a run: some of the connections, and the messages sent on them. In the
// open loop, the planned times of a connection do not depend on the number of threads.
//
// Connections and messages are numbered from 0. Connection k belongs to thread k % threads, and
// message n to connection n % connections.
struct Share {
    std::size_t thread = 0;
    std::size_t threads = 1;
    std::size_t connections = 1;  // in the whole run; at least `threads`

    // Places are positions among the connections of this thread, from 0.
    std::size_t own_connection_count() const;
    std::size_t number_of(std::size_t place) const { return place * threads + thread; }

    // Returns how many of the first `count` messages belong to this thread.
    std::uint64_t own_message_count(std::uint64_t count) const;
    // Returns this thread's next message after `message`, which must belong to this thread.
    // The first message of a thread is the message with the thread's number.
    std::uint64_t message_after(std::uint64_t message) const;
};

// Lists the messages by planned time, regardless of replies. due() returns the planned time of
// the next message, and pass() removes that message.
class Schedule {
public:
    struct Options {
        Pace pace;
        std::optional<std::uint64_t> seed = {};   // of Poisson gaps; unset for even gaps
        std::uint64_t count = 0;                  // messages of all shares; 0 if unlimited
        std::optional<ev::Duration> length = {};  // all messages are planned before this time
        Share share = {};  // this schedule's part, if several share the pace
    };

    // Message 0 is planned for `begin`.
    Schedule(const Options& options, ev::Time begin)
        : options_(options), begins_at_(begin), random_(options.seed.value_or(0)) {
        advance(options.share.thread);
        first_offset_ = next_offset_;
    }

    // Returns the planned time of the next message, or none if that message is not yet due or
    // no message is left. The same message remains the next until pass().
    std::optional<ev::Time> due(ev::Time now) const;
    void pass(ev::Time now);
    // Returns the actual rate divided by the planned rate, since the planned time of the first
    // message, or none if fewer than two messages were passed.
    std::optional<double> reached_share() const;
    // Returns the number of due messages that were not passed. With random gaps, the number
    // beyond a million is an estimate.
    std::uint64_t overdue(ev::Time now) const;
    bool is_over() const;  // no message is left
    ev::Time begins_at() const { return begins_at_; }
    // Returns when the next message is due. If none is left, returns when it would be due.
    ev::Time next_at() const { return begins_at_ + next_offset_; }

private:
    void advance(std::uint64_t number);
    bool planned_until(std::uint64_t number, ev::Duration planned, ev::Duration end) const;

    Options options_;
    ev::Time begins_at_;
    Random random_;
    std::uint64_t next_number_ = 0;  // the next message
    double position_ = 0;            // with random gaps: sum of gaps with a mean of 1
    ev::Duration next_offset_{};     // planned time of the next message, from `begins_at_`
    ev::Duration first_offset_{};    // planned time of the first message
    ev::Duration passed_offset_{};   // planned time of the last passed message
    ev::Duration passed_after_{};    // when it was passed, from `begins_at_`
};

}  // namespace yodel
