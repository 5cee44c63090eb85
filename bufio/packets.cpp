#include "bufio/packets.hpp"

#include "bufio/buffer.hpp"
#include "bufio/listen.hpp"
#include "bufio/system.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace bufio {

namespace {

constexpr std::size_t max_batch = PacketSocket::max_batch;
constexpr unsigned batch_interval = 16;  // see PacketSocket::receive()
// Space for a datagram. Because the size is no power of two, the datagrams spread over the
// cache sets.
constexpr std::size_t slot_size = 64 * 1024 + 1472;
constexpr std::size_t kernel_buffer_size = 4 * 1024 * 1024;  // requested; the system caps it

#if BUFIO_HAS_MMSG
using MessageHeader = mmsghdr;
#else
struct MessageHeader {
    msghdr msg_hdr;
    unsigned msg_len;
};
#endif

// The space for a datagram's control message, which contains an address.
struct alignas(cmsghdr) ControlMessage {
    char bytes[CMSG_SPACE(sizeof(in6_addr) + sizeof(int))];
};

// The arguments of one call, and the datagrams received last. A thread's sockets share them.
struct Batch {
    std::array<MessageHeader, max_batch> headers{};
    std::array<iovec, max_batch> parts{};
    std::array<ControlMessage, max_batch> controls{};
    std::array<Datagram, max_batch> datagrams;
    // Unused slots take no memory, because their pages are never touched.
    const std::unique_ptr<char[]> slots{new char[max_batch * slot_size]};
};

Batch& shared_batch() {
    static thread_local const auto batch = std::make_unique<Batch>();
    return *batch;
}

// Without recvmmsg(2) and sendmmsg(2), these move only the first datagram.
int receive_some(int fd, MessageHeader* headers, [[maybe_unused]] std::size_t count) {
#if BUFIO_HAS_MMSG
    if (count > 1) return ::recvmmsg(fd, headers, static_cast<unsigned>(count), 0, nullptr);
#endif
    const ssize_t size = ::recvmsg(fd, &headers->msg_hdr, 0);
    headers->msg_len = static_cast<unsigned>(size);
    return size < 0 ? -1 : 1;
}

int send_some(int fd, MessageHeader* headers, [[maybe_unused]] std::size_t count) {
#if BUFIO_HAS_MMSG
    if (count > 1) return ::sendmmsg(fd, headers, static_cast<unsigned>(count), MSG_NOSIGNAL);
#endif
    return ::sendmsg(fd, &headers->msg_hdr, MSG_NOSIGNAL) < 0 ? -1 : 1;
}

#if BUFIO_HAS_PKTINFO

// Makes the system report the local address of each datagram.
void ask_for_local_address(int fd, int family) {
    const int on = 1;
    if (family == AF_INET) ::setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &on, sizeof on);
    if (family == AF_INET6) ::setsockopt(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof on);
}

// Sets the datagram's local host and `is_to_group`, but not the local port.
void read_local_address(msghdr& header, Datagram& datagram) {
    for (cmsghdr* each = CMSG_FIRSTHDR(&header); each; each = CMSG_NXTHDR(&header, each)) {
        if (each->cmsg_level == IPPROTO_IP && each->cmsg_type == IP_PKTINFO) {
            // `spec_dst` is the local address on which the datagram was received, `addr` its
            // destination address. They differ for a broadcast.
            in_pktinfo info;
            std::memcpy(&info, CMSG_DATA(each), sizeof info);
            auto& ipv4 = reinterpret_cast<sockaddr_in&>(datagram.local.storage);
            ipv4.sin_addr = info.ipi_addr;
            datagram.is_to_group =
                datagram.local.is_group() || info.ipi_addr.s_addr != info.ipi_spec_dst.s_addr;
            ipv4.sin_addr = info.ipi_spec_dst;
        }
        if (each->cmsg_level == IPPROTO_IPV6 && each->cmsg_type == IPV6_PKTINFO) {
            in6_pktinfo info;
            std::memcpy(&info, CMSG_DATA(each), sizeof info);
            auto& ipv6 = reinterpret_cast<sockaddr_in6&>(datagram.local.storage);
            ipv6.sin6_addr = info.ipi6_addr;
            // A link-local address needs its interface.
            if (IN6_IS_ADDR_LINKLOCAL(&info.ipi6_addr)) ipv6.sin6_scope_id = info.ipi6_ifindex;
            datagram.is_to_group = datagram.local.is_group();
        }
    }
}

