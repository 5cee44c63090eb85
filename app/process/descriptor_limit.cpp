#include "app/process/descriptor_limit.hpp"

#include <fcntl.h>
#include <sys/resource.h>

#include <stdexcept>
#include <string>

namespace yodel {

namespace {

// Standard descriptors, those of the loops, of look-ups, and those that were inherited.
constexpr rlim_t others = 32;

}  // namespace

void provide_descriptors(std::size_t count) {
    const rlim_t needed = count + others;
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    ::getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < needed)
        throw std::runtime_error("these connections need " + std::to_string(needed) +
                                 " descriptors, but the limit is " +
                                 std::to_string(limit.rlim_cur) + " (ulimit -n)");
}

std::size_t descriptor_limit() {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur == RLIM_INFINITY ? 0 : static_cast<std::size_t>(limit.rlim_cur);
}

std::size_t used_descriptors() {
    std::size_t used = 0;
    for (int fd = 0; fd < 256; ++fd)
        if (::fcntl(fd, F_GETFD) != -1) ++used;
    return used;
}

}  // namespace yodel
