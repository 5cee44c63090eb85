// An owned descriptor, and the pipe by which a signal handler or another thread wakes a loop.
#pragma once

#include "ev/backend.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace ev {

// Owns a descriptor, and closes it when it is replaced or destroyed. Empty by default.
class Fd {
public:
    Fd() = default;
    explicit Fd(int number) : number_(number) {}
    Fd(Fd&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Fd& operator=(Fd&& other) noexcept {
        reset(std::exchange(other.number_, -1));
        return *this;
    }
    ~Fd() { reset(); }

    explicit operator bool() const { return number_ >= 0; }
    int get() const { return number_; }  // -1 if empty
    void reset(int number = -1) {
        if (number_ >= 0) ::close(number_);
        number_ = number;
    }

private:
    int number_ = -1;
};

// A pipe with two non-blocking ends, which exec() closes.
class Pipe {
public:
    Pipe() {  // throws std::system_error if no descriptors are left
        int ends[2];
        if (::pipe(ends) != 0) throw_error(errno, "pipe");
        for (const int end : ends) {
            ::fcntl(end, F_SETFD, FD_CLOEXEC);
            ::fcntl(end, F_SETFL, O_NONBLOCK);
        }
        read_end_.reset(ends[0]);
        write_end_.reset(ends[1]);
    }

    int fd() const { return read_end_.get(); }  // readable after wake(), until drain()
    // May be called from a signal handler. A full pipe already wakes the loop.
    void wake() const {
        while (::write(write_end_.get(), "", 1) < 0 && errno == EINTR) {
        }
    }
    void drain() const {
        char bytes[512];
        while (::read(read_end_.get(), bytes, sizeof bytes) > 0 || errno == EINTR) {
        }
    }

private:
    Fd read_end_;
    Fd write_end_;
};

}  // namespace ev
