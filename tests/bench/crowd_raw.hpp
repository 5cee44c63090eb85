// A hand-written load generator, the baseline for yodel's load.
#pragma once

#include <cstdint>

namespace bench {

struct CrowdFigures {
    std::uint64_t echoes = 0;  // verified
    double seconds = 0;
    double cpu_seconds = 0;  // the generator's, user and system
};

// Runs `connections` connections to a loopback port by epoll on this thread. Each has one
// message of 64 bytes and a newline in flight; memcmp compares each echo.
CrowdFigures raw_crowd(int port, int connections, double seconds);

}  // namespace bench
