// Descriptors.
#pragma once

#include "ev/fd.hpp"

namespace bufio {

using ev::Fd;

// True for the errno of a call on a non-blocking descriptor that was not ready, or that a
// signal interrupted: to be repeated once the descriptor is ready.
inline bool would_block(int code) {
    return code == EAGAIN || code == EWOULDBLOCK || code == EINTR;
}

}  // namespace bufio
