// The memory of the process, as the system sees it.
#pragma once

#include "ev/loop.hpp"

namespace yodel {

// Gives memory back to the system that the process keeps after a burst: what the C library
// keeps of freed memory, where it can be told to, and what the sockets of datagrams of this
// thread share. It takes some microseconds where there is little to do.
class MemoryTidier {
public:
    explicit MemoryTidier(ev::Loop& loop);
    // In a second, so that it is done at most once a second.
    void tidy_soon();

private:
    ev::Timer timer_;
};

}  // namespace yodel
