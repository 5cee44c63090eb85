#include "tests/bufio/packet_system.hpp"

#include "bufio/system.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace test {

namespace {
PacketFaults* current = nullptr;

// Returns the number of datagrams that the call may move; 0 with errno set if it fails.
unsigned allowed(std::size_t& calls, const std::function<long(std::size_t)>& fault,
                 unsigned count) {
    ++calls;
    const long result = fault ? fault(count) : static_cast<long>(count);
    if (result < 0) errno = static_cast<int>(-result);
    return result < 0 ? 0 : std::min(count, static_cast<unsigned>(result));
}

unsigned allowed_receive(unsigned count) {
    return current ? allowed(current->receive_calls, current->receive, count) : count;
}
unsigned allowed_send(unsigned count) {
    return current ? allowed(current->send_calls, current->send, count) : count;
}
}  // namespace

PacketFaults::PacketFaults() { current = this; }
PacketFaults::~PacketFaults() { current = nullptr; }

}  // namespace test

extern "C" {

ssize_t __real_recvmsg(int fd, msghdr* to, int flags);
ssize_t __wrap_recvmsg(int fd, msghdr* to, int flags);
ssize_t __wrap_recvmsg(int fd, msghdr* to, int flags) {
    return test::allowed_receive(1) == 0 ? -1 : __real_recvmsg(fd, to, flags);
}

ssize_t __real_sendmsg(int fd, const msghdr* from, int flags);
ssize_t __wrap_sendmsg(int fd, const msghdr* from, int flags);
ssize_t __wrap_sendmsg(int fd, const msghdr* from, int flags) {
    return test::allowed_send(1) == 0 ? -1 : __real_sendmsg(fd, from, flags);
}

#if BUFIO_HAS_MMSG
int __real_recvmmsg(int fd, mmsghdr* to, unsigned count, int flags, timespec* timeout);
int __wrap_recvmmsg(int fd, mmsghdr* to, unsigned count, int flags, timespec* timeout);
int __wrap_recvmmsg(int fd, mmsghdr* to, unsigned count, int flags, timespec* timeout) {
    const unsigned some = test::allowed_receive(count);
    return some == 0 ? -1 : __real_recvmmsg(fd, to, some, flags, timeout);
}

int __real_sendmmsg(int fd, mmsghdr* from, unsigned count, int flags);
int __wrap_sendmmsg(int fd, mmsghdr* from, unsigned count, int flags);
int __wrap_sendmmsg(int fd, mmsghdr* from, unsigned count, int flags) {
    const unsigned some = test::allowed_send(count);
    return some == 0 ? -1 : __real_sendmmsg(fd, from, some, flags);
}
#endif

}  // extern "C"
