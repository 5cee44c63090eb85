#include "bufio/buffer.hpp"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <new>

namespace bufio {

// Minimum capacity, in bytes, to which consume() shrinks a buffer.
static constexpr std::size_t min_shrunk_capacity = 64 * 1024;

// Minimum number of bytes that are worth moving as pages.
static constexpr std::size_t min_moved = 2 * 1024 * 1024;

bool Buffer::append(std::string_view bytes) {
    char* const space = reserve(bytes.size());
    if (!space) return bytes.empty();
    std::copy(bytes.begin(), bytes.end(), space);
    commit(bytes.size());
    return true;
}

// Shrinks a large buffer once it is almost empty, so that few bytes must be copied.
void Buffer::consume(std::size_t count) {
    assert(count <= size());
    begin_ += count;
    if (begin_ == end_) {
        begin_ = 0;
        end_ = 0;
    }
    if (capacity_ > min_shrunk_capacity && size() < capacity_ / 16)
        relocate(std::max(2 * size(), min_shrunk_capacity));
}

// Takes amortized constant time per byte: moves bytes to the front only if at least as many
// were consumed, and otherwise at least doubles the capacity. If doubling twice would exceed
// the limit, the capacity grows to the limit in one step. A second step would copy more than
// half of the limit, which needs much memory and gains little.
char* Buffer::reserve(std::size_t count) {
    if (count > limit_ - size()) return nullptr;
    if (count > capacity_ - end_) {
        const std::size_t needed_capacity = size() + count;
        const bool fits_after_move = needed_capacity <= capacity_ && begin_ >= size();
        const std::size_t next_capacity = 2 * capacity_ > limit_ / 2 ? limit_ : 2 * capacity_;
        relocate(fits_after_move ? capacity_ : std::max(needed_capacity, next_capacity));
    }
    return memory_ + end_;
}

void Buffer::commit(std::size_t count) {
    assert(count <= capacity_ - end_);
    end_ += count;
}

void Buffer::release() {
    if (!empty()) return;
    std::free(memory_);
    memory_ = nullptr;
    capacity_ = 0;
}

// For a large buffer, realloc() moves pages; a copy would need the memory twice. A small buffer
// is copied once, instead of being moved to the front first and then copied by realloc().
void Buffer::relocate(std::size_t capacity) {
    const std::size_t count = size();
    const bool needs_copy = begin_ > 0 && capacity != capacity_ && count < min_moved;
    if (!needs_copy) {
        if (begin_ > 0) std::memmove(memory_, memory_ + begin_, count);
        begin_ = 0;
        end_ = count;
    }
    if (capacity == capacity_) return;
    void* const new_memory = std::realloc(needs_copy ? nullptr : memory_, capacity);
    if (!new_memory) throw std::bad_alloc();
    if (needs_copy) {
        std::memcpy(new_memory, memory_ + begin_, count);
        std::free(memory_);
        begin_ = 0;
        end_ = count;
    }
    memory_ = static_cast<char*>(new_memory);
    capacity_ = capacity;
}

}  // namespace bufio
