#include "ui/terminal.hpp"

#include "ui/text.hpp"

#include <curses.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#undef columns  // of term.h: Size has a member of this name

namespace ui {
namespace {

constexpr std::chrono::milliseconds default_escape_delay{25};
// For how long a terminal that takes nothing is waited for, twice: a signal that ends the
// program does so within a second.
constexpr std::chrono::milliseconds flush_timeout{200};
constexpr std::chrono::milliseconds flush_poll_interval{5};  // between two tries of these
constexpr int max_dimension = 1000;  // rows and columns that are used, of any more
constexpr std::string_view paste_on = "\x1b[?2004h";
constexpr std::string_view paste_off = "\x1b[?2004l";

// Color pairs.
constexpr short good_pair = 1;
constexpr short bad_pair = 2;
constexpr short warn_pair = 3;

// Writes what the terminal takes now, which goes from `bytes`. False: nothing at the moment.
bool write_some(int fd, std::string& bytes) {
    while (!bytes.empty()) {
        const auto count = write(fd, bytes.data(), bytes.size());
        if (count < 0 && errno == EAGAIN) return false;
        if (count < 0 && errno != EINTR) bytes.clear();  // it has gone
        if (count > 0) bytes.erase(0, static_cast<std::size_t>(count));
    }
    return true;
}

// The terminal opened once more, so that it is non-blocking here and for nobody else; or
// standard output, if it can't be.
int open_output() {
    const char* const name = ttyname(STDOUT_FILENO);
    const int fd = name ? open(name, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC) : -1;
    return fd < 0 ? STDOUT_FILENO : fd;
}

bool in_background() {
    const pid_t owner = tcgetpgrp(STDIN_FILENO);
    return owner > 0 && owner != getpgrp();
}

// A file without a name, in memory where the system has such.
int open_canvas() {
#ifdef MFD_CLOEXEC
    if (const int fd = memfd_create("screen", MFD_CLOEXEC); fd >= 0) return fd;
#endif
    std::FILE* const file = std::tmpfile();
    const int fd = file ? fcntl(fileno(file), F_DUPFD_CLOEXEC, 0) : -1;
    if (file) std::fclose(file);
    if (fd < 0) throw std::system_error(errno, std::generic_category(), "a file to draw into");
    return fd;
}

// Handlers that other code installs while this lives are undone.
class SignalDispositionGuard {
public:
    SignalDispositionGuard() {
        for (std::size_t i = 0; i < std::size(numbers); ++i)
            sigaction(numbers[i], nullptr, &found_[i]);
    }
    ~SignalDispositionGuard() {
        for (std::size_t i = 0; i < std::size(numbers); ++i)
            sigaction(numbers[i], &found_[i], nullptr);
    }
    SignalDispositionGuard(const SignalDispositionGuard&) = delete;
    SignalDispositionGuard& operator=(const SignalDispositionGuard&) = delete;

private:
    static constexpr int numbers[] = {SIGINT, SIGTERM, SIGTSTP,
                                      SIGWINCH};  // curses takes these
    struct sigaction found_[std::size(numbers)];
};

// The terminal may be touched, from the background too, without being stopped for it.
class Unstopped {
public:
    Unstopped() {
        sigset_t stop;
        sigemptyset(&stop);
        sigaddset(&stop, SIGTTOU);
        sigprocmask(SIG_BLOCK, &stop, &found_);
    }
    ~Unstopped() { sigprocmask(SIG_SETMASK, &found_, nullptr); }
    Unstopped(const Unstopped&) = delete;
    Unstopped& operator=(const Unstopped&) = delete;

private:
    sigset_t found_;
};

// Drops what the terminal has not taken, and lets it go on if its output was stopped, so that
// there is room for the sequences that give it back.
void make_room(int fd) {
    tcflush(fd, TCOFLUSH);
    tcflow(fd, TCOON);
}

// What the handler of fatal signals needs, ready before it runs.
struct Rescue {
    struct sigaction found[NSIG];
    bool caught[NSIG];
    termios settings;  // as they were found
    int output;
    char sequences[256];  // that give the screen back
    std::size_t size = 0;
    volatile std::sig_atomic_t needed = 0;  // the terminal is taken over
} rescue;

void restore_fatal_signals() {
    for (int number = 1; number < NSIG; ++number)
        if (std::exchange(rescue.caught[number], false))
            sigaction(number, &rescue.found[number], nullptr);
}

void write_rescue() {
    const auto size = static_cast<ssize_t>(rescue.size);
    if (write(rescue.output, rescue.sequences, rescue.size) == size) return;
    make_room(rescue.output);
    [[maybe_unused]] const auto count = write(rescue.output, rescue.sequences, rescue.size);
}

// All signals are blocked while it runs: SIGTTOU, too.
void on_fatal_signal(int number) {
    if (rescue.needed) write_rescue();
    if (rescue.needed && !in_background()) tcsetattr(STDIN_FILENO, TCSANOW, &rescue.settings);
    restore_fatal_signals();
    raise(number);
}

// By a fault of the program itself. The handler that was found for it runs after ours.
bool is_fault(int number) {
    return number == SIGABRT || number == SIGSEGV || number == SIGBUS || number == SIGFPE ||
           number == SIGILL;
}

bool ends_by_default(int number) {
    switch (number) {
    case SIGCHLD:
    case SIGCONT:
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
    case SIGURG:
    case SIGWINCH:
#ifdef SIGINFO
    case SIGINFO:
#endif
#ifndef __linux__
    case SIGIO:  // elsewhere it is ignored
#endif
        return false;
    default: return true;
    }
}

bool is_fatal(int number, const struct sigaction& found) {
    if (found.sa_flags & SA_SIGINFO) return is_fault(number);
    return found.sa_handler == SIG_DFL ? ends_by_default(number)
                                       : is_fault(number) && found.sa_handler != SIG_IGN;
}

// Those that can't be caught, or are the library's, are refused by sigaction().
void catch_fatal_signal(int number) {
    struct sigaction& found = rescue.found[number];
    if (sigaction(number, nullptr, &found) != 0 || !is_fatal(number, found)) return;
    struct sigaction action {};
    action.sa_handler = on_fatal_signal;
    action.sa_flags = SA_ONSTACK;
    sigfillset(&action.sa_mask);
    rescue.caught[number] = sigaction(number, &action, nullptr) == 0;
}

// On a stack of its own, unless there is one already: that of the program may be full.
void catch_fatal_signals() {
    static char stack[64 * 1024];
    stack_t found{};
    sigaltstack(nullptr, &found);
    const stack_t own{stack, 0, sizeof stack};
    if (found.ss_flags & SS_DISABLE) sigaltstack(&own, nullptr);
    for (int number = 1; number < NSIG; ++number) catch_fatal_signal(number);
}

// A terminal's string for `capability`, empty if it has none. Needs the terminal's description.
std::string sequence(const char* capability) {
    static std::string collected;
    collected.clear();
    const char* string = tigetstr(capability);
    if (string != nullptr && string != reinterpret_cast<const char*>(-1))
        tputs(string, 1, [](int c) {
            collected += static_cast<char>(c);
            return c;
        });
    return collected;
}

void prepare_rescue(bool pastes) {
    std::string sequences = pastes ? std::string(paste_off) : "";
    for (const auto* capability : {"sgr0", "cnorm", "rmcup"}) sequences += sequence(capability);
    sequences += "\r\n";
    rescue.size = sequences.copy(rescue.sequences, sizeof rescue.sequences);
}

bool start_colors(Color color) {
    const char* refused = std::getenv("NO_COLOR");
    const bool wanted = color == Color::always ||
                        (color == Color::automatic && (refused == nullptr || *refused == '\0'));
    if (!wanted || !has_colors()) return false;
    start_color();
    const short background = use_default_colors() == OK ? -1 : COLOR_BLACK;
    init_pair(good_pair, COLOR_GREEN, background);
    init_pair(bad_pair, COLOR_RED, background);
    init_pair(warn_pair, COLOR_YELLOW, background);
    return true;
}

// How a style looks, where there are colors and where there are none.
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
    case Style::escaped: return A_REVERSE | A_BOLD;  // bold, so as to be seen within a bar
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
    Row safe;  // curses would obey a control character
    for (const auto& span : row) append_bytes(safe, span.text, span.style);
    truncate(safe, width);
    move(y, 0);
    for (const auto& span : safe) {
        attrset(attributes_for(span.style, colors));
        addstr(span.text.c_str());
    }
}

}  // namespace

