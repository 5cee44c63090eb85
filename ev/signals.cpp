#include "ev/signals.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <mutex>
#include <system_error>
#include <utility>

namespace ev {

// The handler walks the list of these without a lock: they are added and used again, but never
// removed.
struct SignalSubscription {
    std::atomic<int> signo;  // or `unused`, or `ended`
    std::atomic<int> pipe;   // the end that the handler writes to
    std::atomic<bool> raised;
    struct sigaction before;  // the disposition to restore
    std::function<void()> callback;
    SignalSubscription* next;
};

static constexpr int unused = 0;
static constexpr int ended = -1;  // its callback is still to be destroyed

static std::atomic<SignalSubscription*> all_subscriptions;
static std::mutex mutex;  // held while they change

static SignalSubscription* find(int signo) {
    SignalSubscription* each = all_subscriptions;
    while (each && each->signo != signo) each = each->next;
    return each;
}

static void handle(int signo) {
    const int saved = errno;
    for (SignalSubscription* each = all_subscriptions; each; each = each->next) {
        if (each->signo != signo) continue;
        each->raised = true;
        // A full pipe refuses the byte, and ends the wait as well.
        [[maybe_unused]] const auto written = ::write(each->pipe, "", 1);
    }
    errno = saved;
}

[[noreturn]] static void fail(const char* call) {
    throw std::system_error(errno, std::generic_category(), call);
}

static struct sigaction set_handler(int signo) {
    struct sigaction action {};
    struct sigaction before {};
    action.sa_handler = handle;
    action.sa_flags = SA_RESTART;
    sigfillset(&action.sa_mask);
    if (::sigaction(signo, &action, &before) != 0) fail("sigaction");
    return before;
}

static SignalSubscription* find_or_add_unused() {
    if (SignalSubscription* const found = find(unused)) return found;
    auto* const added = new SignalSubscription{};
    added->next = all_subscriptions;
    all_subscriptions = added;
    return added;
}

struct Signals::Pipe : Registration {
    explicit Pipe(Backend& watcher) : backend(watcher) {
        if (::pipe(ends) != 0) fail("pipe");
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

Signals::Signals(Backend& backend) : backend_(backend) {}
Signals::~Signals() = default;

SignalSubscription* Signals::subscribe(int signo, std::function<void()> callback) {
    std::unique_ptr<Pipe> fresh;
    if (!pipe_) fresh = std::make_unique<Pipe>(backend_);
    Pipe& pipe = fresh ? *fresh : *pipe_;
    backend_.set(pipe, readable);
    subscriptions_.reserve(subscriptions_.size() + 1);

    const std::lock_guard lock(mutex);
    SignalSubscription* const subscription = find_or_add_unused();
    const struct sigaction before = set_handler(signo);
    const SignalSubscription* const other = find(signo);
    subscription->before = other ? other->before : before;
    subscription->pipe = pipe.ends[1];
    subscription->raised = false;
    subscription->callback = std::move(callback);
    subscription->signo = signo;  // last, because it is what the handler looks for
    subscriptions_.push_back(subscription);
    if (fresh) pipe_ = std::move(fresh);
    ++size_;
    return subscription;
}

void Signals::unsubscribe(SignalSubscription* subscription) {
    const std::lock_guard lock(mutex);
    const int signo = subscription->signo.exchange(ended);
    subscription->raised = false;
    if (!find(signo)) ::sigaction(signo, &subscription->before, nullptr);
    --size_;
}

bool Signals::any_raised() const {
    for (const SignalSubscription* const each : subscriptions_)
        if (each->raised) return true;
    return false;
}

void Signals::deliver() {
    if (!raised()) return;
    const std::size_t count = subscriptions_.size();  // later ones wait for the next turn
    for (std::size_t i = 0; i < count; ++i)
        if (subscriptions_[i]->raised.exchange(false)) subscriptions_[i]->callback();
}

// Destroying a callback can end further signals, and so call this again.
void Signals::sweep() {
    while (size_ < subscriptions_.size()) {
        const auto first = std::find_if(subscriptions_.begin(), subscriptions_.end(),
                                        [](auto* each) { return each->signo == ended; });
        SignalSubscription& subscription = **first;
        subscriptions_.erase(first);
        const auto callback = std::exchange(subscription.callback, nullptr);
        subscription.signo = unused;
    }
    if (subscriptions_.empty()) pipe_.reset();
}

}  // namespace ev
