// Lists the features beyond POSIX that app uses. Only this file checks the operating system;
// other files check for a feature. A feature is used only on systems on which it was tested.
// YODEL_PORTABLE disables all features, so that a build on Linux tests the code for other
// systems.
#pragma once

#include <cstdlib>  // defines the macros of the C library

#if defined(__linux__) && !defined(YODEL_PORTABLE)
#    define YODEL_ON_LINUX 1
#else
#    define YODEL_ON_LINUX 0
#endif

// /proc/self/fd: opens a descriptor's file again, with separate flags.
#define YODEL_HAS_PROC_FD YODEL_ON_LINUX

// PR_SET_TIMERSLACK: limits how late the kernel ends a wait.
#define YODEL_HAS_TIMER_SLACK YODEL_ON_LINUX

// malloc_trim(): returns free memory to the system.
#if defined(__GLIBC__) && !defined(YODEL_PORTABLE)
#    define YODEL_HAS_MALLOC_TRIM 1
#else
#    define YODEL_HAS_MALLOC_TRIM 0
#endif

// Landlock: limits the rights of a process.
#define YODEL_HAS_LANDLOCK YODEL_ON_LINUX
