// Injects faults into the system calls of bufio. The linker (--wrap) redirects the calls to
// wrappers. The faults apply until the test's object is destroyed.
#pragma once

#include "bufio/address.hpp"

#include <functional>
#include <string>
#include <vector>

namespace test {

struct Faults {
    Faults();
    ~Faults();
    Faults(const Faults&) = delete;
    Faults& operator=(const Faults&) = delete;

    // These return how many of the call's bytes or datagrams it may move, or -errno.
    using Moves = std::function<long(std::size_t)>;
    Moves recv, send;
    Moves recvmsg, sendmsg;  // also the calls for several datagrams
    Moves getsockopt;        // bytes of the result
    // These return 0, or the errno with which the call fails.
    std::function<int()> accept;
    std::function<int()> getsockname;
    std::function<int(const bufio::Address&)> connect;
    // Returns the addresses of a name. Called by the look-up's thread.
    std::function<std::vector<bufio::Address>(const std::string&)> resolve;

    std::size_t recv_calls = 0;
    std::size_t send_calls = 0;
    std::size_t recvmsg_calls = 0;  // as for `recvmsg`
    std::size_t sendmsg_calls = 0;
};

}  // namespace test
