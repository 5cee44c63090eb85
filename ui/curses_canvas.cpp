#include "ui/curses_canvas.hpp"

#include "ui/system.hpp"
#include "ui/tty.hpp"

#include <curses.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <iterator>
#include <stdexcept>
#include <system_error>

namespace ui {

namespace {

// Color pairs.
constexpr short good_pair = 1;
constexpr short bad_pair = 2;
constexpr short warn_pair = 3;

[[noreturn]] void fail(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

// Takes ownership of the descriptor, even if it returns null.
std::FILE* open_writer(int descriptor) {
    if (descriptor < 0) return nullptr;
    std::FILE* const file = ::fdopen(descriptor, "w");
    if (!file) ::close(descriptor);
    return file;
}

// Returns an unnamed file, in memory if the system supports it, or null on failure.
std::FILE* open_memory() {
#if UI_HAS_MEMFD
    if (std::FILE* const memory = open_writer(::memfd_create("screen", MFD_CLOEXEC)))
        return memory;
#endif
    return std::tmpfile();
}

// Restores the signal dispositions that it found, for code that installs handlers.
class SignalDispositionGuard {
public:
    SignalDispositionGuard() {
        for (std::size_t i = 0; i < std::size(numbers); ++i)
            ::sigaction(numbers[i], nullptr, &found_[i]);
    }
    ~SignalDispositionGuard() {
        for (std::size_t i = 0; i < std::size(numbers); ++i)
            ::sigaction(numbers[i], &found_[i], nullptr);
    }
    SignalDispositionGuard(const SignalDispositionGuard&) = delete;
    SignalDispositionGuard& operator=(const SignalDispositionGuard&) = delete;

private:
    // The signals that curses handles.
    static constexpr int numbers[] = {SIGINT, SIGTERM, SIGTSTP, SIGWINCH};
    struct sigaction found_[std::size(numbers)];
};

// Restores the terminal settings that it found.
class SettingsGuard {
public:
    SettingsGuard() = default;
    ~SettingsGuard() { change_settings(found_); }
    SettingsGuard(const SettingsGuard&) = delete;
    SettingsGuard& operator=(const SettingsGuard&) = delete;

private:
    const termios found_ = terminal_settings();
};

// False if the terminal has no colors.
bool start_colors() {
    if (!::has_colors()) return false;
    ::start_color();
    const short background = ::use_default_colors() == OK ? -1 : COLOR_BLACK;
    ::init_pair(good_pair, COLOR_GREEN, background);
    ::init_pair(bad_pair, COLOR_RED, background);
    ::init_pair(warn_pair, COLOR_YELLOW, background);
    return true;
}

// Returns the curses attributes of a style. Without colors, other attributes replace them.
attr_t attributes_for(Style style, bool colors) {
    const auto tinted = [colors](short pair, attr_t otherwise) {
        return colors ? static_cast<attr_t>(COLOR_PAIR(pair)) : otherwise;
    };
    switch (style) {
    case Style::normal: return A_NORMAL;
    case Style::dim: return A_DIM;
    case Style::bold: return A_BOLD;
    case Style::good: return tinted(good_pair, A_NORMAL);
    case Style::bad: return tinted(bad_pair, A_BOLD);
    case Style::warn: return tinted(warn_pair, A_BOLD);
    case Style::escaped: return A_REVERSE | A_BOLD;  // bold is visible within a reverse bar
    case Style::match: return A_UNDERLINE | A_BOLD;
    case Style::selected: return A_REVERSE;
    case Style::status: return A_REVERSE;
    case Style::status_good: return A_REVERSE | tinted(good_pair, A_NORMAL);
    case Style::status_bad: return A_REVERSE | tinted(bad_pair, A_BOLD);
    case Style::status_warn: return A_REVERSE | tinted(warn_pair, A_BOLD);
    }
    return A_NORMAL;
}

void draw_row(int y, const Row& row, int width, bool colors) {
    Row safe;  // escapes control characters, which curses would obey
    for (const Span& span : row) append_bytes(safe, span.text, span.style);
    truncate(safe, width);
    ::move(y, 0);
    for (const Span& span : safe) {
        ::attrset(static_cast<int>(attributes_for(span.style, colors)));
        ::addstr(span.text.c_str());
    }
}

}  // namespace

CursesCanvas::CursesCanvas(bool with_colors)
    : file_(nullptr, std::fclose), screen_(nullptr, ::delscreen) {
    const SignalDispositionGuard signals;
    start();
    colors_ = with_colors && start_colors();
}

// Starts curses on the terminal, because it reads the speed and changes the settings. Then
// replaces its output with the file, before anything can fail, because curses has already
// begun to write.
void CursesCanvas::start() {
    const SettingsGuard settings;
    const File memory(open_memory(), std::fclose);
    if (!memory) fail("the drawing buffer");
    file_.reset(open_writer(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)));
    if (!file_) fail("the terminal");
    screen_.reset(::newterm(nullptr, file_.get(), stdin));
    if (!screen_) throw std::runtime_error("curses cannot use this terminal");
    ::raw();
    ::noecho();
    ::nonl();
    ::typeahead(-1);  // curses must not look at the input, which it never reads
    if (::dup2(::fileno(memory.get()), ::fileno(file_.get())) < 0) fail("the drawing buffer");
    ::fcntl(::fileno(file_.get()), F_SETFD, FD_CLOEXEC);
    settings_ = terminal_settings();
}

void CursesCanvas::draw(const Frame& frame, Size size) {
    ::erase();
    const int count = std::min(size.rows, static_cast<int>(frame.rows.size()));
    for (int y = 0; y < count; ++y)
        draw_row(y, frame.rows[static_cast<std::size_t>(y)], size.columns, colors_);
    ::attrset(A_NORMAL);
    ::curs_set(frame.cursor_shown ? 1 : 0);
    ::move(std::clamp(frame.cursor_row, 0, size.rows - 1),
           std::clamp(frame.cursor_column, 0, size.columns - 1));
    ::refresh();
}

void CursesCanvas::redraw() { ::clearok(curscr, TRUE); }

void CursesCanvas::resize(Size size) {
    ::resize_term(size.rows, size.columns);
    redraw();
}

void CursesCanvas::end() { ::endwin(); }

std::string CursesCanvas::take_output() {
    const int memory = ::fileno(file_.get());
    const off_t written = ::lseek(memory, 0, SEEK_CUR);
    std::string output(static_cast<std::size_t>(written), '\0');
    ::lseek(memory, 0, SEEK_SET);
    if (::pread(memory, output.data(), output.size(), 0) <= 0) output.clear();
    return output;
}

}  // namespace ui
