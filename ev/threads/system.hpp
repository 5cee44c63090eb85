// The one feature beyond POSIX that the threads use, and the systems that have it.
#pragma once

// sched_getaffinity(2): the processors that this process may use.
#if defined(__linux__) && !defined(YODEL_PORTABLE)
#    define EV_HAS_AFFINITY 1
#else
#    define EV_HAS_AFFINITY 0
#endif
