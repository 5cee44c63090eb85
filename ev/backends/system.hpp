// The features beyond POSIX that the backends use, and the systems that have them. With
// YODEL_PORTABLE none is used, so that a build on Linux tests what other systems get.
#pragma once

#include <cstdlib>  // says which C library it is

// The backend epoll, and "auto", which chooses between it and poll.
#if defined(__linux__) && !defined(YODEL_PORTABLE)
#    define EV_HAS_EPOLL 1
#else
#    define EV_HAS_EPOLL 0
#endif

// epoll_pwait2(2), which waits in nanoseconds: of Linux since 5.11, and of its C library.
#define EV_HAS_EPOLL_PWAIT2 0
#if EV_HAS_EPOLL && defined(__GLIBC__)
#    if __GLIBC_PREREQ(2, 35)
#        undef EV_HAS_EPOLL_PWAIT2
#        define EV_HAS_EPOLL_PWAIT2 1
#    endif
#endif
