// The system calls that move datagrams, and the local addresses that they report: by the calls
// of this system, or by those of POSIX. For DatagramSocket.
#pragma once

#include "bufio/datagram.hpp"
#include "bufio/system.hpp"

#include <netinet/in.h>

#include <cstddef>
#include <cstdint>

namespace bufio {

#if BUFIO_HAS_MMSG
using DatagramHeader = mmsghdr;
#else
struct DatagramHeader {
    msghdr msg_hdr;
    unsigned msg_len;
};
#endif

// Both return the number of datagrams moved, or -1 with errno set if none was. A system that
// moves one datagram a call moves the first.
int receive_some(int fd, DatagramHeader* headers, std::size_t count);
int send_some(int fd, DatagramHeader* headers, std::size_t count);

// The space for what comes, or goes, beside the bytes of a datagram.
struct alignas(cmsghdr) DatagramControl {
#if BUFIO_HAS_PKTINFO || BUFIO_HAS_RECVDSTADDR
    char bytes[CMSG_SPACE(sizeof(in6_pktinfo)) + CMSG_SPACE(sizeof(std::uint16_t))];
#else
    char bytes[1];
#endif
};

// All three do nothing if the system can't: then the local address stays the wildcard.
// Asks for the local address of each datagram that arrives from now on.
void ask_for_local_address(int fd, int family);
// Copies the local host, and whether it is a group, into the datagram. The port of its local
// address stays.
void read_local_address(msghdr& header, Datagram& datagram);
// Makes the datagram leave from this address.
void set_source(msghdr& header, DatagramControl& control, const Address& from);

// With BUFIO_HAS_UDP_SEGMENT, the system cuts the bytes into datagrams of this size; the last
// one may be shorter.
void set_segments(msghdr& header, DatagramControl& control, std::size_t size);

}  // namespace bufio
