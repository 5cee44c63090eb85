#include "app/pipe/recording.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace yodel {

namespace {

constexpr std::size_t piece = 64 * 1024;  // bytes read at once

}  // namespace

Recording::Recording(const std::string& path, std::size_t max_frame)
    : path_(path),
      file_(::open(path.c_str(), O_RDONLY | O_NOCTTY | O_CLOEXEC)),
      reader_(path, max_frame) {
    if (!file_) fail(errno);
    while (!framing() && !over()) read();
    struct stat status {};
    const bool regular = file_ && ::fstat(fd(), &status) == 0 && S_ISREG(status.st_mode);
    if (regular && !over()) read();
}

void Recording::read() {
    char bytes[piece];
    const ssize_t count = ::read(fd(), bytes, sizeof bytes);
    if (count < 0 && errno != EINTR && errno != EAGAIN) fail(errno);
    if (count > 0) reader_.append({bytes, static_cast<std::size_t>(count)});
    if (count != 0) return;
    reader_.end();
    at_end_ = true;
}

void Recording::fail(int code) {
    error_ = path_ + ": " + std::generic_category().message(code);
}

}  // namespace yodel
