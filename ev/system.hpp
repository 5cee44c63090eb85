// The only feature beyond POSIX.1-2008 that the core uses: ppoll(2), which waits in
// nanoseconds. POSIX.1-2024 includes it. Only systems on which it was tested are listed. With
// YODEL_PORTABLE it is not used, so that a build on Linux tests the code for other systems.
#pragma once

#if defined(__linux__) && !defined(YODEL_PORTABLE)
#    define EV_HAS_PPOLL 1
#else
#    define EV_HAS_PPOLL 0
#endif
