// Lists features that only some systems have. In this room, only this file checks the operating
// system; other files check for a feature. memfd_create() is used only on systems on which it
// was tested. YODEL_PORTABLE disables it, so that a build on Linux tests the code for other
// systems.
#pragma once

#include <csignal>

// memfd_create(2): a file in memory.
#if defined(__linux__) && !defined(YODEL_PORTABLE)
#    include <sys/mman.h>
#    define UI_HAS_MEMFD 1
#else
#    define UI_HAS_MEMFD 0
#endif

// The greatest signal number plus one. POSIX had no name for it before 2024.
#ifdef NSIG
#    define UI_SIGNALS NSIG
#else
#    define UI_SIGNALS 65
#endif