template <class Info>
void put_control(msghdr& header, ControlMessage& control, int level, int type,
                 const Info& info) {
    auto* const message = reinterpret_cast<cmsghdr*>(control.bytes);
    header.msg_control = control.bytes;
    header.msg_controllen = static_cast<socklen_t>(CMSG_SPACE(sizeof info));
    message->cmsg_level = level;
    message->cmsg_type = type;
    message->cmsg_len = static_cast<socklen_t>(CMSG_LEN(sizeof info));
    std::memcpy(CMSG_DATA(message), &info, sizeof info);
}

// Makes the datagram leave from this address.
void set_source(msghdr& header, ControlMessage& control, const Address& from) {
    if (from.family() == AF_INET) {
        in_pktinfo info{};
        info.ipi_spec_dst = reinterpret_cast<const sockaddr_in&>(from.storage).sin_addr;
        put_control(header, control, IPPROTO_IP, IP_PKTINFO, info);
    }
    if (from.family() == AF_INET6) {
        const auto& ipv6 = reinterpret_cast<const sockaddr_in6&>(from.storage);
        in6_pktinfo info{};
        info.ipi6_addr = ipv6.sin6_addr;
        info.ipi6_ifindex = ipv6.sin6_scope_id;
        put_control(header, control, IPPROTO_IPV6, IPV6_PKTINFO, info);
    }
}

#else  // the local address stays the wildcard

void ask_for_local_address(int, int) {}
void read_local_address(msghdr&, Datagram&) {}
void set_source(msghdr&, ControlMessage&, const Address&) {}

#endif

// Returns true for an ICMP error, and if there is no route to the peer.
bool is_peer_absent(int code) {
    constexpr int codes[] = {ECONNREFUSED, EHOSTUNREACH, EHOSTDOWN, ENETUNREACH,
                             ENETDOWN,     ENOPROTOOPT,  EACCES};
    return std::find(std::begin(codes), std::end(codes), code) != std::end(codes);
}

class PacketTransport final : public Transport {
public:
    PacketTransport(Fd socket, Address& peer, bool is_connected)
        : socket_(std::move(socket)), peer_(peer), is_connected_(is_connected) {}

    int descriptor() const override { return socket_.descriptor(); }

    // Keeps the bytes that do not fit, and returns them in later calls.
    IoResult read(char* to, std::size_t size) override {
        std::size_t used_size = rest_.view().copy(to, size);
        rest_.consume(used_size);
        rest_.release();
        if (used_size > 0) return {IoStatus::done, used_size};
        const std::span<const Datagram> datagrams = socket_.receive();
        if (datagrams.empty() && would_block(errno)) return {IoStatus::wants_read};
        if (datagrams.empty()) return fail_call(Reason::receive, "receiving failed:", errno);
        const auto put = [&](std::string_view bytes) {
            const std::size_t count = bytes.copy(to + used_size, size - used_size);
            used_size += count;
            rest_.append(bytes.substr(count));
        };
        for (const Datagram& each : datagrams) {
            const std::size_t length = each.bytes.size();
            const char prefix[] = {static_cast<char>(length >> 8), static_cast<char>(length)};
            put({prefix, sizeof prefix});
            put(each.bytes);
        }
        if (!is_connected_) {
            peer_ = datagrams.back().peer;
            local_ = datagrams.back().local;
        }
        return {IoStatus::done, used_size};
    }

    IoResult write(const char* from, std::size_t size) override {
        std::array<Packet, max_batch> packets;
        std::size_t count = 0;
        std::string_view frames(from, size);
        while (count < packets.size() && frames.size() >= prefix_size) {
            const std::size_t length = size_t{static_cast<unsigned char>(frames[0])} << 8 |
                                       static_cast<unsigned char>(frames[1]);
            if (frames.size() < prefix_size + length) break;
            packets[count++].bytes = frames.substr(prefix_size, length);
            frames.remove_prefix(prefix_size + length);
        }
        if (count == 0) return {IoStatus::wants_write};  // the stream passes the rest later
        if (!is_connected_)
            for (std::size_t i = 0; i < count; ++i) {
                packets[i].to = &peer_;
                packets[i].from = &local_;
            }
        std::size_t sent = socket_.send({packets.data(), count});
        if (sent == 0) {
            if (would_block(errno)) return {IoStatus::wants_write};
            const bool may_drop =
                !is_connected_ || errno == ENOBUFS || errno == ENOMEM || errno == EMSGSIZE;
            if (!may_drop) return fail_call(Reason::send, "sending failed:", errno);
            sent = 1;
        }
        const std::string_view last = packets[sent - 1].bytes;
        return {IoStatus::done, static_cast<std::size_t>(last.data() + last.size() - from)};
    }

