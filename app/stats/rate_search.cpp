#include "app/stats/rate_search.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace yodel {

namespace {

constexpr double near_enough = 1.05;  // ratio of the two ends that ends the search

}  // namespace

void RateSearch::record(bool held) {
    if (!held && !doubtful_) {
        doubtful_ = true;
        return;
    }
    doubtful_ = false;
    if (brief_) hopeful_ = held;
    if (!held) failed_ = next_;
    if (std::exchange(brief_, false)) {
        next_ = after_failure();
        return;
    }
    if (held) held_ = next_;
    next_ = held ? after_hold() : after_failure();
    const bool halved_once = failed_ && !held_ && *failed_ < options_.first;
    brief_ = next_ && halved_once && !hopeful_;
    if (brief_) next_ = options_.min;
}

std::optional<double> RateSearch::after_hold() const {
    if (failed_) return between();
    if (*held_ >= options_.max) return std::nullopt;
    return std::min(*held_ * 2, options_.max);
}

std::optional<double> RateSearch::after_failure() const {
    if (held_) return between();
    if (*failed_ <= options_.min) return std::nullopt;
    return std::max(*failed_ / 2, options_.min);
}

std::optional<double> RateSearch::between() const {
    if (*failed_ / *held_ <= near_enough) return std::nullopt;
    return std::sqrt(*held_ * *failed_);
}

}  // namespace yodel
