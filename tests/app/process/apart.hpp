// A folder, and a separate process for code with lasting effects: limits, signals, the sandbox.
#pragma once

#include "tests/support/blocked.hpp"
#include "tests/support/catch.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

namespace test {

struct Folder {
    Folder() { REQUIRE(::mkdtemp(path.data())); }
    ~Folder() { std::filesystem::remove_all(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::string operator/(const std::string& name) const { return path + "/" + name; }

    std::string path = "/tmp/yodel-process-XXXXXX";
};

inline void write(const std::string& file, const std::string& text) {
    std::ofstream(file) << text;
}

struct Outcome {
    int status = -1;
    int signo = 0;  // the signal that ended the process
    std::string output = {};
    std::string errors = {};
};

// Runs the body in a process of its own, which exits with the body's result.
inline Outcome apart(const std::function<int()>& body) {
    const Ends output = pipe_ends();
    const Ends errors = pipe_ends();
    std::fflush(nullptr);  // otherwise the child would write the buffered output again
    const pid_t child = ::fork();
    if (child == 0) {
        ::dup2(output.writer.get(), STDOUT_FILENO);
        ::dup2(errors.writer.get(), STDERR_FILENO);
        ::_exit(body());
    }
    int ended = 0;
    ::waitpid(child, &ended, 0);
    return {WIFEXITED(ended) ? WEXITSTATUS(ended) : -1,
            WIFSIGNALED(ended) ? WTERMSIG(ended) : 0, take(output.reader), take(errors.reader)};
}

}  // namespace test
