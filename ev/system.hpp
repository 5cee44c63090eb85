// The features beyond POSIX.1-2008 that this room uses, and the systems on which they were
// tested. None is used with YODEL_PORTABLE or on other systems.
#pragma once

#if defined(__linux__) && !defined(YODEL_PORTABLE)
#    define EV_ON_LINUX 1
#else
#    define EV_ON_LINUX 0
#endif

// ppoll(2), which waits in nanoseconds. POSIX.1-2024 includes it.
#define EV_HAS_PPOLL EV_ON_LINUX

// The epoll backend, and the auto backend, which chooses between it and poll.
#define EV_HAS_EPOLL EV_ON_LINUX

// epoll_pwait2(2), which waits in nanoseconds, since Linux 5.11 and glibc 2.35. Use the macro
// only after a system header, which defines the version of the C library.
#define EV_HAS_EPOLL_PWAIT2 (EV_ON_LINUX && __GLIBC__ * 100 + __GLIBC_MINOR__ >= 235)

// sched_getaffinity(2): the processors that this process may use.
#define EV_HAS_AFFINITY EV_ON_LINUX
