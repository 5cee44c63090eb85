// A pseudo-terminal of the test program itself.
#pragma once

#include "tests/support/blocked.hpp"

#include <sys/ioctl.h>

#include <exception>
#include <iostream>

namespace test {

// Replaces standard input and output by a pseudo-terminal until it is destroyed. If a check
// fails meanwhile, its message is written to standard error.
class OnTerminal {
public:
    explicit OnTerminal(const char* type) {
        std::cout.flush();
        ::setenv("TERM", type ? type : "", 1);
        if (!type) ::unsetenv("TERM");
        for (int fd = 0; fd < 2; ++fd) {
            original_[fd] = bufio::Fd(::dup(fd));
            ::dup2(ends_.writer.get(), fd);
        }
    }
    ~OnTerminal() {
        std::cout.flush();
        for (int fd = 0; fd < 2; ++fd) ::dup2(original_[fd].get(), fd);
        if (std::uncaught_exceptions() > 0) std::cerr << take();
    }
    OnTerminal(const OnTerminal&) = delete;
    OnTerminal& operator=(const OnTerminal&) = delete;

    // Types the bytes that the terminal accepts, and removes them from `bytes`.
    void type(std::string& bytes) const {
        const ssize_t count = ::write(ends_.reader.get(), bytes.data(), bytes.size());
        if (count > 0) bytes.erase(0, static_cast<std::size_t>(count));
    }
    std::string take() const { return test::take(ends_.reader); }
    void resize(unsigned short rows, unsigned short columns) const {
        const winsize size{rows, columns, 0, 0};
        ::ioctl(ends_.reader.get(), TIOCSWINSZ, &size);
    }

private:
    const Ends ends_ = terminal_ends();
    bufio::Fd original_[2];
};

}  // namespace test
