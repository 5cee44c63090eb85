// Samples of a load: its slowest and its bad messages, as JSON objects.
//
// The samples represent the whole run. Time is divided into columns, as in a heat map, and each
// column contains the slowest messages answered in it. Whenever there are too many columns,
// their width doubles. A message that is not a sample costs two comparisons.
#pragma once

#include "app/protocol/matcher.hpp"
#include "app/text/json.hpp"
#include "ev/time.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace yodel {

struct Sample {
    ev::Time answered_at;
    ev::Duration round_trip;
    JsonObject object;
};

class SampleList {
public:
    static constexpr std::size_t max_samples = 50;

    // Returns true if the message is slow enough so far.
    bool wants(ev::Time answered_at, ev::Duration round_trip) const {
        return round_trip > threshold_ || answered_at >= column_end_;
    }
    void add(Sample sample);
    void add(const SampleList& other);
    JsonArray json() const;  // in the order of the columns

private:
    void widen();

    std::map<std::int64_t, std::vector<Sample>> columns_;  // by time; the slowest sample first
    ev::Duration width_ = std::chrono::milliseconds(250);
    ev::Duration threshold_{-1};  // what a sample of the last column must exceed
    ev::Time column_end_{};       // end of the last column
};

class Samples {
public:
    static constexpr std::size_t max_payload = 2048;  // bytes; the rest is cut off

    // Times in the objects count from `start`.
    explicit Samples(ev::Time start) : start_(start) {}

    void add(std::size_t connection, const Message& message, const Reply& reply, ev::Time now) {
        const ev::Duration duration = reply.round_trip.value_or(ev::Duration::zero());
        SampleList& list = reply.right ? slowest_ : bad_;
        if ((reply.round_trip || !reply.right) && list.wants(now, duration))
            list.add({now, duration, object(connection, message, reply)});
    }
    void add(const Samples& other) {
        slowest_.add(other.slowest_);
        bad_.add(other.bad_);
    }
    JsonObject json() const;

private:
    JsonObject object(std::size_t connection, const Message& message, const Reply& reply) const;

    ev::Time start_;
    SampleList slowest_;
    SampleList bad_;
};

}  // namespace yodel
