// Further threads of a program, each with a loop of its own.
#pragma once

#include "ev/loop.hpp"
#include "ev/threads/mailbox.hpp"

#include <exception>
#include <functional>
#include <memory>
#include <thread>

namespace ev {

// Returns on how many processors this process may run, at least 1.
unsigned processors();

// Starts a thread that blocks all signals, because those of the program belong to its loop.
// Throws std::system_error where the system has no thread left.
std::thread start_thread(std::function<void()> work);

// A thread that makes the turns of its own loop. The loop and its objects belong to the thread
// that made this until start(), then to the new thread, and after join() to the former again:
// so what the new thread has to do can be made before it starts, and what came of it can be
// read when it has ended, both without a lock.
//
// An exception from a callback ends the thread, and is thrown again by a turn of the owner's
// loop.
class LoopThread {
public:
    // The mailbox of the loop of the thread that makes this; it outlives this.
    explicit LoopThread(Mailbox& owner);
    ~LoopThread() { join(); }
    LoopThread(const LoopThread&) = delete;
    LoopThread& operator=(const LoopThread&) = delete;

    Loop& loop() { return loop_; }

    // `turn_ended` is called in the thread after each of its turns. To be called once.
    void start(std::function<void()> turn_ended = [] {});
    // Calls the task in the thread, as Mailbox does. May be called from any thread; a thread
    // that has ended calls nothing more.
    void post(Mailbox::Task task) { mailbox_.post(std::move(task)); }
    // Waits until all that was posted before is done, and the thread has ended. The objects of
    // its loop must stay alive until then. May be called again.
    void join();

private:
    void run();

    Mailbox& owner_;
    Loop loop_;
    Mailbox mailbox_{loop_};
    // Both are made before they are needed, so that neither can fail for want of memory.
    Mailbox::Prepared stop_;
    Mailbox::Prepared report_;
    std::shared_ptr<std::exception_ptr> failure_;  // for the task of the report
    std::function<void()> turn_ended_;
    std::thread thread_;
};

}  // namespace ev
