// Computes the waits between retries. The wait doubles with each retry, up to a limit. Each
// wait is then shortened at random by up to half, so that the clients of a restarted server do
// not all reconnect together.
#pragma once

#include "ev/loop.hpp"

#include <algorithm>
#include <optional>
#include <random>

namespace yodel {

class Backoff {
public:
    static constexpr ev::Duration max_wait = std::chrono::seconds(30);

    // If the first wait is longer than `longest`, the waits do not grow. Without a seed, the
    // system chooses one.
    Backoff(ev::Duration first, std::optional<unsigned> seed)
        : first_(first), random_(seed ? *seed : std::random_device()()) {}

    ev::Duration next() {
        ev::Duration wait = first_;
        for (unsigned i = 0; i < count_ && wait < max_wait; ++i) wait *= 2;
        wait = std::min(wait, std::max(max_wait, first_));
        ++count_;
        return ev::Duration(std::uniform_int_distribution<ev::Duration::rep>(
            wait.count() / 2, wait.count())(random_));
    }
    // Starts again with the shortest wait. Call it after a success.
    void reset() { count_ = 0; }
    unsigned count() const { return count_; }  // waits since reset()

private:
    ev::Duration first_;
    unsigned count_ = 0;
    std::minstd_rand random_;
};

}  // namespace yodel
