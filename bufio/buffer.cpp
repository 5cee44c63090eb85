#include "bufio/buffer.hpp"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <new>

namespace bufio {

namespace {

// Minimum capacity, in bytes, to which consume() shrinks a buffer.
constexpr std::size_t min_shrunk_capacity = 64 * 1024;

// Memory of this size or more comes from malloc(), so that realloc() can move pages instead of
// copying bytes. A copy would need the memory twice.
constexpr std::size_t min_malloc_capacity = 2 * 1024 * 1024;

char* allocate(std::size_t capacity) {
    if (capacity < min_malloc_capacity) return new char[capacity];
    void* const memory = std::malloc(capacity);
    return memory ? static_cast<char*>(memory) : throw std::bad_alloc();
}

}  // namespace

bool Buffer::append(std::string_view bytes) {
    char* const space = reserve(bytes.size());
    if (!space) return bytes.empty();
    std::copy(bytes.begin(), bytes.end(), space);
    commit(bytes.size());
    return true;
}

// Shrinks a buffer that is almost empty, and so copies few bytes compared with its capacity.
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

// Takes amortized constant time per byte. Moves N bytes to the front only after N bytes were
// consumed, and doubles a capacity of N only after N bytes were appended. If doubling twice
// would exceed the limit, the capacity grows to the limit in one step. Otherwise a later growth
// would copy more than half of the limit, which needs much memory and gains little.
char* Buffer::reserve(std::size_t count) {
    if (count > limit_ - size()) return nullptr;
    if (count > capacity_ - end_) {
        const std::size_t need = size() + count;
        const bool fits_after_move = need <= capacity_ && begin_ >= size();
        const std::size_t next_capacity = 2 * capacity_ > limit_ / 2 ? limit_ : 2 * capacity_;
        relocate(fits_after_move ? capacity_ : std::max(need, next_capacity));
    }
    return memory_ + end_;
}

void Buffer::commit(std::size_t count) {
    assert(count <= capacity_ - end_);
    end_ += count;
}

void Buffer::release() {
    if (!empty()) return;
    free_memory();
    memory_ = nullptr;
    capacity_ = 0;
    begin_ = 0;
    end_ = 0;
}

void Buffer::relocate(std::size_t capacity) {
    const std::size_t count = size();
    const bool in_place =
        capacity == capacity_ || std::min(capacity, capacity_) >= min_malloc_capacity;
    char* const other = in_place ? memory_ : allocate(capacity);
    if (count > 0) std::memmove(other, memory_ + begin_, count);
    if (!in_place) free_memory();
    memory_ = other;
    begin_ = 0;
    end_ = count;
    if (in_place && capacity != capacity_) {
        void* const moved = std::realloc(memory_, capacity);
        if (!moved) throw std::bad_alloc();
        memory_ = static_cast<char*>(moved);
    }
    capacity_ = capacity;
}

void Buffer::free_memory() {
    if (capacity_ < min_malloc_capacity) {
        delete[] memory_;
    } else {
        std::free(memory_);
    }
}

}  // namespace bufio
