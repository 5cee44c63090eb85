// The features beyond POSIX that this room uses, and the systems that have them. Only this
// file tests for a system; the others test for a feature. A system is listed only if the
// feature was tested on it. With YODEL_PORTABLE none is used, so that a build on Linux tests
// the code for other systems.
#pragma once

#include <csignal>

// memfd_create(2): a file in memory.
#if defined(__linux__) && !defined(YODEL_PORTABLE)
#    include <sys/mman.h>
#    define UI_HAS_MEMFD 1
#else
#    define UI_HAS_MEMFD 0
#endif

// The greatest signal number plus one. POSIX defines no name for it.
#ifdef NSIG
#    define UI_SIGNALS NSIG
#else
#    define UI_SIGNALS 65
#endif
