#include "ev/mailbox.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace ev {

Mailbox::Mailbox(Loop& loop) {
    if (::pipe(ends_) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    for (const int end : ends_) {
        ::fcntl(end, F_SETFD, FD_CLOEXEC);
        ::fcntl(end, F_SETFL, O_NONBLOCK);
    }
    try {
        watch_ = Watch(loop, ends_[0], readable, [this](Events) { take()(); });
    } catch (...) {
        for (const int end : ends_) ::close(end);
        throw;
    }
}

Mailbox::~Mailbox() {
    watch_ = {};
    for (const int end : ends_) ::close(end);
}

void Mailbox::post(Task task) {
    Prepared one;
    one.push_back(std::move(task));
    post(std::move(one));
}

void Mailbox::post(Prepared prepared) noexcept {
    if (prepared.empty()) return;
    const std::lock_guard lock(mutex_);
    if (tasks_.empty()) wake();
    tasks_.splice(tasks_.end(), prepared);
}

// The pipe is empty, or it would hold the byte of an earlier task, and so it has space.
void Mailbox::wake() const {
    while (::write(ends_[1], "", 1) < 0 && errno == EINTR) {
    }
}

// The byte stays in the pipe while a task is left, for the next turn.
Mailbox::Task Mailbox::take() {
    const std::lock_guard lock(mutex_);
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    char byte;
    while (tasks_.empty() && ::read(ends_[0], &byte, 1) < 0 && errno == EINTR) {
    }
    return task;
}

}  // namespace ev
