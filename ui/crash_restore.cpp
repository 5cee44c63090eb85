#include "ui/crash_restore.hpp"

#include "ui/system.hpp"
#include "ui/tty.hpp"

#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <utility>

namespace ui {

namespace {

// Everything that the handler needs, prepared in advance because the handler must not
// allocate.
struct State {
    struct sigaction found[UI_SIGNALS];  // the actions to reinstate
    bool caught[UI_SIGNALS];
    termios settings;
    int output;
    char sequences[256];
    std::size_t size;
} state;

void reinstate_signals() {
    for (int number = 1; number < UI_SIGNALS; ++number) {
        if (std::exchange(state.caught[number], false))
            ::sigaction(number, &state.found[number], nullptr);
    }
}

bool write_sequences() {
    const ssize_t count = ::write(state.output, state.sequences, state.size);
    return count == static_cast<ssize_t>(state.size);
}

void restore_terminal() {
    if (!write_sequences()) {
        discard_output(state.output);
        write_sequences();
    }
    if (!in_background()) change_settings(state.settings);
}

// Runs with all signals blocked, including SIGTTOU, so that writing from the background does
// not stop the process.
void on_fatal_signal(int number) {
    restore_terminal();
    reinstate_signals();
    ::raise(number);
}

// True for signals that report a fault of the process itself.
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
    case SIGWINCH: return false;
    default: return true;
    }
}

bool is_fatal(int number, const struct sigaction& found) {
    if (found.sa_flags & SA_SIGINFO) return is_fault(number);
    if (found.sa_handler == SIG_DFL) return ends_by_default(number);
    return found.sa_handler != SIG_IGN && is_fault(number);
}

// sigaction() refuses signals that can't be caught or that the C library reserves.
void catch_signal(int number) {
    struct sigaction& found = state.found[number];
    if (::sigaction(number, nullptr, &found) != 0 || !is_fatal(number, found)) return;
    struct sigaction action {};
    action.sa_handler = on_fatal_signal;
    action.sa_flags = SA_ONSTACK;
    sigfillset(&action.sa_mask);
    state.caught[number] = ::sigaction(number, &action, nullptr) == 0;
}

// Gives the handler its own stack unless the caller has set one, because the thread's stack may
// be full when SIGSEGV arrives.
void provide_signal_stack() {
    static char stack[64 * 1024];
    stack_t found{};
    ::sigaltstack(nullptr, &found);
    if (!(found.ss_flags & SS_DISABLE)) return;
    stack_t own{};  // the order of its members differs between systems
    own.ss_sp = stack;
    own.ss_size = sizeof stack;
    ::sigaltstack(&own, nullptr);
}

}  // namespace

CrashRestore::CrashRestore(int output, const termios& settings, std::string_view sequences) {
    state.output = output;
    state.settings = settings;
    state.size = sequences.copy(state.sequences, sizeof state.sequences);
    provide_signal_stack();
    for (int number = 1; number < UI_SIGNALS; ++number) catch_signal(number);
}

CrashRestore::~CrashRestore() { reinstate_signals(); }

void CrashRestore::restore() { restore_terminal(); }

}  // namespace ui
