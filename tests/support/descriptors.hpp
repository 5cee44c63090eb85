// The descriptors of the test program, and their limit.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

namespace test {

inline std::vector<int> open_descriptors() {
    std::vector<int> open;
    for (int fd = 0; fd < 1024; ++fd)
        if (::fcntl(fd, F_GETFD) >= 0) open.push_back(fd);
    return open;
}

// Returns the lowest descriptor that is free.
inline int free_descriptor() {
    const int fd = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
    ::close(fd);
    return fd;
}

// Sets the descriptor limit of the process for its lifetime.
class DescriptorLimit {
public:
    explicit DescriptorLimit(rlim_t count) {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        const rlimit wanted{std::min(count, before_.rlim_max), before_.rlim_max};
        ::setrlimit(RLIMIT_NOFILE, &wanted);
        allowed_ = wanted.rlim_cur;
    }
    ~DescriptorLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }
    DescriptorLimit(const DescriptorLimit&) = delete;
    DescriptorLimit& operator=(const DescriptorLimit&) = delete;
    rlim_t allowed() const { return allowed_; }

private:
    rlimit before_{};
    rlim_t allowed_;
};

}  // namespace test
