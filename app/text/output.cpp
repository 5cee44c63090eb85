#include "app/text/output.hpp"

#include "app/text/json.hpp"
#include "app/text/system.hpp"
#include "app/text/units.hpp"
#include "ev/backends/backends.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <system_error>
#include <utility>

namespace yodel {

namespace {

constexpr std::size_t max_pending_bytes = 64 * 1024;

// Longer than `max_final_drain`, because diagnostics report why the program ends.
constexpr ev::Duration max_diagnostics_drain = std::chrono::milliseconds(300);

// Opens the descriptor's file again, with separate flags.
bufio::Fd reopen(int fd) {
    constexpr int flags = O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
#if YODEL_HAS_PROC_FD
    bufio::Fd own(::open(("/proc/self/fd/" + std::to_string(fd)).c_str(), flags));
    if (own) return own;
#endif
    const char* const terminal = ::ttyname(fd);
    return bufio::Fd(terminal ? ::open(terminal, flags) : -1);
}

}  // namespace

Output::Output(int fd) : fd_(fd) {
    struct stat status {};
    ::fstat(fd, &status);  // for an invalid descriptor, each write will report an error
    is_socket_ = S_ISSOCK(status.st_mode);
    may_block_ = S_ISFIFO(status.st_mode) || ::isatty(fd) == 1;
    if (may_block_) owned_fd_ = reopen(fd);
    if (!owned_fd_) return;
    fd_ = owned_fd_.get();
    may_block_ = false;
}

Output::Output(bufio::Fd file) : owned_fd_(std::move(file)), fd_(owned_fd_.get()) {}

void Output::attach(ev::Loop& loop, std::function<void()> on_write) {
    on_write_ = std::move(on_write);
    watch_ = ev::Watch(loop, fd_, ev::none, [this](ev::Events) {
        write_some();
        if (on_write_) on_write_();
    });
    if (!is_done()) watch_.want(ev::writable);
}

void Output::detach() {
    watch_ = {};
    on_write_ = nullptr;
    is_blocked_ = false;
}

std::string Output::error_text() const { return std::generic_category().message(error_); }

void Output::write(std::string_view bytes) {
    if (buffer_.empty() && !is_blocked_ && error_ == 0) {
        const ssize_t count = write_piece(bytes);
        if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    append(bytes);
    if (!bytes.empty()) flush();
}

void Output::flush() {
    if (!is_done() && !is_blocked_) write_some();
}

void Output::drain(ev::Duration max_time) {
    detach();
    flush();
    if (is_done()) return;
    ev::Loop loop(ev::Clock::now, ev::make_backend("poll"));  // regardless of EV_BACKEND
    attach(loop, nullptr);
    const ev::Time end_at = loop.read_clock() + max_time;
    while (!is_done() && loop.read_clock() < end_at) loop.step(end_at - loop.read_clock());
    detach();
}

void Output::clear() {
    buffer_.consume(buffer_.size());
    error_ = 0;
}

void Output::write_some() {
    do {
        const ssize_t count = write_piece(buffer_.view());
        if (count >= 0) buffer_.consume(static_cast<std::size_t>(count));
        is_blocked_ = count < 0 && bufio::would_block(errno);
        if (count < 0 && !is_blocked_ && errno != EINTR) error_ = errno;
    } while (!is_blocked_ && !is_done());
    if (!watch_) is_blocked_ = false;  // without a loop, the next call tries again
    if (watch_) watch_.want(is_done() ? ev::none : ev::writable);
}

ssize_t Output::write_piece(std::string_view bytes) const {
    if (is_socket_) return ::send(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (may_block_ && !ev::is_ready_now(fd_, ev::writable)) {
        errno = EAGAIN;
        return -1;
    }
    if (may_block_) bytes = bytes.substr(0, PIPE_BUF);
    return ::write(fd_, bytes.data(), bytes.size());
}

// --- Diagnostics

void Diagnostics::show_temporary(std::string text) {
    clear_temporary();
    if (ui::is_in_background(STDERR_FILENO)) return;
    winsize size{};
    ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
    const std::size_t columns = size.ws_col > 0 ? size.ws_col : 80;
    // Some terminals wrap after the last column.
    text.resize(std::min(text.size(), columns - 1));
    write_temporary(text);
    temporary_width_ = text.size();
}

void Diagnostics::clear_temporary() {
    if (temporary_width_ == 0) return;
    write_temporary("\r" + std::string(std::exchange(temporary_width_, 0), ' ') + "\r");
}

void Diagnostics::write_line(std::string_view text) {
    clear_temporary();
    flush();
    const bool fits =
        output_.pending() == 0 || output_.pending() + text.size() < max_pending_bytes;
    if (dropped_lines_ > 0 || !fits) {
        ++dropped_lines_;
        return;
    }
    output_.append_line(text);
    flush();
}

void Diagnostics::write_temporary(std::string_view text) {
    flush();
    if (output_.pending() == 0) output_.write(text);
    flush();
}

void Diagnostics::attach(ev::Loop& loop) {
    output_.attach(loop, [this] { flush(); });
}

void Diagnostics::drain() {
    output_.drain(max_diagnostics_drain);
    flush();
}

std::string Diagnostics::remark_line(const std::string& text) const {
    const auto now = std::chrono::system_clock::now();
    JsonObject object;
    if (has_timestamps_) object.text("time", timestamp_text(now));
    if (form_ == Form::json) return object.text("text", text).str();
    return (has_timestamps_ ? date_text(now) + " " : "") + program_ + ": " +
           ui::printable(text);
}

// Drops the buffered lines if a write fails, because the error cannot be reported elsewhere.
// Later lines are still tried, because a full disk may have space by then.
void Diagnostics::flush() {
    output_.flush();
    if (output_.error() != 0) output_.clear();
    if (dropped_lines_ == 0 || output_.pending() > 0) return;
    output_.append_line(remark_line(std::to_string(dropped_lines_) +
                                    (dropped_lines_ == 1 ? " line was" : " lines were") +
                                    " not written, because standard error was not read"));
    dropped_lines_ = 0;
    output_.flush();
}

Diagnostics& diagnostics() {
    static Diagnostics only(STDERR_FILENO, "yodel");
    return only;
}

void print_error(const std::string& text) { diagnostics().remark(text); }

}  // namespace yodel
