// The features beyond POSIX that the backends use, and the systems that have them. With
// YODEL_PORTABLE none is used, so that a build on Linux tests the code for other systems.
#pragma once

#include <cstdlib>  // defines the macros of the C library

// The epoll backend, and the auto backend, which chooses between it and poll.
#if defined(__linux__) && !defined(YODEL_PORTABLE)
#    define EV_HAS_EPOLL 1
#else
#    define EV_HAS_EPOLL 0
#endif

// epoll_pwait2(2), which waits in nanoseconds: since Linux 5.11 and glibc 2.35.
#define EV_HAS_EPOLL_PWAIT2 0
#if EV_HAS_EPOLL && defined(__GLIBC__)
#    if __GLIBC_PREREQ(2, 35)
#        undef EV_HAS_EPOLL_PWAIT2
#        define EV_HAS_EPOLL_PWAIT2 1
#    endif
#endif
