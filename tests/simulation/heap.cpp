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

}  // namespace

std::size_t blocks_in_use() { return blocks; }

Heap::Heap(Owner inner) : outer_(std::exchange(owner, inner)) {}
Heap::~Heap() { owner = outer_; }

std::size_t Heap::peak() { return max_bytes - first_bytes; }
void Heap::start_peak() { first_bytes = max_bytes = bytes; }

}  // namespace simulation

using namespace simulation;

void* operator new(std::size_t size) {
    auto* const head = static_cast<Head*>(std::malloc(sizeof(Head) + size));
    if (!head) throw std::bad_alloc();
    head->size = owner == Owner::product && size < shared_size ? size : 0;
    bytes += head->size;
    max_bytes = std::max(max_bytes, bytes);
    ++blocks;
    return head + 1;
}
void operator delete(void* memory) noexcept {
    if (!memory) return;
    Head* const head = static_cast<Head*>(memory) - 1;
    --blocks;
    bytes -= head->size;
    std::free(head);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
