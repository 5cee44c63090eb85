// The memory that the program has from operator new, which heap.cpp replaces.
#pragma once

#include <cstddef>

namespace simulation {

std::size_t blocks_in_use();

}  // namespace simulation
