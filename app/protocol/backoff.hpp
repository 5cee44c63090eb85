// Computes the waits between retries. Each wait is twice the previous one, up to a limit. It is
// then shortened at random by up to half, so that the clients of a restarted server do not all
// reconnect at once.
#pragma once

#include "ev/loop.hpp"

#include <algorithm>
#include <optional>
#include <random>

namespace yodel {

class Backoff {
public:
    static constexpr ev::Duration longest = std::chrono::seconds(30);

    // If the first wait is longer than `longest`, all waits have its length. Without a seed,
    // the system chooses one.
    Backoff(ev::Duration first, std::optional<unsigned> seed)
        : first_(first), random_(seed ? *seed : std::random_device()()) {}

    // Returns the next wait.
    ev::Duration next() {
        ev::Duration wait = first_;
        for (unsigned i = 0; i < count_ && wait < longest; ++i) wait *= 2;
        wait = std::min(wait, std::max(longest, first_));
        ++count_;
        return ev::Duration(std::uniform_int_distribution<ev::Duration::rep>(
            wait.count() / 2, wait.count())(random_));
    }
    // Returns to the first wait. Call it after a success.
    void reset() { count_ = 0; }
    unsigned count() const { return count_; }  // waits since reset()

private:
    ev::Duration first_;
    unsigned count_ = 0;
    std::minstd_rand random_;
};

}  // namespace yodel
