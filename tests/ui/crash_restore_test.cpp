#include "ui/crash_restore.hpp"

#include "tests/ui/probe.hpp"

#include <set>

using test::probe;
using test::require_restored;
using test::Tty;

TEST_CASE("every signal that ends the program restores the terminal first") {
    const std::set<int> others{SIGKILL, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU,
                               SIGCHLD, SIGCONT, SIGURG,  SIGWINCH};
    const int last_named = 31;
    for (int signal = 1; signal <= SIGRTMAX; ++signal) {
        const bool real_time = signal == SIGRTMIN || signal == SIGRTMAX;
        if (others.count(signal) || (signal > last_named && !real_time)) continue;
        INFO(signal);
        Tty tty(probe("quit", {"ASAN_OPTIONS=handle_segv=0:handle_sigbus=0:handle_sigfpe=0"}));
        REQUIRE(tty.wait_for("size 24x80"));
        REQUIRE(tty.alternate_screen());
        tty.kill(signal);
        REQUIRE(tty.wait_exit() == 128 + signal);
        require_restored(tty);
    }
}

TEST_CASE("ignored signals stay ignored") {
    Tty tty(
        {{"/bin/sh", "-c", "trap '' QUIT ALRM USR1; exec \"$0\" quit", SCREEN_PROBE}, {}, {}});
    REQUIRE(tty.wait_for("size 24x80"));
    for (const int signal : {SIGQUIT, SIGALRM, SIGUSR1}) tty.kill(signal);
    tty.send("x");
    REQUIRE(tty.wait_for("x."));
    tty.send("\r");
    REQUIRE(tty.wait_exit() == 0);
    require_restored(tty);
}
