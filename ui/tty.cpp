#include "ui/tty.hpp"

#include "ui/system.hpp"
#include "ui/text.hpp"

#include <curses.h>
#include <term.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <initializer_list>
#include <system_error>
#include <utility>

namespace ui {

termios terminal_settings() {
    termios settings{};
    if (::tcgetattr(STDIN_FILENO, &settings) != 0)
        throw std::system_error(errno, std::generic_category(),
                                "cannot read the terminal's settings");
    return settings;
}

bool change_settings(const termios& settings) {
    int result = -1;
    do {
        result = ::tcsetattr(STDIN_FILENO, TCSANOW, &settings);
    } while (result != 0 && errno == EINTR);
    return result == 0;
}

void discard_output(int fd) {
    ::tcflush(fd, TCOFLUSH);
    ::tcflow(fd, TCOON);
}

std::string control_sequence(const char* capability) {
    static std::string sequence;  // tputs() passes no context to its callback
    sequence.clear();
    const char* const pattern = ::tigetstr(capability);
    const bool is_known = pattern != nullptr && pattern != reinterpret_cast<const char*>(-1);
    if (is_known)
        ::tputs(pattern, 1, [](int c) {
            sequence += static_cast<char>(c);
            return c;
        });
    return sequence;
}

std::string terminal_trouble() {
    if (!::isatty(STDIN_FILENO) || !::isatty(STDOUT_FILENO))
        return "standard input or output is not a terminal";
    const char* const type = std::getenv("TERM");
    const std::string subject =
        "the terminal type \"" + printable(type ? type : "") + "\" (TERM) ";
    int error = 0;
    if (::setupterm(type, STDOUT_FILENO, &error) != OK)
        return subject + "is not known on this system";
    const bool can_place_cursor = !control_sequence("cup").empty();
    ::del_curterm(cur_term);
    return can_place_cursor ? "" : subject + "cannot position its cursor";
}

ModeSequences mode_sequences_for(std::string_view cup, std::string_view smcup) {
    const std::string paste_off = "\x1b[?2004l";
    ModeSequences modes;
    if (!cup.starts_with("\x1b[")) return modes;
    modes.enabling = "\x1b[?2004h";
    modes.restoring = paste_off;
    if (smcup.find("\x1b[?") == smcup.npos) return modes;
    // Ends a truncated sequence.
    const std::string cancel = "\x18";
    // Switches the wheel's mode on before restoring it, because "on" is the default of
    // terminals that know the mode but can't restore it.
    const std::string wheel_back = "\x1b[?1007h\x1b[?1007r";
    modes.saving = "\x1b[?1007s";
    modes.enabling += "\x1b[?1007l";
    modes.frame_begin = "\x1b[?2026h";
    modes.frame_end = "\x1b[?2026l";
    modes.restoring = cancel + modes.frame_end + wheel_back + paste_off;
    return modes;
}

std::string clipboard_sequence(std::string_view text) {
    if (text.size() > max_clipboard_text) return {};  // printable() never shortens a text
    const std::string visible_text = printable(text);
    if (visible_text.size() > max_clipboard_text) return {};
    return "\x1b]52;c;" + base64(visible_text) + "\x1b\\";
}

namespace {

// Everything that the handler needs, prepared in advance because the handler must not
// allocate.
struct Restoration {
    struct sigaction previous_actions[UI_SIGNALS];  // the actions to reinstate
    bool is_caught[UI_SIGNALS];
    termios settings;
    int output_fd;
    char sequences[256];
    std::size_t sequences_size;
    bool is_needed;
} restoration;

void reinstate_signals() {
    for (int number = 1; number < UI_SIGNALS; ++number) {
        if (std::exchange(restoration.is_caught[number], false))
            ::sigaction(number, &restoration.previous_actions[number], nullptr);
    }
}

bool write_sequences() {
    const ssize_t count =
        ::write(restoration.output_fd, restoration.sequences, restoration.sequences_size);
    return count == static_cast<ssize_t>(restoration.sequences_size);
}

void restore_terminal() {
    if (!write_sequences()) {
        discard_output(restoration.output_fd);
        write_sequences();
    }
    if (!is_in_background(STDIN_FILENO)) change_settings(restoration.settings);
}

// Runs with all signals blocked, including SIGTTOU, so that writing from the background does
// not stop the process.
void on_fatal_signal(int number) {
    restore_terminal();
    reinstate_signals();
    ::raise(number);
}

// Curses calls exit() if it lacks memory.
void on_exit() {
    if (restoration.is_needed) restore_terminal();
}

bool must_catch(int number, const struct sigaction& previous) {
    const auto is_any_of = [number](std::initializer_list<int> numbers) {
        return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
    };
    const bool is_fault = is_any_of({SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL});
    if (previous.sa_flags & SA_SIGINFO) return is_fault;
    if (previous.sa_handler != SIG_DFL) return previous.sa_handler != SIG_IGN && is_fault;
    return !is_any_of({SIGCHLD, SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU, SIGURG, SIGWINCH});
}

// sigaction() refuses signals that can't be caught or that the C library reserves.
void catch_signal(int number) {
    struct sigaction& previous = restoration.previous_actions[number];
    if (::sigaction(number, nullptr, &previous) != 0 || !must_catch(number, previous)) return;
    struct sigaction action {};
    action.sa_handler = on_fatal_signal;
    action.sa_flags = SA_ONSTACK;
    sigfillset(&action.sa_mask);
    restoration.is_caught[number] = ::sigaction(number, &action, nullptr) == 0;
}

// Gives the handler its own stack unless the caller has set one, because the thread's stack may
// be full when SIGSEGV arrives.
void provide_signal_stack() {
    static char stack[64 * 1024];
    stack_t current{};
    ::sigaltstack(nullptr, &current);
    if (!(current.ss_flags & SS_DISABLE)) return;
    stack_t own{};  // the order of its members differs between systems
    own.ss_sp = stack;
    own.ss_size = sizeof stack;
    ::sigaltstack(&own, nullptr);
}

}  // namespace

CrashRestore::CrashRestore(int output, const termios& settings, std::string_view sequences) {
    restoration.output_fd = output;
    restoration.settings = settings;
    restoration.sequences_size =
        sequences.copy(restoration.sequences, sizeof restoration.sequences);
    restoration.is_needed = true;
    static const int registered = std::atexit(on_exit);
    static_cast<void>(registered);
    provide_signal_stack();
    for (int number = 1; number < UI_SIGNALS; ++number) catch_signal(number);
}

CrashRestore::~CrashRestore() {
    restoration.is_needed = false;
    reinstate_signals();
}

void CrashRestore::restore() { restore_terminal(); }

}  // namespace ui
