// Descriptors.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace bufio {

// Returns true if a call failed with this errno because a non-blocking descriptor is not ready.
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
    // The descriptor, or -1.
    int get() const { return number_; }
    // Gives up the descriptor without closing it.
    int release() { return std::exchange(number_, -1); }
    // Closes the descriptor, if there is one, and owns `number` from now on.
    void reset(int number = -1) {
        if (number_ >= 0) ::close(number_);
        number_ = number;
    }

private:
    int number_ = -1;
};

}  // namespace bufio
