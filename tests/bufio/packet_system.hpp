// Injects faults into the system calls that move datagrams, like tests/bufio/system.hpp.
#pragma once

#include <cstddef>
#include <functional>

namespace test {

struct PacketFaults {
    PacketFaults();
    ~PacketFaults();
    PacketFaults(const PacketFaults&) = delete;
    PacketFaults& operator=(const PacketFaults&) = delete;

    // Both return the number of the call's datagrams that it may move, or -errno.
    std::function<long(std::size_t)> receive;
    std::function<long(std::size_t)> send;

    std::size_t receive_calls = 0;
    std::size_t send_calls = 0;
};

}  // namespace test