    IoResult close_output() override { return {IoStatus::done}; }
    bool buffers_input() const override { return !rest_.empty(); }

private:
    static constexpr std::size_t prefix_size = 2;

    IoResult fail_call(Reason reason, const char* what, int code) {
        if (!is_peer_absent(code)) return fail(system_end(reason, what, code));
        End end = system_end(Reason::connect, "cannot connect to", code);
        end.detail.insert(0, peer_.text() + ": ");
        return fail(std::move(end));
    }

    PacketSocket socket_;
    Address& peer_;
    Address local_;  // if bound, the address that received the last datagram
    const bool is_connected_;
    Buffer rest_;  // received frames that did not fit into the space of read()
};

}  // namespace

Fd bound_datagram_socket(const Address& address) {
    return std::move(ListeningSocket(address, true).fd);
}

// The system's buffers must hold the traffic between two turns of the loop.
PacketSocket::PacketSocket(Fd socket)
    : socket_(std::move(socket)), address_(Address::of_socket(socket_.get())) {
    const int size = static_cast<int>(kernel_buffer_size);
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    if (address_.is_wildcard()) ask_for_local_address(socket_.get(), address_.family());
}

// Asking for more than one datagram costs the system a second attempt. So while calls return
// single datagrams, only every 16th call asks for more.
std::span<const Datagram> PacketSocket::receive() {
    Batch& batch = shared_batch();
    const std::size_t wanted_count = lone_receives_ % batch_interval == 0 ? max_batch : 1;
    for (std::size_t i = 0; i < wanted_count; ++i) {
        batch.parts[i] = {batch.slots.get() + i * slot_size, slot_size};
        msghdr& header = batch.headers[i].msg_hdr;
        header = {};
        header.msg_name = &batch.datagrams[i].peer.storage;
        header.msg_namelen = sizeof(sockaddr_storage);
        header.msg_iov = &batch.parts[i];
        header.msg_iovlen = 1;
        header.msg_control = batch.controls[i].bytes;
        header.msg_controllen = sizeof batch.controls[i].bytes;
    }
    const int count = receive_some(socket_.get(), batch.headers.data(), wanted_count);
    if (count < 0) return {};
    lone_receives_ = count == 1 ? lone_receives_ + 1 : 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
        Datagram& datagram = batch.datagrams[i];
        datagram.bytes = {batch.slots.get() + i * slot_size, batch.headers[i].msg_len};
        datagram.peer.size = batch.headers[i].msg_hdr.msg_namelen;
        datagram.local = address_;
        datagram.is_to_group = false;
        read_local_address(batch.headers[i].msg_hdr, datagram);
    }
    return {batch.datagrams.data(), static_cast<std::size_t>(count)};
}

std::size_t PacketSocket::send(std::span<const Packet> packets) {
    Batch& batch = shared_batch();
    const std::size_t count = std::min(packets.size(), max_batch);
    for (std::size_t i = 0; i < count; ++i) {
        const Packet& next = packets[i];
        batch.parts[i] = {const_cast<char*>(next.bytes.data()), next.bytes.size()};
        msghdr& header = batch.headers[i].msg_hdr;
        header = {};
        header.msg_iov = &batch.parts[i];
        header.msg_iovlen = 1;
        if (!next.to) continue;
        header.msg_name = const_cast<sockaddr_storage*>(&next.to->storage);
        header.msg_namelen = next.to->size;
        if (next.from && address_.is_wildcard())
            set_source(header, batch.controls[i], *next.from);
    }
    const int sent = send_some(socket_.get(), batch.headers.data(), count);
    return sent < 0 ? 0 : static_cast<std::size_t>(sent);
}

std::unique_ptr<Transport> make_packet_transport(Fd socket, Address& peer, bool is_connected) {
    return std::make_unique<PacketTransport>(std::move(socket), peer, is_connected);
}

}  // namespace bufio