std::string terminal_trouble() {
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return "standard input or output is no terminal";
    const char* type = std::getenv("TERM");
    const auto named = "the terminal type \"" + printable(type ? type : "") + "\" (TERM) ";
    int error = 0;
    if (setupterm(type, STDOUT_FILENO, &error) != OK)
        return named + "is not known on this system";
    const bool places_cursor = !sequence("cup").empty();
    del_curterm(cur_term);
    return places_cursor ? "" : named + "can't place its cursor";
}

// Curses writes to its descriptor until all is written, and would wait for a terminal that
// takes nothing. So it finds the terminal there when it begins, and from then on a file.
struct Terminal::Screen {
    Screen() : canvas(open_canvas()), output(open_output()) {
        const SignalDispositionGuard kept;
        file = fdopen(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0), "w");
        screen = file ? newterm(nullptr, file, stdin) : nullptr;
        if (screen == nullptr) throw std::runtime_error("curses can't use this terminal");
        raw();
        noecho();
        nonl();
        typeahead(-1);
        tcgetattr(STDIN_FILENO, &settings);
        tcsetattr(STDIN_FILENO, TCSANOW, &rescue.settings);  // it is not yet entered
        dup2(canvas, fileno(file));
        fcntl(fileno(file), F_SETFD, FD_CLOEXEC);
        // Terminals that know no pastes ignore the switch, if they know its form.
        pastes = sequence("cup").compare(0, 2, "\x1b[") == 0;
        if (sequence("rmcup").empty()) clear_row = sequence("el");
    }
    ~Screen() {
        delscreen(screen);
        std::fclose(file);
        close(canvas);
        if (output != STDOUT_FILENO) close(output);
    }
    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;

    const int canvas;
    const int output;
    std::FILE* file;  // to which curses writes: the canvas
    SCREEN* screen;
    termios settings;       // while the terminal is ours
    std::string clear_row;  // the last one, where the shell goes on if this is its screen
    bool pastes;
    bool colors = false;
};

