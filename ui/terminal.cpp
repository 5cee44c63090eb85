#include "ui/terminal.hpp"

#include "ui/system.hpp"
#include "ui/text.hpp"

#define NCURSES_NOMACROS  // a macro such as erase() would replace members of other classes
#include <curses.h>
#include <fcntl.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <iterator>
#include <new>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

namespace ui {

namespace {

// The time that restore() waits for a stalled terminal. It waits at most twice, so that a
// signal ends the program within a second.
constexpr std::chrono::milliseconds flush_timeout{200};
constexpr std::chrono::milliseconds flush_poll_interval{5};
// Maximum pause within a paste. If it were short, a slow line could split a paste, and the
// newlines of its rest would act as Enter.
constexpr std::chrono::milliseconds paste_timeout{2000};
constexpr int max_dimension = 1000;  // rows or columns; the rest of the screen stays empty

termios usable_settings() {
    const std::string trouble = terminal_trouble();
    if (!trouble.empty()) throw std::runtime_error(trouble);
    return terminal_settings();
}

// The appearance of a style. No style chooses a background, so that a light one is as readable
// as a dark one. For the same reason warnings are magenta: yellow is hardly visible on white.
struct Look {
    attr_t monochrome;
    attr_t attributes = monochrome;  // with colors
    short color = -1;                // -1 for the default
};

// In the order of Style.
constexpr Look looks[] = {
    {A_NORMAL},
    {A_DIM},
    {A_BOLD},
    {A_NORMAL, A_NORMAL, COLOR_GREEN},
    {A_BOLD, A_NORMAL, COLOR_RED},
    {A_BOLD, A_NORMAL, COLOR_MAGENTA},
    {A_REVERSE | A_BOLD},  // bold is visible within a reverse bar
    {A_UNDERLINE | A_BOLD},
    {A_REVERSE | A_UNDERLINE | A_BOLD, A_REVERSE | A_BOLD, COLOR_RED},
    {A_REVERSE},
    {A_REVERSE},
    {A_REVERSE | A_BOLD, A_REVERSE, COLOR_RED},
    {A_REVERSE | A_BOLD, A_REVERSE, COLOR_MAGENTA},
};

[[noreturn]] void throw_errno(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

// Takes ownership of the descriptor, even if it returns null.
std::FILE* open_writer(int descriptor) {
    if (descriptor < 0) return nullptr;
    std::FILE* const file = ::fdopen(descriptor, "w");
    if (!file) ::close(descriptor);
    return file;
}

// The file is in memory if the system supports it. Returns null on failure.
std::FILE* open_unnamed_file() {
#if UI_HAS_MEMFD
    if (std::FILE* const memory = open_writer(::memfd_create("screen", MFD_CLOEXEC)))
        return memory;
#endif
    return std::tmpfile();
}

// Saves the signal dispositions, which curses changes, and at the end of the scope restores
// them and the terminal settings.
class TerminalGuard {
public:
    explicit TerminalGuard(const termios& settings) : settings_(settings) {
        for (std::size_t i = 0; i < std::size(curses_signals); ++i)
            ::sigaction(curses_signals[i], nullptr, &previous_actions_[i]);
    }
    ~TerminalGuard() {
        change_settings(settings_);
        for (std::size_t i = 0; i < std::size(curses_signals); ++i)
            ::sigaction(curses_signals[i], &previous_actions_[i], nullptr);
    }
    TerminalGuard(const TerminalGuard&) = delete;

private:
    static constexpr int curses_signals[] = {SIGINT, SIGTERM, SIGTSTP, SIGWINCH};
    const termios& settings_;
    struct sigaction previous_actions_[std::size(curses_signals)];
};

// Returns false if colors are not wanted, or the terminal has no usable ones. Each color pair
// has the number of its style.
bool start_colors() {
    const char* const no_color = std::getenv("NO_COLOR");
    if ((no_color && *no_color != '\0') || !::has_colors()) return false;
    // Curses does not expect the sequence for the default colors to reset the attributes too,
    // as it does with xterm-color.
    const std::string default_colors = control_sequence("op");
    if (default_colors == "\x1b[m" || default_colors == "\x1b[0m") return false;
    ::start_color();
    const bool has_default_colors = ::use_default_colors() == OK;
    for (short pair = 1; pair < static_cast<short>(std::size(looks)); ++pair) {
        const Look& look = looks[pair];
        ::init_pair(pair, look.color < 0 && !has_default_colors ? COLOR_WHITE : look.color,
                    has_default_colors ? -1 : COLOR_BLACK);
    }
    return true;
}

attr_t attributes_for(Style style, bool has_colors) {
    const Look& look = looks[static_cast<std::size_t>(style)];
    if (!has_colors) return look.monochrome;
    const auto color = static_cast<attr_t>(COLOR_PAIR(static_cast<int>(style)));
    return look.color < 0 ? look.attributes : look.attributes | color;
}

void draw_row(int y, const Row& row, int width, bool has_colors) {
    Row visible_row;  // escapes control characters, which curses would obey
    for (const Span& span : row) append_escaped(visible_row, span.text, span.style);
    truncate(visible_row, width);
    ::move(y, 0);
    for (const Span& span : visible_row) {
        ::attrset(static_cast<int>(attributes_for(span.style, has_colors)));
        ::addstr(span.text.c_str());
    }
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

// Starts curses on the terminal itself, because curses reads its speed and its settings. Then
// redirects the output of curses to the unnamed file before any other step can fail,
// because curses has already begun to write.
Terminal::Terminal(const termios& found_settings)
    : found_settings_(found_settings), screen_(nullptr, ::delscreen) {
    crash_restore_.emplace(output_.fd, found_settings_, "");
    const TerminalGuard guard(found_settings_);
    const File unnamed_file(open_unnamed_file(), std::fclose);
    if (!unnamed_file) throw_errno("cannot create the drawing buffer");
    drawing_file_.reset(open_writer(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)));
    if (!drawing_file_) throw_errno("cannot open the terminal");
    screen_.reset(::newterm(nullptr, drawing_file_.get(), stdin));
    if (!screen_) throw std::runtime_error("curses cannot use this terminal");
    ::raw();
    ::noecho();
    ::nonl();
    ::typeahead(-1);  // curses must not look at the input, which it never reads
    const int drawing_fd = ::fileno(drawing_file_.get());
    if (::dup2(::fileno(unnamed_file.get()), drawing_fd) < 0)
        throw_errno("cannot create the drawing buffer");
    ::fcntl(drawing_fd, F_SETFD, FD_CLOEXEC);
    drawing_settings_ = terminal_settings();
    has_colors_ = start_colors();
    modes_ = mode_sequences_for(control_sequence("cup"), control_sequence("smcup"));
    // Without the keypad's application mode, st sends F1 for Delete.
    modes_.enabling += control_sequence("smkx");
    modes_.restoring += control_sequence("rmkx");
}

// Delegates, so that the object counts as constructed, and an exception from take_over() runs
// the destructor.
Terminal::Terminal() : Terminal(usable_settings()) {
    take_over();
    if (is_gone_) throw std::runtime_error("the terminal refuses to change its settings");
}

Terminal::~Terminal() { restore(); }

std::optional<Key> Terminal::read_key() {
    if (is_restored_) return std::nullopt;
    for (;;) {
        std::optional<Key> key = parser_.next();
        if (key) return key;
        if (is_gone_ || !read_bytes()) return std::nullopt;
    }
}

// Checks FIONREAD first, because read() may block: the descriptor's flags are not changed.
bool Terminal::read_bytes() {
    int available = 0;
    if (::ioctl(STDIN_FILENO, FIONREAD, &available) != 0) is_gone_ = errno != EINTR;
    if (available <= 0) return false;
    char bytes[4096];
    const std::size_t size = std::min(static_cast<std::size_t>(available), sizeof bytes);
    const ssize_t count = ::read(STDIN_FILENO, bytes, size);
    if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN)) is_gone_ = true;
    if (count <= 0) return false;
    parser_.feed({bytes, static_cast<std::size_t>(count)});
    return true;
}

std::optional<std::chrono::milliseconds> Terminal::key_timeout() const {
    if (!parser_.needs_timeout()) return std::nullopt;
    if (parser_.is_in_paste()) return paste_timeout;
    const char* const value = std::getenv("ESCDELAY");
    return std::chrono::milliseconds(value ? std::clamp(std::atoi(value), 0, 1000) : 25);
}

bool Terminal::flush() {
    while (!pending_output_.empty()) {
        const ssize_t count =
            ::write(output_.fd, pending_output_.data(), pending_output_.size());
        if (count < 0 && errno == EAGAIN) return false;
        if (count < 0 && errno != EINTR) pending_output_.clear();  // the terminal is gone
        if (count > 0) pending_output_.erase(0, static_cast<std::size_t>(count));
    }
    return true;
}

// Returns false if the terminal did not accept everything in time.
bool Terminal::flush_in_time() {
    const auto deadline = std::chrono::steady_clock::now() + flush_timeout;
    while (!flush() && std::chrono::steady_clock::now() < deadline)
        std::this_thread::sleep_for(flush_poll_interval);
    return pending_output_.empty();
}

void Terminal::draw(const Frame& frame) {
    if (is_restored_ || is_gone_ || !flush()) return;
    ::erase();
    const int count = std::min(size_.rows, static_cast<int>(frame.rows.size()));
    for (int y = 0; y < count; ++y)
        draw_row(y, frame.rows[static_cast<std::size_t>(y)], size_.columns, has_colors_);
    ::attrset(A_NORMAL);
    ::curs_set(frame.is_cursor_shown ? 1 : 0);
    ::move(std::clamp(frame.cursor_row, 0, size_.rows - 1),
           std::clamp(frame.cursor_column, 0, size_.columns - 1));
    ::refresh();
    const std::string changes = take_drawing();
    if (changes.empty()) return;
    pending_output_ += modes_.frame_begin + changes + modes_.frame_end;
    flush();
}

// Returns what curses has written since the last call.
std::string Terminal::take_drawing() {
    const int drawing_fd = ::fileno(drawing_file_.get());
    std::string output(static_cast<std::size_t>(::lseek(drawing_fd, 0, SEEK_CUR)), '\0');
    ::lseek(drawing_fd, 0, SEEK_SET);
    if (::pread(drawing_fd, output.data(), output.size(), 0) <= 0) output.clear();
    return output;
}

void Terminal::redraw() { ::clearok(curscr, TRUE); }

void Terminal::resize() {
    winsize window{};
    ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window);
    size_ = Size{};
    if (window.ws_row > 0) size_.rows = std::min<int>(window.ws_row, max_dimension);
    if (window.ws_col > 0) size_.columns = std::min<int>(window.ws_col, max_dimension);
    ::resize_term(size_.rows, size_.columns);
    redraw();
}

