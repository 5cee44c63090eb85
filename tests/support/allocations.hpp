// What the objects linked into a test program ask operator new for.
#pragma once

#include <atomic>
#include <cstddef>

namespace test {

struct Allocations {
    std::atomic<std::size_t> count;
    std::atomic<std::size_t> largest;  // bytes; a test may set it back
    std::atomic<std::size_t> refused;  // the one that makes `count` this throws std::bad_alloc
};
extern Allocations allocations;

}  // namespace test
