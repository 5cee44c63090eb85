// Faults in the system calls of bufio: the linker (--wrap) redirects the calls to wrappers
// here. The faults that are set last until the test's object is destroyed.
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

    // These return how many of the call's bytes it may move, or -errno.
    std::function<long(std::size_t)> recv;
    std::function<long(std::size_t)> send;
    std::function<long(std::size_t)> getsockopt;  // bytes of the answer
    // These return 0, or the errno with which the call fails.
    std::function<int()> accept;
    std::function<int()> getsockname;
    std::function<int(const bufio::Address&)> connect;
    // Returns the addresses of a name that is not numeric. The thread of the look-up calls it.
    std::function<std::vector<bufio::Address>(const std::string&)> resolve;

    std::size_t recv_calls = 0;
    std::size_t send_calls = 0;
};

}  // namespace test
