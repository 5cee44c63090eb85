#include "tests/support/allocations.hpp"

#include <algorithm>
#include <new>

test::Allocations test::allocations{};

static bool is_refused(std::size_t size) {
    test::allocations.largest = std::max<std::size_t>(test::allocations.largest, size);
    return ++test::allocations.count == test::allocations.refused;
}

static void note(std::size_t size) {
    if (is_refused(size)) throw std::bad_alloc();
}

void* real_realloc(void* memory, std::size_t size) __asm__("__real_realloc");
void* noted_realloc(void* memory, std::size_t size) __asm__("__wrap_realloc");
void* noted_realloc(void* memory, std::size_t size) {
    return is_refused(size) ? nullptr : real_realloc(memory, size);
}

void* real_new(std::size_t size) __asm__("__real__Znw" SIZE_LETTER);
void* noted_new(std::size_t size) __asm__("__wrap__Znw" SIZE_LETTER);
void* noted_new(std::size_t size) {
    note(size);
    return real_new(size);
}

void* real_new_array(std::size_t size) __asm__("__real__Zna" SIZE_LETTER);
void* noted_new_array(std::size_t size) __asm__("__wrap__Zna" SIZE_LETTER);
void* noted_new_array(std::size_t size) {
    note(size);
    return real_new_array(size);
}

// For types aligned to a cache line.
void* real_new(std::size_t size,
               std::align_val_t) __asm__("__real__Znw" SIZE_LETTER "St11align_val_t");
void* noted_new(std::size_t size,
                std::align_val_t) __asm__("__wrap__Znw" SIZE_LETTER "St11align_val_t");
void* noted_new(std::size_t size, std::align_val_t alignment) {
    note(size);
    return real_new(size, alignment);
}
