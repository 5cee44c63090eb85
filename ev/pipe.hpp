// A pipe through which a signal handler or another thread wakes a loop.
#pragma once

#include "ev/backend.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace ev {

// Both ends are non-blocking and closed on exec.
class Pipe {
public:
    Pipe() {  // throws std::system_error if no descriptors are left
        if (::pipe(ends_) != 0) fail(errno, "pipe");
        for (const int end : ends_) {
            ::fcntl(end, F_SETFD, FD_CLOEXEC);
            ::fcntl(end, F_SETFL, O_NONBLOCK);
        }
    }
    ~Pipe() {
        for (const int end : ends_) ::close(end);
    }
    Pipe(Pipe&&) = delete;

    int fd() const { return ends_[0]; }  // readable after wake(), until drain()
    // May be called from a signal handler. If the pipe is full, its bytes wake the loop.
    void wake() const {
        while (::write(ends_[1], "", 1) < 0 && errno == EINTR) {
        }
    }
    void drain() const {
        char bytes[512];
        while (::read(ends_[0], bytes, sizeof bytes) > 0 || errno == EINTR) {
        }
    }

private:
    int ends_[2];
};

}  // namespace ev
