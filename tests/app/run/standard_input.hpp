// Standard input written by a test.
#pragma once

#include "bufio/fd.hpp"
#include "tests/support/catch.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace test {

// Replaces standard input for the lifetime of this object.
class StandardInput {
public:
    StandardInput() : before_(::dup(STDIN_FILENO)) {
        int ends[2];
        REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
        ::dup2(ends[0], STDIN_FILENO);
        ::close(ends[0]);
        writer_ = bufio::Fd(ends[1]);
    }
    ~StandardInput() { ::dup2(before_.get(), STDIN_FILENO); }
    StandardInput(const StandardInput&) = delete;
    StandardInput& operator=(const StandardInput&) = delete;

    // Writes input. At most 64 KiB may be unread.
    void write(std::string_view text) const {
        REQUIRE(::write(writer_.get(), text.data(), text.size()) ==
                static_cast<ssize_t>(text.size()));
    }
    void end() { writer_ = {}; }

private:
    const bufio::Fd before_;
    bufio::Fd writer_;
};

}  // namespace test
