#include "tests/support/allocations.hpp"

#include <algorithm>

test::Allocations test::allocations{};

void* real_new(std::size_t size) __asm__("__real_" OPERATOR_NEW);
void* noted_new(std::size_t size) __asm__("__wrap_" OPERATOR_NEW);
void* noted_new(std::size_t size) {
    ++test::allocations.count;
    test::allocations.largest = std::max<std::size_t>(test::allocations.largest, size);
    return real_new(size);
}
