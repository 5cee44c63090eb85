#include "bufio/datagram_calls.hpp"

#include <cstring>

namespace bufio {

int receive_some(int fd, DatagramHeader* headers, [[maybe_unused]] std::size_t count) {
#if BUFIO_HAS_MMSG
    if (count > 1) return ::recvmmsg(fd, headers, static_cast<unsigned>(count), 0, nullptr);
#endif
    const ssize_t size = ::recvmsg(fd, &headers->msg_hdr, 0);
    if (size < 0) return -1;
    headers->msg_len = static_cast<unsigned>(size);
    return 1;
}

int send_some(int fd, DatagramHeader* headers, [[maybe_unused]] std::size_t count) {
#if BUFIO_HAS_MMSG
    if (count > 1) return ::sendmmsg(fd, headers, static_cast<unsigned>(count), MSG_NOSIGNAL);
#endif
    return ::sendmsg(fd, &headers->msg_hdr, MSG_NOSIGNAL) < 0 ? -1 : 1;
}

#if BUFIO_HAS_PKTINFO

namespace {

template <class Info>
Info data_of(const cmsghdr* control) {
    Info info;
    std::memcpy(&info, CMSG_DATA(control), sizeof info);
    return info;
}

template <class Info>
void put_data(msghdr& header, DatagramControl& control, int level, int type, const Info& info) {
    auto* const next = reinterpret_cast<cmsghdr*>(control.bytes);
    header.msg_control = control.bytes;
    header.msg_controllen = static_cast<socklen_t>(CMSG_SPACE(sizeof info));
    next->cmsg_level = level;
    next->cmsg_type = type;
    next->cmsg_len = static_cast<socklen_t>(CMSG_LEN(sizeof info));
    std::memcpy(CMSG_DATA(next), &info, sizeof info);
}

// `spec_dst` is the local address on which the datagram was received, `addr` its
// destination address. They differ for a broadcast.
void read_pktinfo_v4(const cmsghdr* control, Datagram& datagram) {
    const auto info = data_of<in_pktinfo>(control);
    auto& in = reinterpret_cast<sockaddr_in&>(datagram.local.storage);
    in.sin_addr = info.ipi_addr;
    datagram.to_group =
        datagram.local.is_multicast() || info.ipi_addr.s_addr != info.ipi_spec_dst.s_addr;
    in.sin_addr = info.ipi_spec_dst;
}

void set_source_v4(msghdr& header, DatagramControl& control, const in_addr& from) {
    in_pktinfo info{};
    info.ipi_spec_dst = from;
    put_data(header, control, IPPROTO_IP, IP_PKTINFO, info);
}

// A link-local address needs its interface.
void read_pktinfo_v6(const cmsghdr* control, Datagram& datagram) {
    const auto info = data_of<in6_pktinfo>(control);
    auto& in6 = reinterpret_cast<sockaddr_in6&>(datagram.local.storage);
    in6.sin6_addr = info.ipi6_addr;
    if (IN6_IS_ADDR_LINKLOCAL(&info.ipi6_addr)) in6.sin6_scope_id = info.ipi6_ifindex;
    datagram.to_group = datagram.local.is_multicast();
}

}  // namespace

void ask_for_local_address(int fd, int family) {
    const int on = 1;
    if (family == AF_INET) ::setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &on, sizeof on);
    if (family == AF_INET6) ::setsockopt(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof on);
}

void read_local_address(msghdr& header, Datagram& datagram) {
    for (cmsghdr* each = CMSG_FIRSTHDR(&header); each; each = CMSG_NXTHDR(&header, each)) {
        if (each->cmsg_level == IPPROTO_IP && each->cmsg_type == IP_PKTINFO)
            read_pktinfo_v4(each, datagram);
        if (each->cmsg_level == IPPROTO_IPV6 && each->cmsg_type == IPV6_PKTINFO)
            read_pktinfo_v6(each, datagram);
    }
}

void set_source(msghdr& header, DatagramControl& control, const Address& from) {
    if (from.family() == AF_INET)
        set_source_v4(header, control,
                      reinterpret_cast<const sockaddr_in&>(from.storage).sin_addr);
    if (from.family() != AF_INET6) return;
    const auto& in6 = reinterpret_cast<const sockaddr_in6&>(from.storage);
    in6_pktinfo info{};
    info.ipi6_addr = in6.sin6_addr;
    info.ipi6_ifindex = in6.sin6_scope_id;
    put_data(header, control, IPPROTO_IPV6, IPV6_PKTINFO, info);
}

#else

void ask_for_local_address(int, int) {}
void read_local_address(msghdr&, Datagram&) {}
void set_source(msghdr&, DatagramControl&, const Address&) {}

#endif

}  // namespace bufio
