// The features beyond POSIX that this room uses, and the systems on which they were tested.
// Other files check for a feature, not for a system.
#pragma once

#include "ev/system.hpp"

#include <sys/socket.h>

// recvmmsg(2) and sendmmsg(2): many datagrams in one call.
#define BUFIO_HAS_MMSG EV_ON_LINUX

// IP_PKTINFO and IPV6_PKTINFO: the local address to which a datagram was sent.
#define BUFIO_HAS_PKTINFO EV_ON_LINUX

// MSG_MORE: the system waits for more bytes before it sends.
#define BUFIO_HAS_MSG_MORE EV_ON_LINUX

// TCP_INFO: the system's facts about a connection.
#define BUFIO_HAS_TCP_INFO EV_ON_LINUX

// /proc/sys: the kernel's settings as files.
#define BUFIO_HAS_PROC_SYS EV_ON_LINUX
