// Follows the messages in the bytes of a connection without keeping them: for logs, and for
// time limits on a message.
#pragma once

#include "app/protocol/framing.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace yodel {

// Pure. The caller passes every byte once, in order, in pieces of any size; the time is linear.
// Without frames there are no messages, and bytes before the head of a frame belong to none.
class MessageTracker {
public:
    // Keeps the first `head` bytes of each message, for the log.
    MessageTracker(const Framing& framing, std::size_t head)
        : framing_(framing), cursor_(framing), max_head_(head) {}

    struct Message {
        std::size_t size;       // bytes in the payload
        std::string_view head;  // its first bytes, valid until the next call
    };
    // Returns the next message that ends in `bytes` and consumes them up to its end, or returns
    // none and consumes them all.
    std::optional<Message> next(std::string_view& bytes);

    bool inside() const { return cursor_.inside(); }  // a message has begun and is not whole
    std::size_t size() const { return size_; }        // its payload so far, in bytes
    std::uint64_t begun() const { return begun_; }    // messages so far, this one included

private:
    void begin();

    const Framing& framing_;
    FrameCursor cursor_;
    std::size_t max_head_;  // bytes
    std::size_t size_ = 0;
    std::uint64_t begun_ = 0;
    std::string head_;
};

}  // namespace yodel
