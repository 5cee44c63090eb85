#include "ev/threads/mailbox.hpp"

#include <utility>

namespace ev {

Mailbox::Mailbox(Loop& loop)
    : watch_(loop, pipe_.fd(), readable, [this](Events events) {
          if (events & error) fail(EBADF, "poll");  // else no task would ever run again
          take()();
      }) {}

void Mailbox::post(Task task) {
    Prepared one;
    one.push_back(std::move(task));
    post(std::move(one));
}

void Mailbox::post(Prepared prepared) noexcept {
    if (prepared.empty()) return;
    const std::lock_guard lock(mutex_);
    if (tasks_.empty()) pipe_.wake();
    tasks_.splice(tasks_.end(), prepared);
}

// The byte stays in the pipe while tasks are left, so that the next turn does not sleep.
Mailbox::Task Mailbox::take() {
    const std::lock_guard lock(mutex_);
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    if (tasks_.empty()) pipe_.drain();
    return task;
}

}  // namespace ev
