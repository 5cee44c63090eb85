#include "app/output.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <limits>
#include <string>
#include <utility>

namespace yodel {

namespace {

constexpr std::size_t any_size = std::numeric_limits<std::size_t>::max();

// A pipe opened anew has flags of its own. Where the system can't do that, a pipe that poll(2)
// calls writable takes PIPE_BUF bytes without blocking.
bufio::Fd reopen_pipe(int fd) {
    return bufio::Fd(::open(("/proc/self/fd/" + std::to_string(fd)).c_str(),
                            O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
}

}  // namespace

Output::Output(ev::Loop& loop, int fd, std::function<void()> changed)
    : fd_(fd), piece_(PIPE_BUF), changed_(std::move(changed)) {
    struct stat status {};
    ::fstat(fd, &status);
    const bool device = S_ISCHR(status.st_mode) && ::isatty(fd) == 0;  // /dev/null and its like
    if (S_ISREG(status.st_mode) || device) piece_ = any_size;
    socket_ = S_ISSOCK(status.st_mode);
    if (S_ISFIFO(status.st_mode)) own_ = reopen_pipe(fd);
    if (own_) fd_ = own_.get();
    if (own_ || socket_) piece_ = any_size;
    watch_ = ev::Watch(loop, fd_, ev::none, [this](ev::Events) {
        blocked_ = false;
        write_some();
        changed_();
    });
}

void Output::append_line(std::string_view text) {
    char* const room = buffer_.reserve(text.size() + 1);
    *std::copy(text.begin(), text.end(), room) = '\n';
    buffer_.commit(text.size() + 1);
}

void Output::write(std::string_view bytes) {
    if (buffer_.empty() && writes_at_once() && error_ == 0) {
        const ssize_t count = write_piece(bytes);
        if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    append(bytes);
    if (!bytes.empty()) flush();
}

bool Output::writes_at_once() const { return piece_ == any_size && !blocked_; }

void Output::flush() {
    if (buffer_.empty() || error_ != 0) return;
    if (writes_at_once()) return write_some();
    watch_.want(ev::writable);
}

void Output::write_some() {
    do {
        const ssize_t count = write_piece(buffer_.view().substr(0, piece_));
        if (count >= 0) buffer_.consume(static_cast<std::size_t>(count));
        blocked_ = count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
        if (count < 0 && !blocked_ && errno != EINTR) error_ = errno;
    } while (!blocked_ && error_ == 0 && !buffer_.empty() && piece_ == any_size);
    watch_.want(buffer_.empty() || error_ != 0 ? ev::none : ev::writable);
}

ssize_t Output::write_piece(std::string_view bytes) const {
    if (socket_) return ::send(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    return ::write(fd_, bytes.data(), bytes.size());
}

}  // namespace yodel
