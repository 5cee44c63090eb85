#include "app/run/recording.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace yodel {

namespace {

constexpr std::size_t piece = 64 * 1024;  // bytes read at once
constexpr std::size_t max_size = 256 * 1024 * 1024;

bool is_standard_input(const std::string& path) { return path == "-"; }

// Without O_NONBLOCK, open() would wait for the writer of a pipe.
constexpr int open_flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

}  // namespace

Recording::Recording(const std::string& path, std::size_t max_frame, bool shown)
    : name_(is_standard_input(path) ? "standard input" : path),
      shown_(shown),
      modified_(std::chrono::system_clock::now()),
      file_(is_standard_input(path) ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                    : ::open(path.c_str(), open_flags)),
      reader_(name_, max_frame, shown) {
    if (!file_) error_ = name_ + ": " + std::generic_category().message(errno);
    struct stat status {};
    if (!file_ || ::fstat(file_.get(), &status) != 0 || !S_ISREG(status.st_mode)) return;
    modified_ = std::chrono::system_clock::from_time_t(status.st_mtime);
    while (readable()) read();
}

bool Recording::fetch(ev::Loop& loop, std::optional<ev::Duration> limit) {
    if (!readable()) return true;
    ev::Timer overdue(loop, [&] { loop.stop(); });
    if (limit) overdue.start(*limit);
    const ev::Watch watch(loop, file_.get(), ev::readable, [&](ev::Events) {
        read();
        if (!readable()) loop.stop();
    });
    loop.run();
    return !readable();
}

const RecordedEvent* Recording::next_event() {
    if (next_event_ == reader_.events().size()) return nullptr;
    return &reader_.events()[next_event_++];
}

// The reader looks at each line as soon as it has arrived, so a file of another kind is not
// read to its end.
void Recording::read() {
    char bytes[piece];
    const ssize_t count = ::read(file_.get(), bytes, sizeof bytes);
    if (count < 0 && errno != EINTR && errno != EAGAIN)
        error_ = name_ + ": " + std::generic_category().message(errno);
    if (count < 0) return;
    const auto size = static_cast<std::size_t>(count);
    size_ += size;
    if (size_ > max_size) error_ = name_ + ": the recording is larger than 256 MiB";
    at_end_ = size == 0;
    reader_.append({bytes, size});
    if (at_end_ || !trouble().empty()) reader_.end();
}

}  // namespace yodel
