#include "ui/terminal.hpp"

#include "ui/text.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <thread>
#include <utility>

namespace ui {

namespace {

constexpr std::chrono::milliseconds default_escape_delay{25};
// The time that restore() waits for a stalled terminal. It waits at most twice, so that a
// signal ends the program within a second.
constexpr std::chrono::milliseconds flush_timeout{200};
constexpr std::chrono::milliseconds flush_poll_interval{5};
constexpr int max_dimension = 1000;  // rows or columns; the rest of the screen stays empty

bool wants_colors() {
    const char* const refused = std::getenv("NO_COLOR");
    return refused == nullptr || *refused == '\0';
}

// Adds the keypad's application mode, without which st sends F1 for Delete.
ModeSequences modes_of_terminal() {
    ModeSequences modes =
        mode_sequences_for(control_sequence("cup"), control_sequence("smcup"));
    modes.enable += control_sequence("smkx");
    modes.restore += control_sequence("rmkx");
    return modes;
}

termios usable_settings() {
    const std::string trouble = terminal_trouble();
    if (!trouble.empty()) throw std::runtime_error(trouble);
    return terminal_settings();
}

std::string crash_sequences(const ModeSequences& modes) {
    std::string sequences = modes.restore;
    for (const char* const capability : {"sgr0", "cnorm", "rmcup"})
        sequences += control_sequence(capability);
    return sequences + "\r\n";
}

}  // namespace

Terminal::Output::Output() {
    const char* const name = ::ttyname(STDOUT_FILENO);
    const int opened = name ? ::open(name, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC) : -1;
    if (opened >= 0) fd = opened;
}

Terminal::Output::~Output() {
    if (fd != STDOUT_FILENO) ::close(fd);
}

Terminal::Terminal(const termios& found_settings)
    : found_settings_(found_settings), canvas_(wants_colors()), modes_(modes_of_terminal()) {}

// Delegates, so that the object counts as constructed, and an exception from take_over() runs
// the destructor.
Terminal::Terminal() : Terminal(usable_settings()) {
    take_over();
    if (gone_) throw std::runtime_error("the terminal refuses to change its settings");
}

Terminal::~Terminal() { restore(); }

std::optional<Key> Terminal::read_key() {
    if (restored_) return std::nullopt;
    for (;;) {
        std::optional<Key> key = parser_.next();
        if (key) return key;
        if (gone_ || !read_bytes()) return std::nullopt;
    }
}

// Checks FIONREAD first, because the descriptor is in blocking mode and read() could block.
bool Terminal::read_bytes() {
    int available = 0;
    if (::ioctl(STDIN_FILENO, FIONREAD, &available) != 0) gone_ = errno != EINTR;
    if (available <= 0) return false;
    char bytes[4096];
    const std::size_t size = std::min(static_cast<std::size_t>(available), sizeof bytes);
    const ssize_t count = ::read(STDIN_FILENO, bytes, size);
    if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN)) gone_ = true;
    if (count <= 0) return false;
    parser_.feed({bytes, static_cast<std::size_t>(count)});
    return true;
}

std::chrono::milliseconds Terminal::escape_delay() const {
    const char* const given = std::getenv("ESCDELAY");
    if (!given) return default_escape_delay;
    return std::chrono::milliseconds(std::clamp(std::atoi(given), 0, 1000));
}

bool Terminal::flush() {
    while (!pending_.empty()) {
        const ssize_t count = ::write(output_.fd, pending_.data(), pending_.size());
        if (count < 0 && errno == EAGAIN) return false;
        if (count < 0 && errno != EINTR) pending_.clear();  // the terminal is gone
        if (count > 0) pending_.erase(0, static_cast<std::size_t>(count));
    }
    return true;
}

// Returns false if the terminal did not accept everything in time.
bool Terminal::flush_in_time() {
    const auto deadline = std::chrono::steady_clock::now() + flush_timeout;
    while (!flush() && std::chrono::steady_clock::now() < deadline)
        std::this_thread::sleep_for(flush_poll_interval);
    return pending_.empty();
}

void Terminal::draw(const Frame& frame) {
    if (restored_ || gone_ || !flush()) return;
    canvas_.draw(frame, size_);
    const std::string changes = canvas_.take_output();
    if (changes.empty()) return;
    pending_ += modes_.frame_begin + changes + modes_.frame_end;
    flush();
}

void Terminal::resize() {
    winsize found{};
    ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &found);
    size_ = Size{};
    if (found.ws_row > 0) size_.rows = std::min<int>(found.ws_row, max_dimension);
    if (found.ws_col > 0) size_.columns = std::min<int>(found.ws_col, max_dimension);
    canvas_.resize(size_);
}

void Terminal::restore() {
    if (std::exchange(restored_, true)) return;
    sigset_t stop;  // SIGTTOU, which would stop a background program here
    sigset_t found;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTTOU);
    ::sigprocmask(SIG_BLOCK, &stop, &found);
    try {
        leave_screen();
    } catch (const std::bad_alloc&) {
        if (crash_restore_) crash_restore_->restore();
    }
    // Changes the settings after the sequences, because otherwise the terminal would echo typed
    // text onto the screen that the program leaves.
    if (!in_background(STDIN_FILENO)) change_settings(found_settings_);
    crash_restore_.reset();
    ::sigprocmask(SIG_SETMASK, &found, nullptr);
}

void Terminal::leave_screen() {
    // Discards a frame that the terminal does not accept in time, so that it can't delay the
    // program's end.
    if (!flush_in_time()) discard_output(output_.fd);
    pending_.clear();
    pending_ += modes_.restore;
    canvas_.end();
    pending_ += canvas_.take_output();
    // Without an alternate screen, the shell's prompt appears on the last row.
    if (control_sequence("rmcup").empty()) pending_ += control_sequence("el");
    const std::string sequences = pending_;
    if (!flush_in_time()) {
        // The sequences did not fit. Makes space by another discard, and writes all of them
        // again, because it is unknown which were written.
        discard_output(output_.fd);
        pending_ = sequences;
        flush();
    }
}

bool Terminal::take_over() {
    if (in_background(STDIN_FILENO)) {
        ::kill(0, SIGTTOU);
        return false;
    }
    // If the process was stopped without restore(), the current modes are our own. Saving them
    // would overwrite the user's.
    if (std::exchange(restored_, false)) {
        pending_ += modes_.save;
        // Must exist before the first change to the terminal.
        crash_restore_.emplace(output_.fd, found_settings_, crash_sequences(modes_));
    }
    if (!change_settings(canvas_.settings())) gone_ = true;
    pending_ += modes_.enable;
    resize();
    return true;
}

std::string Terminal::copy_to_clipboard(std::string_view text) {
    if (!modes_.can_hide_text()) return "this type of terminal has no clipboard";
    const std::string sequence = clipboard_sequence(text);
    if (sequence.empty())
        return "it exceeds the limit of " + std::to_string(max_clipboard_text) + " bytes";
    if (restored_ || !flush()) return "the terminal is not ready";
    pending_ += sequence;
    flush();
    return {};
}

void Terminal::suspend() {
    restore();
    struct sigaction found {};
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    ::sigaction(SIGTSTP, &standard, &found);
    if (found.sa_handler != SIG_IGN) ::kill(0, SIGTSTP);
    ::sigaction(SIGTSTP, &found, nullptr);
    ::raise(SIGCONT);  // the system sends none if the process was not stopped
}

}  // namespace ui
