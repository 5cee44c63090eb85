// Redirects a standard descriptor to a file, for code that writes to it.
#pragma once

#include "ev/fd.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <iostream>
#include <string>

namespace test {

// Redirects the descriptor until it is destroyed.
class Redirected {
public:
    explicit Redirected(int fd) : fd_(fd), original_(::dup(fd)) {
        std::cout.flush();
        ::dup2(::fileno(file_), fd_);
    }
    ~Redirected() {
        ::dup2(original_.get(), fd_);
        std::fclose(file_);
    }
    Redirected(const Redirected&) = delete;
    Redirected& operator=(const Redirected&) = delete;

    // Returns the first million bytes written.
    std::string text() const {
        std::string text(1'000'000, '\0');
        const ssize_t count = ::pread(::fileno(file_), text.data(), text.size(), 0);
        text.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
        return text;
    }
    int lines() const {
        const std::string written = text();
        return static_cast<int>(std::count(written.begin(), written.end(), '\n'));
    }

private:
    const int fd_;
    const ev::Fd original_;
    std::FILE* const file_ = std::tmpfile();
};

}  // namespace test
