// The features beyond POSIX that this room uses, and the systems that have them. This file
// alone asks which system it is; the others ask for a feature. Only what has been tested
// somewhere is used there. With YODEL_PORTABLE nothing is, so that a build on Linux tests what
// other systems get.
#pragma once

#include <csignal>

// memfd_create(2): a file in memory. Older C libraries lack it.
#if defined(__linux__) && !defined(YODEL_PORTABLE)
#    include <sys/mman.h>
#    ifdef MFD_CLOEXEC
#        define UI_HAS_MEMFD 1
#    endif
#endif
#ifndef UI_HAS_MEMFD
#    define UI_HAS_MEMFD 0
#endif

// The effects of signals that nobody handles: SIGIO ends a process on Linux, and on no other
// system. Only others have SIGINFO, which ends none.
#ifdef __linux__
#    define UI_SIGIO_ENDS 1
#else
#    define UI_SIGIO_ENDS 0
#endif
#ifdef SIGINFO
#    define UI_HAS_SIGINFO 1
#else
#    define UI_HAS_SIGINFO 0
#endif

// One more than the greatest number of a signal. POSIX has no name for it.
#ifdef NSIG
#    define UI_SIGNALS NSIG
#else
#    define UI_SIGNALS 65
#endif
