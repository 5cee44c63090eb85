#include "app/run/schedule.hpp"

#include <chrono>

namespace yodel {

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

}  // namespace yodel
