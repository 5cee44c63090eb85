#include "app/run/schedule.hpp"

#include <chrono>
#include <cmath>

namespace yodel {

namespace {

// Returns how many of the numbers below `end` belong to the thread.
std::uint64_t share_of(std::uint64_t end, const Share& share) {
    return end / share.threads + (share.thread < end % share.threads ? 1 : 0);
}

}  // namespace

std::optional<Schedule::Message> Schedule::due(ev::Time now) const {
    if (over() || next_time() > now) return std::nullopt;
    return Message{number_, next_time()};
}

void Schedule::pass(ev::Time now) {
    number_ = options_.share.message_after(number_);
    ++passed_;
    passed_at_ = now;
}

std::optional<double> Schedule::reached() const {
    const ev::Time first = begin_ + options_.pace.offset(options_.share.thread);
    const double seconds = std::chrono::duration<double>(passed_at_ - first).count();
    if (passed_ < 2 || seconds <= 0) return std::nullopt;
    return static_cast<double>(passed_ - 1) / seconds;
}

bool Schedule::over() const { return !planned_until(number_, ev::Time::max()); }

// Planned times grow with the numbers, so that the first number that is not due can be found
// by halving.
std::uint64_t Schedule::overdue(ev::Time now) const {
    std::uint64_t span = 1;
    while (planned_until(number_ + span, now)) span *= 2;
    std::uint64_t end = number_;
    for (; span > 0; span /= 2)
        if (planned_until(end + span - 1, now)) end += span;
    return options_.share.own_messages(end) - options_.share.own_messages(number_);
}

bool Schedule::planned_until(std::uint64_t number, ev::Time time) const {
    if (options_.count != 0 && number >= options_.count) return false;
    const ev::Duration offset = options_.pace.offset(number);
    if (options_.length && offset >= *options_.length) return false;
    return begin_ + offset <= time;
}

std::size_t Share::own_connections() const {
    return static_cast<std::size_t>(share_of(connections, *this));
}

std::size_t Share::place_of(std::uint64_t message) const {
    return static_cast<std::size_t>(message % connections) / threads;
}

std::uint64_t Share::own_messages(std::uint64_t count) const {
    return count / connections * own_connections() + share_of(count % connections, *this);
}

// The next one of the same round over all connections, or the first one of the next round.
std::uint64_t Share::message_after(std::uint64_t message) const {
    const std::uint64_t connection = message % connections;
    if (connection + threads < connections) return message + threads;
    return message - connection + connections + thread;
}

Pace Pace::per_second(std::uint64_t thousandths) {
    if (thousandths % 1000 == 0) return {thousandths / 1000, std::chrono::seconds(1)};
    return {thousandths, std::chrono::seconds(1000)};
}

// Only the part within one span is computed in floating point: it is less than 2^53 ns, and so
// exact to a fraction of a nanosecond.
ev::Duration Pace::offset(std::uint64_t number) const {
    const auto spans = static_cast<std::int64_t>(number / messages_);
    const double part =
        static_cast<double>(number % messages_) / static_cast<double>(messages_);
    const double nanoseconds = part * static_cast<double>(span_.count());
    return spans * span_ + ev::Duration(std::llround(nanoseconds));
}

double Pace::rate() const {
    return static_cast<double>(messages_) / std::chrono::duration<double>(span_).count();
}

}  // namespace yodel
