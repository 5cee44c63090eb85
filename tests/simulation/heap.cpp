#include "tests/simulation/heap.hpp"

#include <cstdlib>
#include <new>

namespace {

std::size_t in_use = 0;  // by the only thread

void* noted(void* memory) {
    if (!memory) throw std::bad_alloc();
    ++in_use;
    return memory;
}

void give_back(void* memory) {
    if (!memory) return;
    --in_use;
    std::free(memory);
}

std::size_t rounded_up(std::size_t size, std::size_t unit) {
    return (size + unit - 1) / unit * unit;
}

}  // namespace

std::size_t simulation::blocks_in_use() { return in_use; }

void* operator new(std::size_t size) { return noted(std::malloc(size > 0 ? size : 1)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
    const auto unit = static_cast<std::size_t>(alignment);
    return noted(std::aligned_alloc(unit, rounded_up(size, unit)));
}
void operator delete(void* memory) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    give_back(memory);
}
