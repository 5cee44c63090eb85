// Descriptors.
#pragma once

#include "ev/fd.hpp"

namespace bufio {

using ev::Fd;

// True for the errno of a call on a non-blocking descriptor that is not ready.
inline bool would_block(int code) { return code == EAGAIN || code == EWOULDBLOCK; }

}  // namespace bufio
