// The one feature beyond POSIX.1-2008 that the core uses, and the systems that have it:
// ppoll(2), which waits in nanoseconds. POSIX includes it since 2024. A system is listed only
// if the feature was tested on it. With YODEL_PORTABLE none is used, so that a build on Linux
// tests the code for other systems.
#pragma once

#if defined(__linux__) && !defined(YODEL_PORTABLE)
#    define EV_HAS_PPOLL 1
#else
#    define EV_HAS_PPOLL 0
#endif
