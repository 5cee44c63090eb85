// Restores the terminal when a signal ends the process.
//
// While a CrashRestore exists, it handles every signal that would end the process. It also
// handles the faults SIGABRT, SIGSEGV, SIGBUS, SIGFPE and SIGILL if the caller handles them.
// Its handler restores the terminal, reinstates the previous signal actions and raises the
// signal again. So the process ends as usual, or the caller's handler of a fault runs. Ignored
// signals, and all others that the caller handles, are left alone.
#pragma once

#include <termios.h>

#include <string_view>

namespace ui {

// There is at most one instance at a time. Its state is static, because a signal handler takes
// no pointer to it.
class CrashRestore {
public:
    // On a crash, writes `sequences` to the descriptor `output` and applies `settings` to the
    // terminal on standard input. At most 256 bytes of the sequences are copied and used.
    CrashRestore(int output, const termios& settings, std::string_view sequences);
    // Reinstates the signal actions that the constructor found.
    ~CrashRestore();
    CrashRestore(const CrashRestore&) = delete;
    CrashRestore& operator=(const CrashRestore&) = delete;

    // Restores the terminal as on a crash, without allocating memory.
    void restore();
};

}  // namespace ui
