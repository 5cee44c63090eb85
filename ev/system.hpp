// The one feature beyond POSIX.1-2008 that the core uses, and the systems that have it:
// ppoll(2), which waits in nanoseconds. POSIX has it since 2024. Only what has been tested
// somewhere is used there; with YODEL_PORTABLE nothing is, so that a build on Linux tests what
// other systems get.
#pragma once

#if (defined(__linux__) && !defined(YODEL_PORTABLE)) || defined(__FreeBSD__) ||                \
    defined(__OpenBSD__)
#    define EV_HAS_PPOLL 1
#else
#    define EV_HAS_PPOLL 0
#endif
