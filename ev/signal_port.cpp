#include "ev/signal_port.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <mutex>
#include <system_error>
#include <utility>

namespace ev {

namespace {

// What the handler walks without a lock: links are added and reused, never removed.
struct Bell {
    std::atomic<int> fd;  // the writing end of a self-pipe; -1: unused
    Bell* next;
};
std::atomic<Bell*> bells;

struct Caught {
    std::atomic<unsigned> count;
    int users;
    struct sigaction before;  // the disposition to give back
};
std::array<Caught, NSIG> caught;

std::mutex changes;  // of all the above but the counts

Caught& at(int signo) { return caught[static_cast<std::size_t>(signo)]; }

void handle(int signo) {
    const int saved = errno;
    ++at(signo).count;
    for (const Bell* bell = bells; bell; bell = bell->next)
        if (const int fd = bell->fd; fd >= 0) [[maybe_unused]]
            const auto written = ::write(fd, "", 1);  // a full pipe wakes as well
    errno = saved;
}

Bell& find_bell(int fd) {
    for (Bell* bell = bells; bell; bell = bell->next)
        if (bell->fd == fd) return *bell;
    return *(bells = new Bell{-1, bells});
}

[[noreturn]] void fail(const char* what, int code = errno) {
    throw std::system_error(code, std::generic_category(), what);
}

}  // namespace

WakePipe::WakePipe() {
    if (::pipe(ends_) != 0) fail("pipe");
    for (const int end : ends_) {
        ::fcntl(end, F_SETFD, FD_CLOEXEC);
        ::fcntl(end, F_SETFL, O_NONBLOCK);
    }
    const std::lock_guard lock(changes);
    find_bell(-1).fd = ends_[1];
}

WakePipe::~WakePipe() {
    const std::lock_guard lock(changes);
    find_bell(ends_[1]).fd = -1;
    for (const int end : ends_) ::close(end);
}

void WakePipe::drain() {
    char bytes[512];
    while (::read(ends_[0], bytes, sizeof bytes) > 0) {
    }
}

CaughtSignal::CaughtSignal(int signo) : signo_(signo) {
    if (signo <= 0 || signo >= NSIG) fail("sigaction", EINVAL);
    const std::lock_guard lock(changes);
    seen_ = at(signo).count;
    if (at(signo).users == 0) {
        struct sigaction action {};
        action.sa_handler = handle;
        action.sa_flags = SA_RESTART;
        sigfillset(&action.sa_mask);
        if (::sigaction(signo, &action, &at(signo).before) != 0) fail("sigaction");
    }
    ++at(signo).users;
}

CaughtSignal::~CaughtSignal() {
    const std::lock_guard lock(changes);
    if (--at(signo_).users == 0) ::sigaction(signo_, &at(signo_).before, nullptr);
}

bool CaughtSignal::raised() {
    const unsigned count = at(signo_).count;
    return std::exchange(seen_, count) != count;
}

}  // namespace ev