void Terminal::restore() {
    if (std::exchange(is_restored_, true)) return;
    sigset_t blocked_signals;  // SIGTTOU, which would stop a background program here
    sigset_t old_mask;
    sigemptyset(&blocked_signals);
    sigaddset(&blocked_signals, SIGTTOU);
    ::sigprocmask(SIG_BLOCK, &blocked_signals, &old_mask);
    try {
        leave_screen();
    } catch (const std::bad_alloc&) {
        if (crash_restore_) crash_restore_->restore();
    }
    // Changes the settings after the sequences, because otherwise the terminal would echo typed
    // text onto the screen that the program leaves.
    if (!is_in_background(STDIN_FILENO)) change_settings(found_settings_);
    crash_restore_.reset();
    ::sigprocmask(SIG_SETMASK, &old_mask, nullptr);
}

void Terminal::leave_screen() {
    // Discards a frame that the terminal does not accept in time, so that it can't delay the
    // program's end.
    if (!flush_in_time()) discard_output(output_.fd);
    pending_output_.clear();
    pending_output_ += modes_.restoring;
    ::endwin();
    pending_output_ += take_drawing();
    // Without an alternate screen, the shell's prompt appears on the last row.
    if (control_sequence("rmcup").empty()) pending_output_ += control_sequence("el");
    const std::string sequences = pending_output_;
    if (!flush_in_time()) {
        // The sequences did not fit. Makes space by another discard, and writes all of them
        // again, because it is unknown which were written.
        discard_output(output_.fd);
        pending_output_ = sequences;
        flush();
    }
}

