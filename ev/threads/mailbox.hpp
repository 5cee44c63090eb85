// Tasks for a loop from other threads: the one thing of a loop that any thread may use.
#pragma once

#include "ev/loop.hpp"
#include "ev/pipe.hpp"

#include <functional>
#include <list>
#include <mutex>

namespace ev {

// Calls back for each task from its loop, in the order of posting, one task a turn, so that
// many of them don't starve the descriptors. While it lives, its loop has something to wait
// for.
//
// A task may destroy the mailbox; those that are left are then dropped, as by its destructor.
// No thread may post any more by that time. An exception from a task passes through the loop's
// turn; the next turn serves the rest. A turn throws std::system_error if the system stops
// watching for the mailbox, as if the limit of descriptors was lowered.
class Mailbox {
public:
    using Task = std::function<void()>;

    // Belongs to the loop's thread. Throws std::system_error if there are no descriptors left.
    explicit Mailbox(Loop& loop);

    // May be called from any thread. All that its thread did before is seen by the task.
    void post(Task task);

    // The same with a list that was made before: takes no memory, and so can't fail.
    using Prepared = std::list<Task>;
    void post(Prepared prepared) noexcept;

private:
    Task take();

    Pipe pipe_;  // contains a byte while there are tasks
    std::mutex mutex_;
    std::list<Task> tasks_;
    Watch watch_;
};

}  // namespace ev
