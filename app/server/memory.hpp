// The memory of the process, as the system sees it.
#pragma once

#include "ev/loop.hpp"

namespace yodel {

// Returns memory to the system after a burst: freed memory that the C library keeps, if the
// library supports that, and the memory that this thread's datagram sockets share. This takes
// some microseconds if there is little to do.
class MemoryTidier {
public:
    explicit MemoryTidier(ev::Loop& loop);
    // Tidies at most once a second, the last time at least a second after the last call.
    void tidy_soon();

private:
    ev::Timer timer_;
    bool called_again_ = false;  // since the timer was started
};

}  // namespace yodel