bool Terminal::take_over() {
    if (is_in_background(STDIN_FILENO)) {
        ::kill(0, SIGTTOU);
        return false;
    }
    // If the process was stopped without restore(), the current modes are our own. Saving them
    // would overwrite the user's modes.
    if (std::exchange(is_restored_, false)) {
        pending_output_ += modes_.saving;
        // `crash_restore_` must exist before the terminal is changed for the first time.
        std::string sequences = modes_.restoring;
        for (const char* const capability : {"sgr0", "cnorm", "rmcup"})
            sequences += control_sequence(capability);
        crash_restore_.emplace(output_.fd, found_settings_, sequences + "\r\n");
    }
    if (!change_settings(drawing_settings_)) is_gone_ = true;
    pending_output_ += modes_.enabling;
    resize();
    return true;
}

std::string Terminal::copy_to_clipboard(std::string_view text) {
    if (!modes_.can_hide_text()) return "this type of terminal has no clipboard";
    const std::string sequence = clipboard_sequence(text);
    if (sequence.empty())
        return "the text exceeds the limit of " + std::to_string(max_clipboard_text) + " bytes";
    if (is_restored_ || !flush()) return "the terminal is not ready";
    pending_output_ += sequence;
    flush();
    return {};
}

void Terminal::suspend() {
    restore();
    struct sigaction previous {};
    struct sigaction default_action {};
    default_action.sa_handler = SIG_DFL;
    ::sigaction(SIGTSTP, &default_action, &previous);
    if (previous.sa_handler != SIG_IGN) ::kill(0, SIGTSTP);
    ::sigaction(SIGTSTP, &previous, nullptr);
    ::raise(SIGCONT);  // the system sends none if the process was not stopped
}

}  // namespace ui
