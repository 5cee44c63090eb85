// Counts the memory from operator new, which heap.cpp replaces.
#pragma once

#include <cstddef>

namespace simulation {

std::size_t blocks_in_use();

// Memory belongs to the product if the innermost Heap scope at its allocation is
// Owner::product, otherwise to the tests.
enum class Owner { tests, product };

class Heap {
public:
    explicit Heap(Owner owner);
    ~Heap();
    Heap(const Heap&) = delete;
    Heap& operator=(const Heap&) = delete;

    // Returns the product's peak bytes since start_peak(), beyond its bytes at that time.
    static std::size_t peak();
    static void start_peak();

private:
    Owner outer_;
};

}  // namespace simulation
