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

// The new thread inherits the mask, in which all signals are blocked.
std::thread start_thread(std::function<void()> work) {
    sigset_t all;
    sigset_t old_mask;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &old_mask);
    const auto restore = [](const sigset_t* mask) {
        ::pthread_sigmask(SIG_SETMASK, mask, nullptr);
    };
    const std::unique_ptr<const sigset_t, decltype(restore)> at_end(&old_mask, restore);
    return std::thread(std::move(work));
}

Mailbox::Mailbox(Loop& loop)
    : watch_(loop, pipe_.fd(), readable, [this](Events events) {
          if (events & error) throw_error(EBADF, "poll");  // otherwise no task would run again
          take_task()();
      }) {}

void Mailbox::post(Task task) {
    TaskList tasks;
    tasks.push_back(std::move(task));
    post(std::move(tasks));
}

void Mailbox::post(TaskList tasks) noexcept {
    if (tasks.empty()) return;
    const std::lock_guard lock(mutex_);
    if (tasks_.empty()) pipe_.wake();
    tasks_.splice(tasks_.end(), tasks);
}

// The byte stays in the pipe while tasks are left, so that the next turn does not sleep.
Mailbox::Task Mailbox::take_task() {
    const std::lock_guard lock(mutex_);
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    if (tasks_.empty()) pipe_.drain();
    return task;
}

// --- LoopThread.

LoopThread::LoopThread(Mailbox& owner_mailbox)
    : owner_mailbox_(owner_mailbox), failure_(std::make_shared<std::exception_ptr>()) {
    stop_task_.emplace_back([this] { loop_.stop(); });
    report_task_.emplace_back([failure = failure_] { std::rethrow_exception(*failure); });
}

void LoopThread::start() {
    thread_ = start_thread([this] {
        try {
            loop_.run();
        } catch (...) {
            *failure_ = std::current_exception();
            owner_mailbox_.post(std::move(report_task_));
        }
    });
}

void LoopThread::join() {
    if (!thread_.joinable()) return;
    mailbox_.post(std::move(stop_task_));
    thread_.join();
}

}  // namespace ev
