#include "app/run/pace.hpp"

#include <chrono>
#include <cmath>

namespace yodel {

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
