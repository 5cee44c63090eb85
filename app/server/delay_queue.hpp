// Replies that faults hold back, in the order in which they are due.
#pragma once

#include "ev/loop.hpp"

#include <cstddef>
#include <map>
#include <utility>

namespace yodel {

// A `Reply` has its payload in a string, `bytes`.
template <class Reply>
class DelayQueue {
public:
    bool empty() const { return replies_.empty(); }
    // Bytes of memory that the replies take.
    std::size_t memory() const { return memory_; }
    static std::size_t memory_of(const Reply& reply) {
        return sizeof reply + reply.bytes.size();
    }

    // Replies that are due at the same time keep their order.
    void push(Reply reply, ev::Time due) {
        memory_ += memory_of(reply);
        replies_.emplace(due, std::move(reply));
    }

    // The following functions are for a queue that is not empty.
    ev::Time first_due() const { return replies_.begin()->first; }
    ev::Time last_due() const { return replies_.rbegin()->first; }
    Reply& front() { return replies_.begin()->second; }
    Reply pop() {
        Reply reply = std::move(replies_.extract(replies_.begin()).mapped());
        memory_ -= memory_of(reply);
        return reply;
    }

private:
    std::multimap<ev::Time, Reply> replies_;
    std::size_t memory_ = 0;
};

}  // namespace yodel
