// What the objects linked into a test program ask operator new(std::size_t) for.
#pragma once

#include <atomic>
#include <cstddef>

namespace test {

struct Allocations {
    std::atomic<std::size_t> count;
    std::atomic<std::size_t> largest;  // bytes; a test may set it back
};
extern Allocations allocations;

}  // namespace test
