// The features beyond POSIX that this room uses, and the systems that have them. Only this
// file tests for a system; the others test for a feature. A system is listed only if the
// feature was tested on it, or if it is indispensable there. With YODEL_PORTABLE none is used,
// so that a build on Linux tests the code for other systems.
#pragma once

#ifdef __APPLE__
#    define __APPLE_USE_RFC_3542  // otherwise its headers hide IPV6_PKTINFO
#endif

#include <sys/socket.h>

#if defined(__linux__) && !defined(YODEL_PORTABLE)
#    define BUFIO_ON_LINUX 1
#else
#    define BUFIO_ON_LINUX 0
#endif

// recvmmsg(2) and sendmmsg(2): many datagrams in one call.
#define BUFIO_HAS_MMSG BUFIO_ON_LINUX

// IP_PKTINFO and IPV6_PKTINFO: the local address to which a datagram was sent. FreeBSD and
// OpenBSD have IP_RECVDSTADDR instead of the first; this was compiled but never run.
#if BUFIO_ON_LINUX || defined(__APPLE__)
#    define BUFIO_HAS_PKTINFO 1
#else
#    define BUFIO_HAS_PKTINFO 0
#endif
#if defined(__FreeBSD__) || defined(__OpenBSD__)
#    define BUFIO_HAS_RECVDSTADDR 1
#else
#    define BUFIO_HAS_RECVDSTADDR 0
#endif

// MSG_MORE: the system waits for more before it sends.
#define BUFIO_HAS_MSG_MORE BUFIO_ON_LINUX

// SO_NOSIGPIPE: prevents SIGPIPE even if MSG_NOSIGNAL is ignored.
#ifdef __APPLE__
#    define BUFIO_HAS_NOSIGPIPE 1
#else
#    define BUFIO_HAS_NOSIGPIPE 0
#endif

// The option that lets sockets share a port so that the system distributes its traffic evenly.
// Other systems also accept SO_REUSEPORT, but give all traffic to one of the sockets.
#if BUFIO_ON_LINUX
#    define BUFIO_SHARES_PORTS_BY SO_REUSEPORT
#elif defined(__FreeBSD__)
#    define BUFIO_SHARES_PORTS_BY SO_REUSEPORT_LB
#else
#    define BUFIO_SHARES_PORTS_BY (-1)  // setsockopt() refuses it
#endif

// TCP_INFO. The code for FreeBSD was never run.
#define BUFIO_HAS_LINUX_TCP_INFO BUFIO_ON_LINUX
#ifdef __FreeBSD__
#    define BUFIO_HAS_FREEBSD_TCP_INFO 1
#else
#    define BUFIO_HAS_FREEBSD_TCP_INFO 0
#endif

// /proc/sys: the kernel's settings as files.
#define BUFIO_HAS_PROC_SYS BUFIO_ON_LINUX
