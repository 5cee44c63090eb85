// The waits between tries: each is twice as long as the one before, up to a limit, and cut
// short by chance, by up to half, so that the clients of a server that comes back do not all
// come back at once.
#pragma once

#include "ev/loop.hpp"

#include <random>

namespace yodel {

class Backoff {
public:
    static constexpr ev::Duration longest = std::chrono::seconds(30);

    // A first wait above the longest is kept as it is.
    Backoff(ev::Duration first, unsigned seed) : first_(first), chance_(seed) {}

    // The next wait.
    ev::Duration next();
    void reset() { count_ = 0; }
    unsigned count() const { return count_; }  // of waits since the last reset

private:
    ev::Duration first_;
    unsigned count_ = 0;
    std::minstd_rand chance_;
};

}  // namespace yodel
