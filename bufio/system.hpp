// The features beyond POSIX that this room uses, and the systems on which they were tested. The
// other files test for a feature, not for a system. YODEL_PORTABLE uses none.
#pragma once

#include <sys/socket.h>

#if defined(__linux__) && !defined(YODEL_PORTABLE)
#    define BUFIO_ON_LINUX 1
#else
#    define BUFIO_ON_LINUX 0
#endif

// recvmmsg(2) and sendmmsg(2): many datagrams in one call.
#define BUFIO_HAS_MMSG BUFIO_ON_LINUX

// IP_PKTINFO and IPV6_PKTINFO: the local address to which a datagram was sent.
#define BUFIO_HAS_PKTINFO BUFIO_ON_LINUX

// MSG_MORE: the system waits for more bytes before it sends.
#define BUFIO_HAS_MSG_MORE BUFIO_ON_LINUX

// TCP_INFO: the system's facts about a connection.
#define BUFIO_HAS_TCP_INFO BUFIO_ON_LINUX

// /proc/sys: the kernel's settings as files.
#define BUFIO_HAS_PROC_SYS BUFIO_ON_LINUX
