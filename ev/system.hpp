// The features beyond POSIX that this room uses, and the systems that have them. This file
// alone asks which system it is; the others ask for a feature. Only what has been tested
// somewhere is used there. With YODEL_PORTABLE nothing is, so that a build on Linux tests what
// other systems get.
#pragma once

#include <cstdlib>  // says which C library it is

#if defined(__linux__) && !defined(YODEL_PORTABLE)
#    define EV_ON_LINUX 1
#else
#    define EV_ON_LINUX 0
#endif

// The backend epoll, and "auto", which chooses between it and poll.
#define EV_HAS_EPOLL EV_ON_LINUX

// sched_getaffinity(2): the processors that this process may use.
#define EV_HAS_AFFINITY EV_ON_LINUX

// ppoll(2), which waits in nanoseconds. POSIX has it since 2024.
#if EV_ON_LINUX || defined(__FreeBSD__) || defined(__OpenBSD__)
#    define EV_HAS_PPOLL 1
#else
#    define EV_HAS_PPOLL 0
#endif

// epoll_pwait2(2), which does so, too: of Linux since 5.11, and of its C library.
#define EV_HAS_EPOLL_PWAIT2 0
#if EV_HAS_EPOLL && defined(__GLIBC__)
#    if __GLIBC_PREREQ(2, 35)
#        undef EV_HAS_EPOLL_PWAIT2
#        define EV_HAS_EPOLL_PWAIT2 1
#    endif
#endif
