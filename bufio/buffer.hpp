// A queue of bytes in contiguous memory. Bytes are appended at the end and consumed at the
// front, both in amortized constant time per byte. Views are valid until the next call of a
// non-const member. If append() or reserve() throws std::bad_alloc, the buffer is unchanged.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <string_view>

namespace bufio {

class Buffer {
public:
    // `limit` is the maximum size in bytes.
    explicit Buffer(std::size_t limit = static_cast<std::size_t>(-1)) : limit_(limit) {}
    ~Buffer() { std::free(memory_); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    std::string_view view() const { return {memory_ + begin_, size()}; }
    std::size_t size() const { return end_ - begin_; }
    bool empty() const { return begin_ == end_; }
    std::size_t limit() const { return limit_; }
    std::size_t capacity() const { return capacity_; }

    // Returns false, and appends nothing, if the limit would be exceeded.
    bool append(std::string_view bytes);
    void consume(std::size_t count);  // at most size()
    // Returns space for `count` > 0 bytes after the last byte, or null if the limit would be
    // exceeded. The caller writes into it and then commits the number of bytes written.
    char* reserve(std::size_t count);
    void commit(std::size_t count);
    void release();  // frees the memory if the buffer is empty

private:
    void relocate(std::size_t capacity);

    char* memory_ = nullptr;  // null if the capacity is 0
    std::size_t capacity_ = 0;
    std::size_t begin_ = 0;  // begin_ <= end_ <= capacity_; 0 if the buffer is empty
    std::size_t end_ = 0;
    std::size_t limit_;
};

}  // namespace bufio
