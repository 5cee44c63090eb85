// Descriptors.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace bufio {

// True for the errno of a call on a non-blocking descriptor that is not ready.
inline bool would_block(int code) { return code == EAGAIN || code == EWOULDBLOCK; }

// Owns a descriptor and closes it in the destructor. Empty by default.
class Fd {
public:
    Fd() = default;
    explicit Fd(int number) : number_(number) {}
    Fd(Fd&& other) noexcept : number_(other.release()) {}
    Fd& operator=(Fd&& other) noexcept {
        reset(other.release());
        return *this;
    }
    ~Fd() { reset(); }

    explicit operator bool() const { return number_ >= 0; }
    int get() const { return number_; }                   // or -1
    int release() { return std::exchange(number_, -1); }  // gives it up without closing it
    void reset(int number = -1) {
        if (number_ >= 0) ::close(number_);
        number_ = number;
    }

private:
    int number_ = -1;
};

}  // namespace bufio
