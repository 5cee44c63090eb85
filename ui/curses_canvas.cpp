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

// The appearance of a style. Only the terminal's own colors and reverse video are used, so that
// a light background is as readable as a dark one. For the same reason warnings are magenta:
// yellow is hardly visible on white.
struct Look {
    attr_t monochrome;
    attr_t attributes = monochrome;  // with colors
    short color = -1;                // -1: the default
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

// Saves the terminal settings and signal dispositions, which curses changes, and restores them
// at the end of the scope.
class TerminalGuard {
public:
    TerminalGuard() {
        for (std::size_t i = 0; i < std::size(numbers); ++i)
            ::sigaction(numbers[i], nullptr, &found_[i]);
    }
    ~TerminalGuard() {
        change_settings(settings_);
        for (std::size_t i = 0; i < std::size(numbers); ++i)
            ::sigaction(numbers[i], &found_[i], nullptr);
    }
    TerminalGuard(const TerminalGuard&) = delete;
    TerminalGuard& operator=(const TerminalGuard&) = delete;

private:
    // The signals that curses handles.
    static constexpr int numbers[] = {SIGINT, SIGTERM, SIGTSTP, SIGWINCH};
    const termios settings_ = terminal_settings();
    struct sigaction found_[std::size(numbers)];
};

// True if the terminal's sequence for the default colors, op, also resets the attributes, as
// with xterm-color. Curses does not expect this.
bool resets_attributes() {
    const std::string sequence = control_sequence("op");
    return sequence == "\x1b[m" || sequence == "\x1b[0m";
}

// Returns false if the terminal has no usable colors. Each color pair has the number of its
// style.
bool start_colors() {
    if (!::has_colors() || resets_attributes()) return false;
    ::start_color();
    const bool has_default_colors = ::use_default_colors() == OK;
    for (short pair = 1; pair < static_cast<short>(std::size(looks)); ++pair) {
        const Look& look = looks[pair];
        ::init_pair(pair, look.color < 0 && !has_default_colors ? COLOR_WHITE : look.color,
                    has_default_colors ? -1 : COLOR_BLACK);
    }
    return true;
}

attr_t attributes_for(Style style, bool colors) {
    const Look& look = looks[static_cast<std::size_t>(style)];
    if (!colors) return look.monochrome;
    return look.color < 0 ? look.attributes
                          : look.attributes | COLOR_PAIR(static_cast<int>(style));
}

void draw_row(int y, const Row& row, int width, bool colors) {
    Row safe;  // escapes control characters, which curses would obey
    for (const Span& span : row) append_escaped(safe, span.text, span.style);
    truncate(safe, width);
    ::move(y, 0);
    for (const Span& span : safe) {
        ::attrset(static_cast<int>(attributes_for(span.style, colors)));
        ::addstr(span.text.c_str());
    }
}

}  // namespace

// Starts curses on the terminal itself, because curses reads its speed and its settings. Then
// redirects the output to a file in memory before any other step can fail, because curses has
// already begun to write.
CursesCanvas::CursesCanvas(bool with_colors)
    : file_(nullptr, std::fclose), screen_(nullptr, ::delscreen) {
    const TerminalGuard guard;
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
    colors_ = with_colors && start_colors();
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
