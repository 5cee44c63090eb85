#include "app/run/recording.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

namespace yodel {

namespace {

constexpr std::size_t piece = 64 * 1024;  // bytes read at once

bool is_standard_input(const std::string& path) { return path == "-"; }

// Without O_NONBLOCK, open() would wait for the writer of a pipe.
constexpr int open_flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

constexpr const char* copy_failure = "cannot be copied to a temporary file: ";

}  // namespace

Recording::Recording(const std::string& path, std::size_t max_frame, bool shown,
                     const std::string& target)
    : name_(is_standard_input(path) ? "standard input" : path),
      max_frame_(max_frame),
      shown_(shown),
      target_(target),
      file_(is_standard_input(path) ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                    : ::open(path.c_str(), open_flags)),
      reader_(std::in_place, name_, max_frame, shown, target) {
    if (!file_) fail("");
    struct stat status {};
    modified_ = std::chrono::system_clock::now();
    is_regular_ = file_ && ::fstat(file_.get(), &status) == 0 && S_ISREG(status.st_mode);
    if (!is_regular_) return;
    modified_ = std::chrono::system_clock::from_time_t(status.st_mtime);
    read_head();
}

void Recording::read_head() {
    while (readable() && !framing()) read();
    if (readable() && !shown_) read();
}

// For a replay, checks the lines while copying. They are read again from the copy.
bool Recording::fetch(ev::Loop& loop, std::optional<ev::Duration> limit) {
    if (is_regular_ || !readable()) return true;
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> copy(std::tmpfile(), std::fclose);
    if (!copy) fail(copy_failure);
    ev::Timer overdue(loop, [&] { loop.stop(); });
    if (limit) overdue.start(*limit);
    const ev::Watch watch(loop, file_.get(), copy ? ev::readable : ev::none, [&](ev::Events) {
        read(copy.get());
        reader_->items().clear();
        if (!readable()) loop.stop();
    });
    if (copy) loop.run();
    if (!trouble().empty()) return true;
    if (!at_end_) return false;
    if (std::fflush(copy.get()) != 0) fail(copy_failure);
    std::rewind(copy.get());
    file_.reset(::fcntl(::fileno(copy.get()), F_DUPFD_CLOEXEC, 0));
    at_end_ = false;
    reader_.emplace(name_, max_frame_, shown_, target_);
    read_head();
    return true;
}

RecordedItem* Recording::item(std::size_t place) {
    std::deque<RecordedItem>& items = reader_->items();
    while (items.size() <= place && readable()) read();
    return place < items.size() && trouble().empty() ? &items[place] : nullptr;
}

const RecordedEvent* Recording::next_event() {
    const RecordedEvent* event = reader_->events().next();
    while (!event && readable()) {
        read();
        event = reader_->events().next();
    }
    return event;
}

void Recording::remove(std::size_t place) {
    reader_->items().erase(reader_->items().begin() + static_cast<std::ptrdiff_t>(place));
}

void Recording::read(std::FILE* copy) {
    char bytes[piece];
    const ssize_t count = ::read(file_.get(), bytes, sizeof bytes);
    if (count < 0 && errno != EINTR && errno != EAGAIN) fail("");
    if (count < 0) return;
    const auto size = static_cast<std::size_t>(count);
    if (copy && std::fwrite(bytes, 1, size, copy) != size) return fail(copy_failure);
    at_end_ = size == 0;
    if (copy && shown_) return;
    reader_->append({bytes, size});
    if (at_end_) reader_->end();
}

void Recording::fail(const std::string& prefix) {
    error_ = name_ + ": " + prefix + std::generic_category().message(errno);
}

}  // namespace yodel
