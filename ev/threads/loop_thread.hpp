// Additional threads, each with a loop of its own.
#pragma once

#include "ev/loop.hpp"
#include "ev/threads/mailbox.hpp"

#include <exception>
#include <functional>
#include <memory>
#include <thread>

namespace ev {

// Returns the number of processors that this process may use, at least 1.
unsigned processor_count();

// Starts a thread with all signals blocked, because the main loop handles the signals of the
// program. Throws std::system_error if the system has no thread left.
std::thread start_thread(std::function<void()> work);

// A thread that runs its own loop. The loop and its objects belong to the creating thread
// until start(), then to the new thread, and after join() to the creating thread again. So the
// creator can set up the work before the thread starts and read the results after it has
// ended, both without a lock.
//
// An exception from a callback ends the thread and is rethrown by a turn of the owner's loop.
class LoopThread {
public:
    // `owner` is the mailbox of the creating thread's loop, and must outlive this object.
    explicit LoopThread(Mailbox& owner);
    ~LoopThread() { join(); }
    LoopThread(const LoopThread&) = delete;

    Loop& loop() { return loop_; }

    // Starts the thread. Must be called only once.
    void start();
    // Runs the task in the thread, as Mailbox does. May be called from any thread. A thread
    // that has ended runs no more tasks.
    void post(Mailbox::Task task) { mailbox_.post(std::move(task)); }
    // Waits until all tasks posted earlier are done and the thread has ended. The objects of
    // its loop must live until then. May be called again.
    void join();

private:
    Mailbox& owner_;
    Loop loop_;
    Mailbox mailbox_{loop_};
    // Allocated in advance, so that posting can't fail for lack of memory.
    Mailbox::Prepared stop_task_;
    Mailbox::Prepared report_task_;
    std::shared_ptr<std::exception_ptr> failure_;  // rethrown by the task in report_task_
    std::thread thread_;
};

}  // namespace ev
