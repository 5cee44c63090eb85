#pragma once

#include "ev/fd.hpp"
#include "ev/loop.hpp"

#include <functional>
#include <list>
#include <mutex>

namespace ev {

// Runs each task from its loop, in the order of posting, one task a turn, so that many tasks
// don't starve the descriptors. While a mailbox exists, its loop has something to wait for.
//
// A task may destroy the mailbox; the destructor drops the remaining tasks. No thread may post
// from then on. A turn throws std::system_error if the system can no longer watch the mailbox.
class Mailbox {
public:
    using Task = std::function<void()>;

    // Must be made and destroyed in the loop's thread. Throws std::system_error.
    explicit Mailbox(Loop& loop);

    void post(Task task);              // may be called from any thread
    using TaskList = std::list<Task>;  // made in advance, so that posting allocates nothing
    void post(TaskList tasks) noexcept;

private:
    Task take_task();

    Pipe pipe_;  // not empty while there are tasks
    std::mutex mutex_;
    TaskList tasks_;
    Watch watch_;
};

}  // namespace ev
