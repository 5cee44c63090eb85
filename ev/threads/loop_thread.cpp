#include "ev/threads/loop_thread.hpp"

#include "ev/system.hpp"

#if EV_HAS_AFFINITY
#    include <sched.h>
#endif
#include <signal.h>

#include <algorithm>
#include <utility>

namespace ev {

unsigned processor_count() {
#if EV_HAS_AFFINITY
    cpu_set_t allowed;
    if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0)
        return static_cast<unsigned>(std::max(CPU_COUNT(&allowed), 1));
#endif
    return std::max(std::thread::hardware_concurrency(), 1U);
}

namespace {

// Blocks all signals for its lifetime. A thread started meanwhile inherits the mask.
class AllSignalsBlocked {
public:
    AllSignalsBlocked() {
        sigset_t all;
        sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~AllSignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    AllSignalsBlocked(const AllSignalsBlocked&) = delete;
    AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;

private:
    sigset_t before_;
};

}  // namespace

std::thread start_thread(std::function<void()> work) {
    const AllSignalsBlocked blocked;
    return std::thread(std::move(work));
}

LoopThread::LoopThread(Mailbox& owner)
    : owner_(owner), failure_(std::make_shared<std::exception_ptr>()) {
    stop_task_.emplace_back([this] { loop_.stop(); });
    report_task_.emplace_back([failure = failure_] { std::rethrow_exception(*failure); });
}

void LoopThread::start() {
    thread_ = start_thread([this] { run(); });
}

void LoopThread::run() {
    try {
        loop_.run();
    } catch (...) {
        *failure_ = std::current_exception();
        owner_.post(std::move(report_task_));
    }
}

void LoopThread::join() {
    if (!thread_.joinable()) return;
    mailbox_.post(std::move(stop_task_));
    thread_.join();
}

}  // namespace ev
