// Counts the calls of operator new and realloc() by the objects linked into a test program.
#pragma once

#include <atomic>
#include <cstddef>

namespace test {

struct Allocations {
    std::atomic<std::size_t> count;
    std::atomic<std::size_t> largest;  // bytes; a test may reset it
    std::atomic<std::size_t> refused;  // the number of the call that fails
};
extern Allocations allocations;

}  // namespace test
