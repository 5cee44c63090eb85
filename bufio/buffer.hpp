// A queue of bytes in one piece of memory: appended at the end, consumed at the front, both in
// amortised constant time.  Views are valid until the next call that is not const.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

namespace bufio {

class Buffer {
public:
    // The most bytes it may hold; what would exceed that is refused whole.
    explicit Buffer(std::size_t limit = static_cast<std::size_t>(-1)) : limit_(limit) {}
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    std::string_view view() const { return {memory_.get() + begin_, size()}; }
    std::size_t size() const { return end_ - begin_; }
    bool empty() const { return begin_ == end_; }
    std::size_t limit() const { return limit_; }
    std::size_t capacity() const { return capacity_; }

    bool append(std::string_view bytes);
    void consume(std::size_t count);  // at most size()
    // Room for `count` bytes behind the last one, to be written and then committed; null where
    // the limit would be exceeded.
    char* reserve(std::size_t count);
    void commit(std::size_t count);
    // Gives an empty buffer's memory back.
    void release();

private:
    void relocate(std::size_t capacity);

    std::unique_ptr<char[]> memory_;
    std::size_t capacity_ = 0;
    std::size_t begin_ = 0;  // begin_ <= end_ <= capacity_
    std::size_t end_ = 0;
    std::size_t limit_;
};

}  // namespace bufio
