// The memory that the program has from operator new, which heap.cpp replaces.
#pragma once

#include <cstddef>

namespace simulation {

std::size_t blocks_in_use();

// Memory that is allocated while a scope of Heap(Owner::product) is the innermost one is the
// product's, until it is freed; all other is that of the tests.
enum class Owner { tests, product };

class Heap {
public:
    explicit Heap(Owner owner);
    ~Heap();
    Heap(const Heap&) = delete;
    Heap& operator=(const Heap&) = delete;

    // The most bytes that the product had at once since start_peak(), without those that it had
    // then.
    static std::size_t peak();
    static void start_peak();

private:
    Owner outer_;
};

}  // namespace simulation