Terminal::Terminal(Color color) {
    if (const std::string trouble = terminal_trouble(); !trouble.empty())
        throw std::runtime_error(trouble);
    tcgetattr(STDIN_FILENO, &rescue.settings);
    screen_ = std::make_unique<Screen>();
    screen_->colors = start_colors(color);
    rescue.output = screen_->output;
    prepare_rescue(screen_->pastes);
    catch_fatal_signals();
    take_over();
}

Terminal::~Terminal() {
    restore();
    restore_fatal_signals();
}

std::optional<Key> Terminal::read_key() {
    if (restored_) return std::nullopt;
    for (;;) {
        if (auto key = parser_.next()) return key;
        if (gone_ || !read_bytes()) return std::nullopt;
    }
}

// Reads what is there, if anything is, so that neither the flags of the descriptor nor the
// patience of the loop are needed.
bool Terminal::read_bytes() {
    int available = 0;
    if (ioctl(STDIN_FILENO, FIONREAD, &available) != 0) gone_ = errno != EINTR;
    if (available <= 0) return false;
    char bytes[4096];
    const auto size = std::min(static_cast<std::size_t>(available), sizeof bytes);
    const auto count = read(STDIN_FILENO, bytes, size);
    if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN)) gone_ = true;
    if (count <= 0) return false;
    parser_.feed({bytes, static_cast<std::size_t>(count)});
    return true;
}

std::chrono::milliseconds Terminal::escape_delay() const {
    const char* const given = std::getenv("ESCDELAY");
    return given ? std::chrono::milliseconds(std::clamp(std::atoi(given), 0, 1000))
                 : default_escape_delay;
}

int Terminal::output() const { return screen_->output; }

bool Terminal::flush() { return write_some(screen_->output, pending_); }

// Takes over what curses has drawn into its file.
void Terminal::take_curses_output() {
    std::string drawing(static_cast<std::size_t>(lseek(screen_->canvas, 0, SEEK_CUR)), '\0');
    lseek(screen_->canvas, 0, SEEK_SET);
    if (pread(screen_->canvas, drawing.data(), drawing.size(), 0) > 0) put(drawing);
}

// False: the terminal did not take all in time.
bool Terminal::write_out() {
    const auto deadline = std::chrono::steady_clock::now() + flush_timeout;
    while (!flush() && std::chrono::steady_clock::now() < deadline)
        std::this_thread::sleep_for(flush_poll_interval);
    return pending_.empty();
}

void Terminal::draw(const Frame& frame) {
    if (restored_ || gone_ || !flush()) return;
    erase();
    const auto count = std::min(size_.rows, static_cast<int>(frame.rows.size()));
    for (int y = 0; y < count; ++y)
        draw_row(y, frame.rows[static_cast<std::size_t>(y)], size_.columns, screen_->colors);
    attrset(A_NORMAL);
    curs_set(frame.cursor_shown ? 1 : 0);
    move(std::clamp(frame.cursor_row, 0, size_.rows - 1),
         std::clamp(frame.cursor_column, 0, size_.columns - 1));
    refresh();
    take_curses_output();
    flush();
}

void Terminal::redraw() { clearok(curscr, TRUE); }

Size Terminal::resize() {
    winsize found{};
    ioctl(STDOUT_FILENO, TIOCGWINSZ, &found);
    size_ = {found.ws_row ? std::min<int>(found.ws_row, max_dimension) : 24,
             found.ws_col ? std::min<int>(found.ws_col, max_dimension) : 80};
    resize_term(size_.rows, size_.columns);
    redraw();
    return size_;
}

void Terminal::restore() {
    if (std::exchange(restored_, true)) return;
    const Unstopped unstopped;
    if (!write_out()) make_room(screen_->output);
    pending_.clear();
    if (screen_->pastes) put(paste_off);
    endwin();
    take_curses_output();
    put(screen_->clear_row);
    const std::string sequences = pending_;
    if (!write_out()) {  // only now was there too much before them
        make_room(screen_->output);
        pending_ = sequences;
        flush();
    }
    if (!in_background()) tcsetattr(STDIN_FILENO, TCSANOW, &rescue.settings);
    rescue.needed = 0;
}

bool Terminal::take_over() {
    if (in_background()) {
        kill(0, SIGTTOU);
        return false;
    }
    restored_ = false;
    rescue.needed = 1;
    tcsetattr(STDIN_FILENO, TCSANOW, &screen_->settings);
    if (screen_->pastes) put(paste_on);
    resize();
    return true;
}

void Terminal::suspend() {
    restore();
    struct sigaction found {};
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    sigaction(SIGTSTP, &standard, &found);
    if (found.sa_handler != SIG_IGN) kill(0, SIGTSTP);
    sigaction(SIGTSTP, &found, nullptr);
    raise(SIGCONT);  // not sent where it was not stopped
}

}  // namespace ui
