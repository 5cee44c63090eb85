// The features beyond POSIX that app uses, and the systems that have them. This file alone
// asks which system it is; the others ask for a feature. A feature is used only on systems on
// which it has been tested. With YODEL_PORTABLE none is used, so that a build on Linux tests
// the code for other systems.
#pragma once

#include <cstdlib>  // names the C library

#if defined(__linux__) && !defined(YODEL_PORTABLE)
#    define YODEL_ON_LINUX 1
#else
#    define YODEL_ON_LINUX 0
#endif

// /proc/self/fd: a descriptor's file can be opened again, with flags of its own.
#define YODEL_HAS_PROC_FD YODEL_ON_LINUX

// PR_SET_TIMERSLACK: how late the kernel may end a wait.
#define YODEL_HAS_TIMER_SLACK YODEL_ON_LINUX

// Landlock: limits on the rights of a process.
#define YODEL_HAS_LANDLOCK YODEL_ON_LINUX
