#include "app/run/schedule.hpp"

#include <chrono>
#include <cmath>

namespace yodel {

namespace {

// Returns how many numbers below `end` belong to the thread.
std::uint64_t share_of(std::uint64_t end, const Share& share) {
    return end / share.threads + (share.thread < end % share.threads ? 1 : 0);
}

}  // namespace

std::optional<ev::Time> Schedule::due(ev::Time now) const {
    return is_over() || next_at() > now ? std::nullopt : std::optional(next_at());
}

void Schedule::pass(ev::Time now) {
    passed_offset_ = next_offset_;
    passed_after_ = now - begins_at_;
    advance(options_.share.message_after(next_number_));
}

// Draws the random gaps of all threads, so that planned times do not depend on the number of
// threads.
void Schedule::advance(std::uint64_t number) {
    if (options_.seed) {
        for (std::uint64_t i = next_number_; i < number; ++i)
            position_ += random_.exponential();
        next_offset_ = options_.pace.offset_at(position_);
    } else {
        next_offset_ = options_.pace.offset(number);
    }
    next_number_ = number;
}

std::optional<double> Schedule::reached_share() const {
    if (passed_offset_ <= first_offset_ || passed_after_ <= first_offset_) return std::nullopt;
    return std::chrono::duration<double>(passed_offset_ - first_offset_) /
           (passed_after_ - first_offset_);
}

bool Schedule::is_over() const {
    return !planned_until(next_number_, next_offset_, ev::Duration::max());
}

// Searches for the first message that is not yet due, by bisection. Random gaps must be drawn
// one by one; beyond a million, mean gaps are close enough.
std::uint64_t Schedule::overdue(ev::Time now) const {
    constexpr std::uint64_t max_drawn = 1'000'000;
    Schedule rest = *this;
    std::uint64_t drawn = 0;
    if (options_.seed)
        for (; drawn < max_drawn && rest.due(now); rest.pass(now)) ++drawn;
    const auto is_due = [&](std::uint64_t number) {
        const ev::Duration planned =
            options_.seed
                ? options_.pace.offset_at(rest.position_ +
                                          static_cast<double>(number - rest.next_number_))
                : options_.pace.offset(number);
        return planned_until(number, planned, now - begins_at_);
    };
    std::uint64_t span = 1;
    while (is_due(rest.next_number_ + span)) span *= 2;
    std::uint64_t end = rest.next_number_;
    for (; span > 0; span /= 2)
        if (is_due(end + span - 1)) end += span;
    const Share& share = options_.share;
    return drawn + share.own_message_count(end) - share.own_message_count(rest.next_number_);
}

bool Schedule::planned_until(std::uint64_t number, ev::Duration planned,
                             ev::Duration end) const {
    if (options_.count != 0 && number >= options_.count) return false;
    return planned <= end && (!options_.length || planned < *options_.length);
}

std::size_t Share::own_connection_count() const {
    return static_cast<std::size_t>(share_of(connections, *this));
}

std::uint64_t Share::own_message_count(std::uint64_t count) const {
    return count / connections * own_connection_count() + share_of(count % connections, *this);
}

// Returns the next message of this share: for its next connection in the same round, or for its
// first connection in the next round. A round is one message for each connection.
std::uint64_t Share::message_after(std::uint64_t message) const {
    const std::uint64_t connection = message % connections;
    if (connection + threads < connections) return message + threads;
    return message - connection + connections + thread;
}

Pace Pace::per_1000_seconds(std::uint64_t messages) {
    return {messages, std::chrono::seconds(1000)};
}

Pace Pace::climbing_to(double rate, ev::Duration length) const {
    Pace made = steady();
    made.growth_ = (rate - made.rate()) / std::chrono::duration<double>(length).count();
    return made;
}

// At a steady rate, adds whole spans as integers, and uses floating point only for the rest.
// The error is below 1 ns if a span is shorter than 2^53 ns.
ev::Duration Pace::offset(std::uint64_t number) const {
    if (climbs()) return offset_at(static_cast<double>(number));
    const auto spans = static_cast<std::int64_t>(number / messages_);
    const double part =
        static_cast<double>(number % messages_) / static_cast<double>(messages_);
    const double nanoseconds = part * static_cast<double>(span_.count());
    return spans * span_ + ev::Duration(std::llrint(nanoseconds));
}

// Solves position = rate * t + growth * t^2 / 2, without a difference of almost equal numbers.
ev::Duration Pace::offset_at(double position) const {
    const double first = rate();
    const double last = std::sqrt(first * first + 2 * growth_ * position);
    return ev::Duration(std::llrint(2e9 * position / (first + last)));
}

double Pace::rate(ev::Duration time) const {
    return static_cast<double>(messages_) / std::chrono::duration<double>(span_).count() +
           growth_ * std::chrono::duration<double>(time).count();
}

}  // namespace yodel
