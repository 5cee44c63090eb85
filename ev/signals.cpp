#include "ev/signals.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace ev {

static constexpr int last_signo = 64;  // one for each bit of the set of raised signals

// By number, for the handler and for all loops of the process.
static std::atomic<Signals::Subscription*> subscriptions[last_signo + 1];

static std::uint64_t bit(int signo) { return std::uint64_t{1} << (signo - 1); }

[[noreturn]] static void fail(int reason, const char* call) {
    throw std::system_error(reason, std::generic_category(), call);
}

struct Signals::Pipe : Registration {
    explicit Pipe(Backend& watcher) : backend(watcher) {
        if (::pipe(ends) != 0) fail(errno, "pipe");
        for (const int end : ends) {
            ::fcntl(end, F_SETFD, FD_CLOEXEC);
            ::fcntl(end, F_SETFL, O_NONBLOCK);
        }
        fd = ends[0];
        Registration::callback = [this](Events) { drain(); };
    }
    ~Pipe() {
        backend.set(*this, none);
        for (const int end : ends) ::close(end);
    }
    void drain() const {
        char bytes[512];
        while (::read(fd, bytes, sizeof bytes) > 0) {
        }
    }
    Backend& backend;
    int ends[2];
};

void Signals::handle(int signo) {
    const int saved = errno;
    const Subscription& subscription = *subscriptions[signo];
    subscription.owner->raised_ |= bit(signo);
    // A full pipe refuses the byte, and ends the wait as well.
    [[maybe_unused]] const auto written = ::write(subscription.pipe->ends[1], "", 1);
    errno = saved;
}

void Signals::begin(Subscription& subscription) {
    const int signo = subscription.signo;
    if (signo < 1 || signo > last_signo) fail(EINVAL, "sigaction");
    std::shared_ptr<Pipe> pipe = pipe_.lock();
    if (!pipe) pipe = std::make_shared<Pipe>(backend_);
    backend_.set(*pipe, readable);
    subscription.owner = this;
    subscription.pipe = pipe;

    Subscription* other = nullptr;
    if (!subscriptions[signo].compare_exchange_strong(other, &subscription))
        fail(EBUSY, "another Signal has this number");
    struct sigaction action {};
    action.sa_handler = handle;
    action.sa_flags = SA_RESTART;
    sigfillset(&action.sa_mask);
    if (::sigaction(signo, &action, &subscription.before) != 0) {
        subscriptions[signo] = nullptr;
        fail(errno, "sigaction");
    }
    pipe_ = pipe;
}

void Signals::end(const Subscription& subscription) {
    ::sigaction(subscription.signo, &subscription.before, nullptr);
    subscriptions[subscription.signo] = nullptr;
    take(subscription.signo);
}

bool Signals::take(int signo) { return raised_.fetch_and(~bit(signo)) & bit(signo); }

void Signals::deliver() {
    const std::uint64_t due = raised_;  // what is raised from now on waits for the next turn
    for (int signo = 1; due != 0 && signo <= last_signo; ++signo)
        if ((due & bit(signo)) && take(signo)) subscriptions[signo].load()->callback();
}

}  // namespace ev
