#pragma once

#include "ev/loop.hpp"
#include "ev/threads/mailbox.hpp"

#include <exception>
#include <functional>
#include <memory>
#include <thread>

namespace ev {

unsigned processor_count();  // processors that this process may use, at least 1

// Starts a thread with all signals blocked, so that the other threads handle them. Throws
// std::system_error if the system has no thread left.
std::thread start_thread(std::function<void()> work);

// A thread that runs its own loop. The loop and its objects belong to the creating thread until
// start(), and again after join(). An exception from a callback ends the thread and is rethrown
// by a turn of the owner's loop.
class LoopThread {
public:
    // `owner_mailbox` belongs to the creating thread's loop, and must outlive this object.
    explicit LoopThread(Mailbox& owner_mailbox);
    ~LoopThread() { join(); }
    LoopThread(const LoopThread&) = delete;

    Loop& loop() { return loop_; }

    void start();  // must be called only once
    // Once the thread has ended, tasks are dropped.
    void post(Mailbox::Task task) { mailbox_.post(std::move(task)); }
    // Ends the thread after the tasks posted earlier, and waits for it. The objects of its loop
    // must live until then.
    void join();

private:
    Mailbox& owner_mailbox_;
    Loop loop_;
    Mailbox mailbox_{loop_};
    // Allocated in advance, so that posting can't fail for lack of memory.
    Mailbox::TaskList stop_task_;
    Mailbox::TaskList report_task_;
    std::shared_ptr<std::exception_ptr> failure_;  // rethrown by the task in report_task_
    std::thread thread_;
};

}  // namespace ev
