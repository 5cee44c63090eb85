#include "ev/system.hpp"

#if EV_HAS_EPOLL
#    include "tests/ev/fixture.hpp"
#    include "tests/support/catch.hpp"

#    include <linux/filter.h>
#    include <linux/seccomp.h>
#    include <sys/prctl.h>
#    include <sys/syscall.h>
#    include <sys/wait.h>

#    include <cerrno>
#    include <cstddef>

using namespace std::chrono_literals;

#    ifdef SYS_epoll_pwait2

namespace {

// Makes the kernel refuse epoll_pwait2(2), like an older kernel. Returns false if this is not
// allowed.
bool forget_epoll_pwait2() {
    sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_epoll_pwait2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program{4, filter};
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

enum Outcome { in_time, early, too_many_turns, not_allowed };

Outcome wait_on_an_old_kernel() {
    if (!forget_epoll_pwait2()) return not_allowed;
    ev::Loop loop(ev::Clock::now, ev::make_backend("epoll"));
    ev::Time fired{};
    ev::Timer timer(loop, [&] { fired = ev::Clock::now(); });
    int turns = 0;
    for (int tries = 0; tries < 5; ++tries) {
        fired = {};
        timer.start(1200us);
        for (; fired == ev::Time{}; ++turns) loop.step();
        if (fired < timer.deadline()) return early;
    }
    return turns == 5 ? in_time : too_many_turns;
}

}  // namespace

TEST_CASE("epoll waits in milliseconds if the kernel lacks epoll_pwait2") {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(wait_on_an_old_kernel());
    int status = 0;
    ::waitpid(child, &status, 0);
    REQUIRE(WIFEXITED(status));
    if (WEXITSTATUS(status) == not_allowed) return;
    CHECK(WEXITSTATUS(status) == in_time);
}

#    endif

#endif
