// Wrappers around the system calls that move datagrams and report their local addresses. On
// systems that lack the special calls, they use POSIX calls.
#pragma once

#include "bufio/datagram.hpp"
#include "bufio/system.hpp"

#include <netinet/in.h>

#include <cstddef>

namespace bufio {

#if BUFIO_HAS_MMSG
using DatagramHeader = mmsghdr;
#else
struct DatagramHeader {
    msghdr msg_hdr;
    unsigned msg_len;
};
#endif

// Both return the number of datagrams moved, or -1 with errno set if none was. Without
// recvmmsg and sendmmsg they move only the first datagram.
int receive_some(int fd, DatagramHeader* headers, std::size_t count);
int send_some(int fd, DatagramHeader* headers, std::size_t count);

// The space for a datagram's control messages.
struct alignas(cmsghdr) DatagramControl {
#if BUFIO_HAS_PKTINFO
    char bytes[CMSG_SPACE(sizeof(in6_pktinfo))];
#else
    char bytes[1];
#endif
};

// Makes the system report the local address of each datagram from now on. If the system lacks
// the feature, this and the next two functions do nothing, and the local address stays the
// wildcard.
void ask_for_local_address(int fd, int family);
// Sets the datagram's local host and `to_group` from the header, but not the local port.
void read_local_address(msghdr& header, Datagram& datagram);
// Makes the datagram leave from this address.
void set_source(msghdr& header, DatagramControl& control, const Address& from);

}  // namespace bufio
