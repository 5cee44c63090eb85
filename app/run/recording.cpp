#include "app/run/recording.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace yodel {

namespace {

constexpr std::size_t piece = 64 * 1024;  // bytes read at once

bool is_input(const std::string& path) { return path == "-"; }

// Without O_NONBLOCK, open() would wait for the writer of a pipe.
constexpr int open_flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

}  // namespace

Recording::Recording(const std::string& path, std::size_t max_frame)
    : name_(is_input(path) ? "standard input" : path),
      file_(std::make_shared<const bufio::Fd>(is_input(path)
                                                  ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                                  : ::open(path.c_str(), open_flags))),
      reader_(name_, max_frame) {
    if (!*file_) fail(errno);
    struct stat status {};
    regular_ = *file_ && ::fstat(fd(), &status) == 0 && S_ISREG(status.st_mode);
    if (!regular_) return;
    // Part of standard input may already have been read.
    offset_ = static_cast<std::uint64_t>(::lseek(fd(), 0, SEEK_CUR));
    while (!head_complete()) read();
    if (!over()) read();
}

bool Recording::read_head(ev::Loop& loop, std::optional<ev::Duration> limit) {
    if (head_complete()) return true;
    ev::Timer overdue(loop, [&] { loop.stop(); });
    if (limit) overdue.start(*limit);
    const ev::Watch watch(loop, fd(), ev::readable, [&](ev::Events) {
        read();
        if (head_complete()) loop.stop();
    });
    loop.run();
    return head_complete();
}

// Copies share the descriptor's position, so a regular file is read at `offset_` instead.
void Recording::read() {
    char bytes[piece];
    const ssize_t count = regular_
                              ? ::pread(fd(), bytes, sizeof bytes, static_cast<off_t>(offset_))
                              : ::read(fd(), bytes, sizeof bytes);
    if (count < 0 && errno != EINTR && errno != EAGAIN) fail(errno);
    if (count > 0) {
        offset_ += static_cast<std::uint64_t>(count);
        reader_.append({bytes, static_cast<std::size_t>(count)});
    }
    if (count != 0) return;
    reader_.end();
    at_end_ = true;
}

void Recording::fail(int code) {
    error_ = name_ + ": " + std::generic_category().message(code);
}

}  // namespace yodel
