// The calls of operator new by the objects that are linked into a test program.
#pragma once

#include <atomic>
#include <cstddef>

namespace test {

struct Allocations {
    std::atomic<std::size_t> count;
    std::atomic<std::size_t> largest;  // bytes; a test may set it back
    std::atomic<std::size_t>
        refused;  // the call that makes `count` this number throws std::bad_alloc
};
extern Allocations allocations;

}  // namespace test
