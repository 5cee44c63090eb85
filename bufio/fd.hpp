// Owned descriptors, and a check for calls that would block.
#pragma once

#include "ev/fd.hpp"

namespace bufio {

using ev::Fd;

// Returns true if the errno means that a non-blocking descriptor was not ready, or that a
// signal interrupted the call. Repeat the call once the descriptor is ready.
inline bool would_block(int code) {
    return code == EAGAIN || code == EWOULDBLOCK || code == EINTR;
}

}  // namespace bufio
