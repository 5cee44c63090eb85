// Restores the terminal when a signal ends the process.
//
// While a CrashRestore exists, it handles every signal that would end the process: those with
// the default action, and the faults SIGABRT, SIGSEGV, SIGBUS, SIGFPE and SIGILL even if the
// caller has a handler for them. The handler restores the terminal if it is armed, reinstates
// the previous signal actions and raises the signal again, so that the process ends as it would
// have, or the caller's handler of a fault runs. Signals that are ignored, and all others that
// the caller handles, are left alone.
#pragma once

#include <termios.h>

#include <string_view>

namespace ui {

// There is at most one at a time. Its state is static, because a signal handler has no argument
// to find it by.
class CrashRestore {
public:
    // On a crash, `sequences` are written to the descriptor `output`, and standard input gets
    // the terminal settings `settings`. The sequences are copied; more than 256 bytes of them
    // are cut off. Not armed at first.
    CrashRestore(int output, const termios& settings, std::string_view sequences);
    // Reinstates the signal actions that the constructor found.
    ~CrashRestore();
    CrashRestore(const CrashRestore&) = delete;
    CrashRestore& operator=(const CrashRestore&) = delete;

    // Armed means that the terminal is taken over and must be restored on a crash.
    void arm();
    void disarm();
    // Restores the terminal as on a crash, which takes no memory.
    void restore();
};

}  // namespace ui
