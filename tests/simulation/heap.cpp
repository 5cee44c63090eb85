#include "tests/simulation/heap.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

namespace simulation {
namespace {

// Not locked, because there is only one thread.
std::size_t blocks = 0;
std::size_t bytes = 0;  // the product's
std::size_t first_bytes = 0;
std::size_t max_bytes = 0;
Owner owner = Owner::tests;

// The size of the receive buffer shared by all datagram sockets. It belongs to no session, and
// is allocated again after a quiet second.
constexpr std::size_t shared_size = 4 * 1024 * 1024;

// Precedes each block.
struct alignas(std::max_align_t) Head {
    std::size_t size;  // the product's bytes, or 0 if the block belongs to the tests
};

Head* head_of(void* memory) { return static_cast<Head*>(memory) - 1; }

// Records a block. `base` contains space for the head before `offset`.
void* record_block(void* base, std::size_t offset, std::size_t size) {
    if (!base) throw std::bad_alloc();
    void* const memory = static_cast<char*>(base) + offset;
    head_of(memory)->size = owner == Owner::product && size < shared_size ? size : 0;
    bytes += head_of(memory)->size;
    max_bytes = std::max(max_bytes, bytes);
    ++blocks;
    return memory;
}

void free_block(void* memory, std::size_t offset) {
    if (!memory) return;
    --blocks;
    bytes -= head_of(memory)->size;
    std::free(static_cast<char*>(memory) - offset);
}

std::size_t rounded_up(std::size_t size, std::size_t unit) {
    return (size + unit - 1) / unit * unit;
}

std::size_t offset_of(std::align_val_t alignment) {
    return std::max(static_cast<std::size_t>(alignment), sizeof(Head));
}

}  // namespace

std::size_t blocks_in_use() { return blocks; }

Heap::Heap(Owner inner) : outer_(std::exchange(owner, inner)) {}
Heap::~Heap() { owner = outer_; }

std::size_t Heap::peak() { return max_bytes - first_bytes; }
void Heap::start_peak() { first_bytes = max_bytes = bytes; }

}  // namespace simulation

using namespace simulation;

void* operator new(std::size_t size) {
    return record_block(std::malloc(sizeof(Head) + size), sizeof(Head), size);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
    const std::size_t offset = offset_of(alignment);
    const std::size_t whole = rounded_up(offset + size, offset);
    return record_block(std::aligned_alloc(offset, whole), offset, size);
}
void operator delete(void* memory) noexcept { free_block(memory, sizeof(Head)); }
void operator delete(void* memory, std::size_t) noexcept { free_block(memory, sizeof(Head)); }
void operator delete(void* memory, std::align_val_t alignment) noexcept {
    free_block(memory, offset_of(alignment));
}
void operator delete(void* memory, std::size_t, std::align_val_t alignment) noexcept {
    free_block(memory, offset_of(alignment));
}
