#include "app/stats/climb.hpp"

#include <algorithm>
#include <chrono>

namespace yodel {

Results& Climb::second_of(ev::Duration planned) {
    using std::chrono::seconds;
    constexpr ev::Duration half = std::chrono::milliseconds(500);
    const auto count = std::max(std::chrono::floor<seconds>(length_ + half), seconds(1));
    const auto second =
        std::clamp(std::chrono::floor<seconds>(planned), seconds(0), count - seconds(1));
    const auto index = static_cast<std::size_t>(second.count());
    if (index >= seconds_.size()) seconds_.resize(index + 1);
    return seconds_[index];
}

void Climb::add(const Climb& other) {
    seconds_.resize(std::max(seconds_.size(), other.seconds_.size()));
    for (std::size_t i = 0; i < other.seconds_.size(); ++i) seconds_[i].add(other.seconds_[i]);
    ended_ = std::max(ended_, other.ended_);
}

double Climb::rate_after(std::size_t second) const {
    const bool last = second + 1 == seconds_.size();
    const ev::Duration end = std::chrono::seconds(second + 1);
    const ev::Duration time = last ? ended_ : std::min(end, ended_);
    return from_ + (to_ - from_) * (std::chrono::duration<double>(time) / length_);
}

}  // namespace yodel
