// Refuses allocations.
#pragma once

#include "tests/bufio/fixture.hpp"
#include "tests/support/allocations.hpp"

#include <new>
#include <thread>

namespace test {

// Calls `run` with each allocation refused in turn. `run` must leave no descriptor open.
template <class Run>
void refuse_memory(Run run) {
    auto& [count, largest, refused] = allocations;
    run();  // makes one-time allocations
    const std::vector<int> before = open_descriptors();
    bool refused_one = true;
    for (std::size_t nth = 1; refused_one; ++nth) {
        refused = count + nth;
        try {
            run();
        } catch (const std::bad_alloc&) {
        }
        refused_one = count >= refused;
        refused = 0;
        while (open_descriptors().size() > before.size())
            std::this_thread::yield();  // a look-up thread still holds descriptors
    }
}

}  // namespace test
