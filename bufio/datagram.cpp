#include "bufio/datagram.hpp"

#include "bufio/datagram_calls.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <new>
#include <system_error>
#include <utility>

namespace bufio {

namespace {

constexpr std::size_t max_batch = 64;                   // datagrams
constexpr unsigned batch_interval = 16;                 // see DatagramSocket::receive()
constexpr std::size_t slot_size = 64 * 1024;            // bytes; exceeds any datagram
constexpr std::size_t kernel_buffer = 4 * 1024 * 1024;  // requested; the system caps it
constexpr ev::Duration receive_pause = std::chrono::seconds(1);

// Maximum memory, in bytes, that an empty queue retains.
constexpr std::size_t max_empty_capacity = 256 * 1024;

// --- The arguments of the system calls, and the receive buffer. All sockets of a thread share
// them, because their contents are needed only until the user has been notified of the received
// datagrams.

// The headers of one call.
struct Headers {
    std::array<DatagramHeader, max_batch> headers{};
    std::array<iovec, max_batch> parts{};
    std::array<DatagramControl, max_batch> controls{};
};

struct Arguments {
    // Prepares the headers for receiving. Each header is prepared again after its use.
    Arguments() {
        for (std::size_t i = 0; i < max_batch; ++i) {
            msghdr& header = in.headers[i].msg_hdr;
            in.parts[i] = {slot(i), slot_size};
            header.msg_iov = &in.parts[i];
            header.msg_iovlen = 1;
            header.msg_name = &datagrams[i].peer.storage;
            header.msg_control = in.controls[i].bytes;
            prepare(header);
        }
    }
    static void prepare(msghdr& header) {
        header.msg_namelen = sizeof(sockaddr_storage);
        header.msg_controllen = sizeof(DatagramControl::bytes);
    }
    char* slot(std::size_t i) const { return bytes.get() + i * slot_size; }
    std::span<const Datagram> received(std::size_t count, const Address& own) {
        for (std::size_t i = 0; i < count; ++i) {
            msghdr& header = in.headers[i].msg_hdr;
            Datagram& datagram = datagrams[i];
            datagram.bytes = {slot(i), in.headers[i].msg_len};
            datagram.peer.size = header.msg_namelen;
            datagram.local = own;
            datagram.to_group = false;
            read_local_address(header, datagram);
            prepare(header);
        }
        return {datagrams.data(), count};
    }

