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
        : framing_(framing), max_head_(head) {}

    struct Message {
        std::size_t size;       // bytes in the payload
        std::string_view head;  // its first bytes, valid until the next call
    };
    // Returns the next message that ends in `bytes` and consumes them up to its end, or returns
    // none and consumes them all.
    std::optional<Message> next(std::string_view& bytes);

    bool inside() const { return inside_; }         // a message has begun and is not whole
    std::size_t size() const { return size_; }      // its payload so far, in bytes
    std::uint64_t begun() const { return begun_; }  // messages so far, this one included

private:
    void begin();
    void add(std::string_view payload);
    Message finish();
    std::optional<Message> next_delimited(std::string_view& bytes);
    std::optional<Message> next_prefixed(std::string_view& bytes);

    const Framing& framing_;
    std::size_t max_head_;  // bytes
    bool inside_ = false;
    std::size_t size_ = 0;
    std::uint64_t begun_ = 0;
    std::string head_;
    std::string prefix_;    // bytes of the length so far
    char last_ = '\0';      // the last byte of the payload so far
    std::size_t left_ = 0;  // remaining bytes of a payload whose length is known
};

}  // namespace yodel
