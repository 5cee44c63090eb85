// Which messages of an open loop are due: each at its planned time, whatever became of those
// before it.  Pure: it reads no clock. Messages are pulled:
//
//     while (auto message = schedule.next(now)) ...
//
// or, where one may have to stay for a while, looked at by due() and then taken by pass().
#pragma once

#include "app/pipe/pace.hpp"
#include "app/pipe/share.hpp"
#include "ev/loop.hpp"

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

    // Returns the next message if it is due, and takes it.
    std::optional<Message> next(ev::Time now);
    // The same, and leaves it the next one until pass() is called.
    std::optional<Message> due(ev::Time now) const;
    void pass() { number_ = options_.share.message_after(number_); }
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
};

}  // namespace yodel
