#include "ev/signal_port.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <system_error>

namespace ev {

namespace {

// The ports that the handler serves: a fixed array of atomics, because a handler may not lock.
std::array<std::atomic<SignalPort*>, 16> ports;

std::mutex dispositions;  // guards the two below
std::array<struct sigaction, NSIG> before;
std::array<int, NSIG> users;

[[noreturn]] void fail(const char* what, int code = errno) {
    throw std::system_error(code, std::generic_category(), what);
}

void open_pipe(int (&ends)[2]) {
    if (::pipe(ends) != 0) fail("pipe");
    for (const int end : ends) {
        ::fcntl(end, F_SETFD, FD_CLOEXEC);
        ::fcntl(end, F_SETFL, O_NONBLOCK);
    }
}

}  // namespace

SignalPort::SignalPort() {
    open_pipe(pipe_);
    for (auto& port : ports) {
        SignalPort* vacant = nullptr;
        if (port.compare_exchange_strong(vacant, this)) return;
    }
    ::close(pipe_[0]);
    ::close(pipe_[1]);
    fail("more loops with signals than ports", EAGAIN);
}

SignalPort::~SignalPort() {
    for (auto& port : ports) {
        SignalPort* self = this;
        port.compare_exchange_strong(self, nullptr);
    }
    ::close(pipe_[0]);
    ::close(pipe_[1]);
}

void SignalPort::use(int signo) {
    if (signo <= 0 || signo >= NSIG) fail("sigaction", EINVAL);
    const auto at = static_cast<std::size_t>(signo);
    const std::lock_guard lock(dispositions);
    if (users[at] == 0) {
        struct sigaction action {};
        action.sa_handler = handle;
        action.sa_flags = SA_RESTART;
        sigfillset(&action.sa_mask);
        if (::sigaction(signo, &action, &before[at]) != 0) fail("sigaction");
    }
    ++users[at];
    ++uses_[at];
    wanted_[at] = true;
}

void SignalPort::release(int signo) {
    const auto at = static_cast<std::size_t>(signo);
    const std::lock_guard lock(dispositions);
    if (--users[at] == 0) ::sigaction(signo, &before[at], nullptr);
    if (--uses_[at] != 0) return;
    wanted_[at] = false;
    pending_[at] = false;
}

void SignalPort::acknowledge() {
    char bytes[64];
    while (::read(pipe_[0], bytes, sizeof bytes) > 0) {
    }
    raised_ = false;  // only now: a signal in between finds its flag taken or writes a new byte
}

bool SignalPort::take(int signo) {
    return pending_[static_cast<std::size_t>(signo)].exchange(false);
}

void SignalPort::handle(int signo) {
    const int saved = errno;
    for (auto& port : ports)
        if (SignalPort* const to = port) to->raise(signo);
    errno = saved;
}

void SignalPort::raise(int signo) {
    const auto at = static_cast<std::size_t>(signo);
    if (!wanted_[at]) return;
    pending_[at] = true;
    if (!raised_.exchange(true)) [[maybe_unused]]
        const auto woken = ::write(pipe_[1], "", 1);
}

}  // namespace ev
