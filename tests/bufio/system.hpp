// Injects faults into the system calls of bufio. The linker (--wrap) redirects the calls to
// wrappers. The faults apply until the test's object is destroyed. Also refuses allocations.
#pragma once

#include "bufio/address.hpp"
#include "tests/support/allocations.hpp"
#include "tests/support/descriptors.hpp"

#include <functional>
#include <new>
#include <string>
#include <thread>
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

// Calls `run` with each allocation refused in turn. `run` must leave no descriptor open.
template <class Run>
void refuse_memory(Run run) {
    auto& [count, largest, refused] = allocations;
    run();  // makes one-time allocations
    const std::vector<int> before = open_descriptors();
    bool refused_one = true;
    for (std::size_t nth = 1; refused_one; ++nth) {
        refused = count + nth;
        try {
            run();
        } catch (const std::bad_alloc&) {
        }
        refused_one = count >= refused;
        refused = 0;
        while (open_descriptors().size() > before.size())
            std::this_thread::yield();  // a look-up thread still holds descriptors
    }
}

}  // namespace test
