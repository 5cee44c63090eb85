// Which messages of an open loop are due: each at its planned time, whatever became of the
// messages before it. Pure: it reads no clock. due() returns the next message, and pass() takes
// it.
#pragma once

#include "app/run/pace.hpp"
#include "app/run/share.hpp"
#include "ev/time.hpp"

#include <cstdint>
#include <optional>

namespace yodel {

class Schedule {
public:
    struct Options {
        Pace pace;
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
        : options_(options), begin_(begin), number_(options.share.thread) {}

    // Returns the next message if it is due. It stays the next one until pass() is called.
    std::optional<Message> due(ev::Time now) const;
    void pass(ev::Time now);
    // Messages a second, between the planned time of the first and when the last one was
    // passed; none of fewer than two messages.
    std::optional<double> reached() const;
    // How many messages are due that were not taken.
    std::uint64_t overdue(ev::Time now) const;
    bool over() const;  // no message is left
    // When the next message is due; there must be one.
    ev::Time next_time() const { return begin_ + options_.pace.offset(number_); }

private:
    bool planned_until(std::uint64_t number, ev::Time time) const;

    Options options_;
    ev::Time begin_;
    std::uint64_t number_;
    std::uint64_t passed_ = 0;
    ev::Time passed_at_{};
};

}  // namespace yodel
