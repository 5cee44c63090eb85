// A generator of load written by hand: what a crowd is measured against.
#pragma once

#include <cstdint>

namespace bench {

struct CrowdFigures {
    std::uint64_t echoes = 0;  // verified
    double seconds = 0;
    double cpu_seconds = 0;  // of the generator, user and system
};

// So many connections to the port of the loopback, each with one message of 64 bytes and a
// newline in flight, each echo compared by memcmp, by epoll on this thread.
CrowdFigures raw_crowd(int port, int connections, double seconds);

}  // namespace bench
