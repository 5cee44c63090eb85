// The system's calls as bufio makes them, with faults put in between: the linker sends them
// here first (--wrap).  What is set lasts until the end of the test's Faults.
#pragma once

#include "bufio/address.hpp"

#include <sys/socket.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace test {

struct Faults {
    Faults();
    ~Faults();
    Faults(const Faults&) = delete;
    Faults& operator=(const Faults&) = delete;

    // For a call with so many bytes: how many of them it may move, or -errno.
    std::function<long(std::size_t)> recv;
    std::function<long(std::size_t)> send;
    // 0, or the errno to fail with.
    std::function<int()> accept;
    std::function<int(const bufio::Address&)> connect;
    // The addresses of a name that is no number; called on the thread that looks up.
    std::function<std::vector<bufio::Address>(const std::string&)> resolve;

    std::size_t recv_calls = 0;
    std::size_t send_calls = 0;
};

}  // namespace test