    Headers in;
    Headers out;
    // Unused slots take no memory, because their pages are never touched.
    const std::unique_ptr<char[]> bytes{new char[max_batch * slot_size]};
    std::array<Datagram, max_batch> datagrams;
};

// Returns the thread's Arguments, created on demand.
Arguments& arguments() {
    static thread_local const auto all = std::make_unique<Arguments>();
    return *all;
}

// --- Sockets and errors.

[[noreturn]] void refuse_port(const Address& address) {
    throw std::system_error(errno, std::generic_category(),
                            "cannot listen on udp " + address.text());
}

bool would_block(int code) { return code == EAGAIN || code == EWOULDBLOCK; }

// True for errors that mean that the peer is absent: an ICMP error, or no route to it.
bool is_peer_absent(int code) {
    switch (code) {
    case ECONNREFUSED:
    case EHOSTUNREACH:
    case EHOSTDOWN:
    case ENETUNREACH:
    case ENETDOWN:
    case ENOPROTOOPT:
    case EACCES: return true;
    default: return false;
    }
}

}  // namespace

Fd bound_datagram_socket(const Address& address) {
    Fd socket = open_datagram_socket(address.family());
    if (!socket || !bind_socket(socket.get(), address)) refuse_port(address);
    return socket;
}

DatagramSocket::DatagramSocket(ev::Loop& loop, Fd connected, User& user, Limits limits)
    : DatagramSocket(loop, std::move(connected), {}, user, limits, true) {}

DatagramSocket::DatagramSocket(ev::Loop& loop, const Address& address, User& user,
                               Limits limits)
    : DatagramSocket(loop, bound_datagram_socket(address), address, user, limits, false) {}

DatagramSocket::DatagramSocket(ev::Loop& loop, Fd socket, const Address& address, User& user,
                               Limits limits, bool connected)
    : socket_(std::move(socket)),
      user_(user),
      limits_{limits.output, std::clamp<std::size_t>(limits.batch, 1, max_batch)},
      connected_(connected),
      bound_to_wildcard_(address.is_wildcard()),
      resume_timer_(loop, [this] { update_interest(); }),
      end_timer_(loop, [this] { notify_of_end(); }),
      watch_(loop, socket_.get(), ev::readable, [this](ev::Events e) { on_events(e); }) {
    // A bound socket whose port is unknown is useless, because nobody could send to it. The
    // address of a connected socket may be unknown.
    address_ = Address::of_socket(socket_.get());
    if (!connected && address_.family() == AF_UNSPEC) refuse_port(address);
    if (connected) {
        peer_.size = sizeof peer_.storage;
        ::getpeername(socket_.get(), reinterpret_cast<sockaddr*>(&peer_.storage), &peer_.size);
    }
    // The system's buffers must hold the traffic between two turns of the loop.
    const int size = static_cast<int>(kernel_buffer);
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    if (bound_to_wildcard_) ask_for_local_address(socket_.get(), address_.family());
}

bool DatagramSocket::send(std::string_view bytes, const Address& to, const Address& from) {
    Queued* const queued = queue(bytes);
    if (!queued) return false;
    queued->to = to;
    queued->from = from;
    return true;
}

// Returns null if the datagram is too long, the queue lacks space or the socket has ended.
// Reserves the entry first, so that a std::bad_alloc changes neither queue_ nor bytes_.
DatagramSocket::Queued* DatagramSocket::queue(std::string_view bytes) {
    const std::size_t used = bytes_.size() + pending() * sizeof(Queued);
    if (end_ || bytes.size() > max_datagram ||
        used + bytes.size() + sizeof(Queued) > limits_.output)
        return nullptr;
    if (queue_begin_ > 0 && queue_begin_ >= pending()) {
        queue_.erase(queue_.begin(),
                     queue_.begin() + static_cast<std::ptrdiff_t>(queue_begin_));
        queue_begin_ = 0;
    }
    if (queue_.size() == queue_.capacity())
        queue_.reserve(std::max<std::size_t>(2 * queue_.size(), 4));
    bytes_.append(bytes);
    Queued& queued = queue_.emplace_back();
    queued.size = bytes.size();
    return &queued;
}

void DatagramSocket::flush() {
    write_queue();
    if (end_ && !end_timer_.pending()) end_timer_.start(ev::Duration::zero());
    update_interest();
}

void DatagramSocket::pause_reading(bool paused) {
    paused_ = paused;
    update_interest();
}

// Writes the queue first, to make space for the answers to the datagrams that receive() reads.
// receive() also detects an error of the socket. While reading is paused, this function detects
// it.
void DatagramSocket::on_events(ev::Events events) {
    const std::weak_ptr<void> life = lifetime_.watch();
    if (blocked_ && (events & ev::writable)) {
        blocked_ = false;
        write_queue();
        if (!end_ && pending() == 0) user_.datagrams_written();
        if (life.expired()) return;
    }
    if (!end_ && !paused_ && (events & ~ev::writable)) receive();
    if (life.expired()) return;
    if (!end_ && pending() > 0) write_queue();
    if (!end_ && paused_ && (events & ev::error))
        receive_failed(pending_socket_error(socket_.get()));
    if (end_) return notify_of_end();
    update_interest();
}

// Asking for more than one datagram costs the system a second attempt. So after a call that
// returned a single datagram, only every 16th call asks for more. Calls the user last, because
// it may destroy the socket.
void DatagramSocket::receive() {
    Arguments& all = arguments();
    const std::size_t max_count = lone_receives_ % batch_interval == 0 ? limits_.batch : 1;
    const int count = receive_some(socket_.get(), all.in.headers.data(), max_count);
    if (count < 0) return receive_failed(errno);
    lone_receives_ = count == 1 ? lone_receives_ + 1 : 0;
    user_.datagrams_received(all.received(static_cast<std::size_t>(count), address_));
}

void DatagramSocket::receive_failed(int code) {
    if (code == 0 || code == EINTR || would_block(code)) return;
    if (!connected_) return resume_timer_.start(receive_pause);
    End end = system_end(Reason::receive, "receiving failed:", code);
    if (is_peer_absent(code)) {
        end = system_end(Reason::connect, "cannot connect to", code);
        end.detail.insert(0, peer_.text() + ": ");
    }
    end_with(std::move(end));
}

void DatagramSocket::write_queue() {
    while (!end_ && !blocked_ && pending() > 0) {
        const std::size_t count = write_some();
        for (std::size_t i = 0; i < count; ++i) bytes_.consume(queue_[queue_begin_ + i].size);
        queue_begin_ += count;
        dequeued_ += count;
    }
    if (pending() > 0) return;
    queue_.clear();
    queue_begin_ = 0;
    if (bytes_.capacity() > max_empty_capacity) bytes_.release();
}

// Passes a batch to the system. Returns the number of datagrams that leave the queue.
std::size_t DatagramSocket::write_some() {
    Headers& out = arguments().out;
    const std::size_t count = std::min(pending(), limits_.batch);
    const char* bytes = bytes_.view().data();
    for (std::size_t i = 0; i < count; ++i) {
        const Queued& next = queue_[queue_begin_ + i];
        out.parts[i] = {const_cast<char*>(bytes), next.size};
        bytes += next.size;
        msghdr& header = out.headers[i].msg_hdr;
        header = {};
        header.msg_iov = &out.parts[i];
        header.msg_iovlen = 1;
        if (connected_) continue;
        header.msg_name = const_cast<sockaddr_storage*>(&next.to.storage);
        header.msg_namelen = next.to.size;
        if (bound_to_wildcard_ && !next.from.is_wildcard())
            set_source(header, out.controls[i], next.from);
    }
    const int sent = send_some(socket_.get(), out.headers.data(), count);
    return sent < 0 ? write_refused(errno) : static_cast<std::size_t>(sent);
}

// Handles a refusal of the first datagram. Some errors concern only this datagram. Returns the
// number of datagrams that leave the queue.
std::size_t DatagramSocket::write_refused(int code) {
    if (code == EINTR) return 0;
    if (would_block(code)) blocked_ = true;
    if (blocked_) return 0;
    ++refused_;
    if (!connected_ || code == ENOBUFS || code == ENOMEM || code == EMSGSIZE) return 1;
    if (is_peer_absent(code)) {
        receive_failed(code);
    } else {
        end_with(system_end(Reason::send, "sending failed:", code));
    }
    return 1;
}

void DatagramSocket::end_with(End end) {
    end_ = std::move(end);
    update_interest();
}

void DatagramSocket::notify_of_end() {
    end_timer_.cancel();
    user_.datagrams_ended();
}

// A connected socket watches for errors even while it is paused.
void DatagramSocket::update_interest() {
    if (end_) return watch_.want(ev::none);
    const bool reads = !paused_ && !resume_timer_.pending();
    ev::Events wanted = connected_ ? ev::hangup : ev::none;
    if (reads) wanted |= ev::readable;
    if (blocked_) wanted |= ev::writable;
    watch_.want(wanted);
}

}  // namespace bufio
